import { describe, expect, it } from 'vitest';
import { holdExtensionFile } from '../../../kernel/host.ts';
import { html, markdownToHtml, safeAddress } from '../../../lib/html/index.ts';
import { createMarkdownReader } from '../../../lib/markdown/index.ts';
import { differenceView, parseDifference } from '../../../lib/widgets/index.ts';
import { loadedModules } from '../../helpers/loaded-modules.ts';
import { fc } from '../../helpers/properties.ts';
import { attributesOf, elementsOf, type ReviewPage, reviewPage, textOf } from '../../helpers/review-page.ts';
import { TEA } from '../../helpers/tea.ts';

const MARKUP = '<script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>';
const BIDI = 'left\u202Eright\u2066\u{e0041}\u200b';
const HOSTILE = `---
name: '${MARKUP}'
description: 'Brews ${MARKUP} ${BIDI} "quotes" &amp; &lt;b&gt;.'
tags: ['${MARKUP}', '"><script>alert(4)</script>']
version: '${MARKUP}'
author: '"><img src=x onerror=alert(5)>'
license: "' onfocus='alert(6)' x='"
requires: ['${MARKUP}']
allowed-tools: 'Bash(${MARKUP})'
metadata: { isEscaped: true, toString: '${MARKUP}' }
---

# ${MARKUP} <b onclick="alert(7)">head</b>

${BIDI}

[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](vbscript:x) [e](  javascript:x) [f](&#106;avascript:x)
[g](//evil.example/) [h](/proposals) [i](references/a.md) [j](file:///etc/passwd) [k](https://evil.example/"onclick="alert(8)) <javascript:alert(9)>
[https://good.example](https://evil.example/) [l][ref] <https://auto.example/>

[ref]: javascript:alert(10)

![pixel](https://evil.example/pixel.png "t") ![](data:image/svg+xml,x)

<svg onload="alert(11)"><a xlink:href="javascript:alert(12)">x</a></svg>

<form action="https://evil.example"><input name="csrf"><button formaction="/proposals">x</button></form>

<style>@import 'https://evil.example/x.css'</style><base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example">

\`\`\`"><script>alert(13)</script>
</code></pre><script>alert(14)</script>
\`\`\`

| <b>x</b> | y |
|---|---|
| <script>alert(15)</script> | [z](javascript:alert(16)) |

<textarea></textarea></textarea><script>alert(17)</script> <!-- hidden words --> <![CDATA[x]]> <?php x ?>
`;

/** What a page of ours consists of, whatever an author has written. */
function inert(page: string, base: string): void {
  for (const element of elementsOf(page)) {
    const attributes = attributesOf(element);
    expect(OWN_TAGS, element.tagName).toContain(element.tagName);
    expect(
      Object.keys(attributes).filter((name) =>
        /^on|^style$|^srcset$|^formaction$|^xlink|^http-equiv$|^ping$/.test(name),
      ),
    ).toEqual([]);
    if (element.tagName === 'script') expect(attributes).toEqual({ type: 'module', src: '/assets/review.js' });
    for (const name of ['href', 'src', 'action']) {
      const value = attributes[name];
      if (value === undefined) continue;
      if (/^(?:\/(?!\/)|#|\?)/.test(value)) expect(new URL(value, base).origin).toBe(base);
      else expect([element.tagName, value]).toEqual(['a', expect.stringMatching(/^(?:https?:\/\/|mailto:)/)]);
    }
  }
  expect(page).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}\u200b]/u);
}

const OWN_TAGS =
  'html head meta title link script body a header div nav ul ol li main h1 h2 h3 h4 h5 h6 p span b code pre form input label textarea button select option table caption colgroup col thead tbody tr th td footer time details summary dl dt dd strong em s br hr blockquote del ins svg rect path g line text figure figcaption polyline circle i small fieldset legend section article aside'.split(
    ' ',
  );

