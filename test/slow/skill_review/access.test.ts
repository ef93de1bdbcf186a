import { describe, expect, it } from 'vitest';
import { serveReview } from '../../../extensions/skill_review/index.ts';
import { type AskOptions, formsOf, pageOf, type ReviewPage, reviewPage } from '../../helpers/review-page.ts';
import { LONGER, teaRegistry } from '../../helpers/tea.ts';

const entranceOf = ({ serving }: Pick<ReviewPage, 'serving'>): string => new URL(serving.url).pathname;
const FORM = 'application/x-www-form-urlencoded';

describe('who gets in', () => {
  it('lets in whoever has the printed address, and takes it out of the address', async () => {
    const page = await reviewPage();
    const entered = await page.ask(entranceOf(page));
    expect(entered).toMatchObject({ status: 303, headers: { location: '/' } });
    expect(entered.headers['set-cookie']).toEqual([
      expect.stringMatching(/^skill_review_\d+=[\w-]+\.[\w-]+; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
    expect((await page.get('/')).status).toBe(200);
  });

  it('lets the printed address in again until the process ends, each time with a session of its own', async () => {
    const page = await reviewPage();
    const cookies = await Promise.all(
      [1, 2].map(async () => (await page.ask(entranceOf(page))).headers['set-cookie']?.[0]),
    );
    expect(new Set([...cookies, page.cookie]).size).toBe(3);
    for (const cookie of cookies) {
      expect((await page.ask('/', { headers: { cookie: cookie?.split(';')[0] ?? '' } })).status).toBe(200);
    }
    await page.serving.close();
    await expect(page.ask(entranceOf(page))).rejects.toThrow();
  });

  it.each([
    '/',
    '/catalog',
    '/usage',
    '/problems',
    '/decisions',
    '/updates',
    '/events',
    '/proposals',
    '/skills/tea',
    '/skills/tea/files',
    '/nowhere',
  ])('shows nothing of %s to whoever was not let in, and says how to get in', async (path) => {
    const page = await reviewPage();
    const { status, text } = await page.ask(path);
    expect(status).toBe(401);
    expect(text).toContain('skill-registry review');
    expect(text).not.toContain('tea');
    expect(text).not.toContain(page.root);
  });

  it('knows neither a guessed token, nor a guessed cookie, nor the cookie of another page', async () => {
    const page = await reviewPage();
    const other = await pageOf({ registry: page.registry, root: page.root, by: 'person:eve' });
    const guessed = entranceOf(page).slice(0, -1);
    expect((await page.ask(`${guessed}${entranceOf(page).endsWith('A') ? 'B' : 'A'}`)).status).toBe(403);
    expect((await page.ask('/open/')).status).toBe(403);
    expect((await page.ask(entranceOf(other))).status).toBe(403);
    const [name = '', value = ''] = page.cookie.split('=');
    const [id] = value.split('.');
    const stolen = `${name}=${other.cookie.split('=')[1]}`;
    for (const cookie of ['', `${name}=`, `${name}=${id}`, `${name}=${id}.`, `${name}=x.y`, stolen, other.cookie])
      expect([cookie, (await page.ask('/', { headers: { cookie } })).status]).toEqual([cookie, 401]);
  });

  it('names its token in no page, no refusal and no header but the address it prints', async () => {
    const page = await reviewPage();
    const token = entranceOf(page).slice('/open/'.length);
    const id = await page.propose(LONGER);
    const answers = [
      await page.ask(entranceOf(page)),
      await page.ask(`${entranceOf(page)}x`),
      await page.ask('/'),
      await page.ask(entranceOf(page), { method: 'POST', headers: { 'content-type': FORM } }),
      ...(await Promise.all(['/', '/catalog', `/proposals/${id}`, '/skills/tea', '/nowhere'].map(page.get))),
    ];
    for (const { text, headers } of answers) {
      expect(text + JSON.stringify(headers)).not.toContain(token);
      expect(headers['referrer-policy']).toBe('no-referrer');
    }
  });

  it('listens on this machine alone, and only for a person', async () => {
    const { registry, root } = await teaRegistry();
    const options = { registry, root, isHeldReadable: () => true, isTrusted: () => true, agents: async () => [] };
    for (const by of [
      'agent:brewer',
      'unknown',
      'person:',
      'person: ',
      'ada',
      'person:a\nb',
      `person:${'a'.repeat(200)}`,
      'person:\u202Ea',
    ])
      await expect(serveReview({ ...options, by })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    const page = await pageOf({ ...options, by: 'person:ada' });
    expect(new URL(page.serving.url).hostname).toBe('127.0.0.1');
    const port = Number(new URL(page.serving.url).port);
    await expect(serveReview({ ...options, by: 'person:ada', port })).rejects.toMatchObject({
      code: 'REVIEW_LISTEN_FAILED',
      message: expect.stringContaining('the port is taken'),
    });
  });
});

describe('what a request must be', () => {
  it('answers to names of this machine alone, with the port', async () => {
    const page = await reviewPage();
    const { port } = new URL(page.base);
    const statusFor = async (host: string): Promise<number> =>
      (await page.ask('/', { headers: { host, cookie: page.cookie } })).status;
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`])
      expect([host, await statusFor(host)]).toEqual([host, 200]);
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      '127.0.0.1',
      'localhost:1',
      `0.0.0.0:${port}`,
    ])
      expect([host, await statusFor(host)]).toEqual([host, expect.toBeOneOf([400, 403])]);
    // The token does not help a page whose name leads to this machine, either.
    const rebound = await page.ask(entranceOf(page), { headers: { host: `evil.example:${port}` } });
    expect(rebound).toMatchObject({ status: 403 });
    expect(rebound.headers['set-cookie']).toBeUndefined();
  });

  it('writes nothing that another page has asked for', async () => {
    const page = await reviewPage();
    const id = await page.propose(LONGER);
    const shown = await page.get(`/proposals/${id}`);
    const form = formsOf(shown.text).find(({ action }) => action.endsWith('/approve'));
    const { port } = new URL(page.base);
    const body = new URLSearchParams(form?.fields).toString();
    const headers = { cookie: page.cookie, 'content-type': FORM };
    const ours = { 'sec-fetch-site': 'same-origin', origin: page.base };
    const wrong: readonly (AskOptions & { readonly why: string; readonly status: number })[] = [
      { why: 'nothing says where it comes from', status: 403, headers },
      { why: 'cross-site', status: 403, headers: { ...headers, ...ours, 'sec-fetch-site': 'cross-site' } },
      { why: 'another port', status: 403, headers: { ...headers, ...ours, 'sec-fetch-site': 'same-site' } },
      { why: 'typed in', status: 403, headers: { ...headers, ...ours, 'sec-fetch-site': 'none' } },
      { why: 'a wrong origin', status: 403, headers: { ...headers, ...ours, origin: 'https://evil.example' } },
      { why: 'a wrong origin alone', status: 403, headers: { ...headers, origin: 'https://evil.example' } },
      { why: 'no origin alone', status: 403, headers: { ...headers, origin: 'null' } },
      {
        why: 'the origin of another port',
        status: 403,
        headers: { ...headers, origin: `http://127.0.0.1:${Number(port) + 1}` },
      },
      { why: 'a wrong host', status: 403, headers: { ...headers, ...ours, host: `evil.example:${port}` } },
      { why: 'no cookie', status: 401, headers: { 'content-type': FORM, ...ours } },
      { why: 'text', status: 415, headers: { ...headers, ...ours, 'content-type': 'text/plain' } },
      { why: 'JSON', status: 415, headers: { ...headers, ...ours, 'content-type': 'application/json' } },
      { why: 'no type', status: 415, headers: { cookie: page.cookie, ...ours } },
      { why: 'a broken form', status: 400, headers: { ...headers, ...ours, 'content-type': 'multipart/form-data' } },
      { why: 'no token', status: 403, headers: { ...headers, ...ours }, body: body.replace(/csrf=[^&]*/, '') },
      {
        why: 'an empty token',
        status: 403,
        headers: { ...headers, ...ours },
        body: body.replace(/csrf=[^&]*/, 'csrf='),
      },
      {
        why: 'a guessed token',
        status: 403,
        headers: { ...headers, ...ours },
        body: body.replace(/csrf=../, 'csrf=AA'),
      },
      { why: 'PUT', status: 405, method: 'PUT', headers: { ...headers, ...ours } },
      { why: 'DELETE', status: 405, method: 'DELETE', body: '', headers: { ...headers, ...ours } },
      { why: 'OPTIONS', status: 405, method: 'OPTIONS', body: '', headers: { ...headers, ...ours } },
      { why: 'TRACE', status: 405, method: 'TRACE', body: '', headers: { ...headers, ...ours } },
      {
        why: 'another method in a header',
        status: 404,
        method: 'GET',
        body: '',
        headers: { ...headers, ...ours, 'x-http-method-override': 'POST' },
      },
      { why: 'GET', status: 404, method: 'GET', body: '', headers: { ...headers, ...ours } },
      { why: 'HEAD', status: 404, method: 'HEAD', body: '', headers: { ...headers, ...ours } },
    ];
    for (const { why, status, ...options } of wrong) {
      const sent = { method: 'POST', body, ...options };
      const refused = await page.ask(`/proposals/${id}/approve`, sent);
      expect([why, refused.status]).toEqual([why, status]);
    }
    expect((await page.registry.proposals.get(id)).state).toBe('open');
    const done = await page.ask(`/proposals/${id}/approve`, { method: 'POST', body, headers: { ...headers, ...ours } });
    expect(done.status).toBe(303);
    expect(page.tea()).toBe(LONGER);
  });

  it('takes the form of one session in no other one', async () => {
    const page = await reviewPage();
    const id = await page.propose(LONGER);
    const form = formsOf((await page.get(`/proposals/${id}`)).text).find(({ action }) => action.endsWith('/approve'));
    const cookie = (await page.ask(entranceOf(page))).headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    const headers = { cookie, 'content-type': FORM, 'sec-fetch-site': 'same-origin' };
    const body = new URLSearchParams(form?.fields).toString();
    expect((await page.ask(`/proposals/${id}/approve`, { method: 'POST', body, headers })).status).toBe(403);
    expect((await page.registry.proposals.get(id)).state).toBe('open');
  });

  it('refuses a form that is larger than any file of a skill', async () => {
    const page = await reviewPage();
    const id = await page.propose(LONGER);
    const { status } = await page.post(`/proposals/${id}/edit`, {
      content: 'x'.repeat(17 * 1024 * 1024),
      version: 'x',
    });
    expect(status).toBe(413);
  });
});

describe('what an answer says to the browser', () => {
  it('loads, runs, frames and sends nothing of others, and is stored nowhere', async () => {
    const page = await reviewPage();
    const id = await page.propose(LONGER);
    const paths = [
      '/',
      '/catalog',
      `/proposals/${id}`,
      `/proposals/${id}/difference`,
      '/skills/tea',
      '/nowhere',
      '/assets/review.js',
    ];
    for (const answer of [
      ...(await Promise.all(paths.map(page.get))),
      await page.ask('/'),
      await page.ask(entranceOf(page)),
    ]) {
      expect(answer.headers).toMatchObject({
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      });
    }
  });

  it('answers strange paths with a page that says so, and reads no file by its path', async () => {
    const page = await reviewPage({ 'secret.txt': 'the secret' });
    const paths = [
      ...[
        '/../secret.txt',
        '/assets/../../secret.txt',
        '/assets/%2e%2e/%2e%2e/package.json',
        '/assets/..%2fapp.ts',
        '//evil.example/',
      ],
      ...[
        '/skills/..%2f..%2fsecret.txt',
        '/skills/%00',
        '/skills/%ff',
        '/skills/%E0%A4%A',
        '/skills/tea/files?path=../../secret.txt',
      ],
      ...[
        '/skills/tea/text?path=..%2f..%2fsecret.txt',
        '/skills/tea/text?path=/etc/passwd',
        '/skills/__proto__',
        '/skills/constructor',
      ],
      ...[
        '/proposals/..',
        '/proposals/%3Cscript%3E',
        '/extensions/..%2f..',
        '/extensions/constructor',
        `/skills/${'a'.repeat(8_000)}`,
      ],
      ...[
        '/skills/tea/history/0',
        '/skills/tea/history/999999999999',
        '/skills/tea/rollback/x',
        '/skills/tea?done=__proto__',
      ],
    ];
    for (const path of paths) {
      const { status, text } = await page.get(path);
      expect([path, status]).toEqual([path, expect.toSatisfy((code: number) => code < 500)]);
      expect(text).not.toContain('the secret');
      expect(text).not.toContain('root:x');
      expect(text).not.toContain('<script>');
      expect(text).not.toContain('[object ');
    }
    expect((await page.get(`/skills/${'a'.repeat(40_000)}`)).status).toBe(431);
  });
});