/** A root of hostile skills and proposals, and the pages that show them. */
async function hostilePage(): Promise<{ readonly page: ReviewPage; readonly paths: readonly string[] }> {
  const files = {
    'skills/tea/references/a.md': `${MARKUP}${BIDI}\n`,
    'skills/tea/evals/evals.json': JSON.stringify({
      skill_name: MARKUP,
      evals: [{ id: MARKUP, prompt: MARKUP + BIDI }],
    }),
    'skills/tea/evals/trigger-eval.json': JSON.stringify([{ query: MARKUP + BIDI, should_trigger: true }]),
    [`skills/tea/references/${MARKUP.replaceAll('/', '')}.md`]: MARKUP,
  };
  const page = await reviewPage({ 'skills/tea/SKILL.md': HOSTILE, ...files, 'skills/<b onclick=x>/SKILL.md': TEA });
  const { proposals, admin } = page.registry;
  const { proposalId } = await proposals.propose({
    ...{ skillId: 'tea', content: HOSTILE.replace('head', `tail ${MARKUP} ${BIDI}`), justification: MARKUP + BIDI },
    ...{ evidence: `</p>${MARKUP}${BIDI}`, author: `agent:${MARKUP}` },
  });
  holdExtensionFile(page.root, 'greeter/main.ts', `// ${MARKUP}${BIDI}\n`, `agent:${MARKUP}`);
  const stale = await proposals.propose({
    ...{ skillId: 'tea', path: 'references/a.md', content: `${MARKUP}\n`, justification: 'x', author: 'agent:x' },
  });
  const person = { by: `person:${MARKUP}`, reason: MARKUP };
  await admin.management.write('tea', 'references/a.md', `</pre>${MARKUP}\n`, person);
  const paths = [
    ...[
      '/',
      '/catalog',
      `/catalog?q=${encodeURIComponent(MARKUP)}`,
      '/usage',
      '/updates',
      '/problems?files=all',
      '/proposals',
      '/skills/tea',
    ],
    ...['/skills/tea/files', '/skills/tea/files?path=SKILL.md', '/skills/tea/files?path=references/a.md'],
    ...['/skills/tea/history', '/skills/tea/history/1', '/skills/tea/history/2', '/skills/tea/history/2?view=split'],
    ...[
      '/skills/tea/rollback/1',
      '/skills/tea/evidence',
      '/extensions/greeter',
      '/extensions/greeter?view=split',
      `/skills/${encodeURIComponent('<b onclick=x>')}`,
      `/skills/${encodeURIComponent(MARKUP)}`,
    ],
    ...[proposalId, stale.proposalId].flatMap((id) => [
      `/proposals/${id}`,
      `/proposals/${id}?view=split`,
      `/proposals/${id}/edit`,
    ]),
    ...[
      `/proposals/${encodeURIComponent(MARKUP)}`,
      `/nowhere?${MARKUP.replaceAll(' ', '+')}`,
      '//evil.example/x',
      '/\\\\evil.example/x',
    ],
  ];
  return { page, paths };
}

describe('a hostile skill', () => {
  it('is inert on every page', async () => {
    const { page, paths } = await hostilePage();
    for (const path of paths) {
      const { text, headers, status } = await page.get(path);
      expect([path, status]).toEqual([path, expect.toSatisfy((code: number) => code < 500)]);
      if (status < 300) expect([path, headers['content-type']]).toEqual([path, expect.stringMatching(/^text\/html/)]);
      const isForm = path.endsWith('/edit');
      // The field of a form holds the text as it is, so that it can be sent back; nothing else does.
      inert(isForm ? text.replace(/<textarea[\s\S]*?<\/textarea>/, '') : text, page.base);
    }
  });

  it('is shown as it is: nothing of it is dropped', async () => {
    const { page } = await hostilePage();
    const shown = textOf((await page.get('/skills/tea')).text);
    for (const words of [
      MARKUP,
      '<!-- hidden words -->',
      'javascript:alert(1)',
      '[image: pixel',
      'https://evil.example/pixel.png',
      'left⟦U+202E⟧right',
    ])
      expect(shown).toContain(words);
    expect(shown).toContain('https://good.example (https://evil.example/)');
  });

  it('is text where a whole difference or file is asked for as text', async () => {
    const { page } = await hostilePage();
    const [id] = (await page.registry.proposals.list()).map((one) => one.id);
    for (const path of [
      `/proposals/${id}/difference`,
      '/skills/tea/text',
      '/skills/tea/history/2/difference',
      '/skills/tea/rollback/1/difference',
    ]) {
      const { headers, text } = await page.get(path);
      expect([path, headers['content-type']]).toEqual([path, expect.stringMatching(/^text\/plain/)]);
      expect(text).not.toMatch(/[\u202e\u200b]/);
    }
  });
});

describe('a text that is too large or takes too long', () => {
  it('is shown up to a limit, and the page says so', async () => {
    const page = await reviewPage({
      'skills/tea/SKILL.md': `${TEA}${'*__a'.repeat(20_000)}\n`,
      'skills/deep/SKILL.md': `---\nname: deep\ndescription: Deep.\n---\n\n${'>'.repeat(50_000)}\n`,
      'skills/large/SKILL.md': `---\nname: large\ndescription: Large.\n---\n\n${'Words of a line.\n'.repeat(150_000)}`,
      'skills/larger/SKILL.md': `---\nname: larger\ndescription: Larger.\n---\n\n${'Words of a line.\n'.repeat(300_000)}`,
    });
    for (const id of ['tea', 'deep'])
      expect((await page.get(`/skills/${id}`)).text).toContain('takes too long to read as Markdown');
    const large = await page.get('/skills/large');
    expect(large.text).toContain('Only the first 131,072 of');
    expect(large.text.length).toBeLessThan(400_000);
    expect((await page.get('/skills/large/files?path=SKILL.md')).text).toContain('Only the beginning of it is shown');
    const larger = await page.get('/skills/larger');
    expect([200, 302, 404]).toContain(larger.status);
    expect(larger.text.length).toBeLessThan(400_000);
    // The next text is read as before.
    expect((await page.get('/skills/large')).text).toContain('<p>Words');
  });

  it('leaves the page to other requests meanwhile', async () => {
    const reader = createMarkdownReader();
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    expect(await reader.read('*__a'.repeat(8_000))).toBeUndefined();
    clearInterval(timer);
    reader.close();
    expect(ticks).toBeGreaterThan(10);
  });

  it('is cut in a difference, which says so', () => {
    const rows = Array.from({ length: 5_000 }, (_, at) => `+${at}`);
    const long = parseDifference(`--- /dev/null\n+++ b/a\n@@ -0,0 +1,5000 @@\n${rows.join('\n')}\n`);
    expect(long).toMatchObject({ leftOut: 1_003, cut: false });
    const wide = parseDifference(`--- a/a\n+++ b/a\n@@ -1 +1 @@\n-${'x'.repeat(5_000)}\n+y\n`);
    expect(wide).toMatchObject({ leftOut: 0, cut: true });
    expect(String(differenceView(undefined, '/').show(wide, '/x'))).toContain('This is not all of it');
  });
});

describe('by construction', () => {
  it('escapes any text, wherever it stands in a page', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const elements = elementsOf(`<div title="${html`${text}`}">${html`${text}`}</div>`.toString());
        expect(elements.map(({ tagName }) => tagName)).toEqual(['html', 'head', 'body', 'div']);
        expect(elements.at(-1)?.attrs).toHaveLength(1);
      }),
    );
  });

  it('goes to no address but of the web and of mail', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.constantFrom('javascript:x', 'data:x', '//x', '\tjavascript:x', 'java\nscript:x'),
        ),
        (href) => {
          const address = safeAddress(href);
          if (address !== undefined) expect(['http:', 'https:', 'mailto:']).toContain(new URL(address).protocol);
        },
      ),
    );
  });

  it('renders markdown of any pieces as elements of its own alone', async () => {
    const reader = createMarkdownReader();
    const piece = fc.constantFrom(
      ...'<script> </script> <img/src=x/onerror=y> [a]( ) ![ ]( javascript: " \' ` ``` ~~~ * _ # > - | \n \n\n <!-- --> &lt; &#x3c; <a\thref=x> <svg/onload=x> https://a.b \\ ]: <x@y.z>'.split(
        / +/,
      ),
      ' ',
      '\n',
      'word',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
        inert(`<!doctype html>${await markdownToHtml(reader, pieces.join(''))}`, 'http://127.0.0.1:1');
      }),
      { numRuns: 150 },
    );
    reader.close();
  });

  it('shows both texts of a difference whole, and marks nothing else', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a b c', 'a x c', '', '--- a', '+++ b', '@@ -1 +1 @@', '\\ x', ' '), {
          maxLength: 12,
        }),
        fc.array(fc.constantFrom('a b c', 'a b d', '-', '+'), { maxLength: 12 }),
        (before, after) => {
          const diff = `--- a/x\n+++ b/x\n@@ -1,${before.length} +1,${after.length} @@\n${before.map((line) => `-${line}\n`).join('')}${after.map((line) => `+${line}\n`).join('')}`;
          const { rows } = parseDifference(diff);
          const linesOf = (kind: string): readonly string[] =>
            rows.flatMap((row) => (row.kind === kind ? [row.text] : []));
          expect(linesOf('del')).toEqual(before);
          expect(linesOf('add')).toEqual(after);
          for (const { text, parts } of rows) if (parts) expect(parts.map((part) => part.text).join('')).toBe(text);
        },
      ),
    );
  });
});

it('is loaded by its own command alone', () => {
  const loaded = loadedModules("process.argv.splice(1, 9, 'x', 'list', '--json'); await import('./dist/cli/main.js')");
  expect(loaded).toContain('cli/commands/list.ts');
  expect(loaded.filter((file) => /node_modules\/(hono|marked|@hono)\/|skill_review/.test(file))).toEqual([]);
});
