import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openRoot } from '../../helpers/open-registry.ts';
import { idsOfPage, publishInParts } from '../../helpers/page-in-parts.ts';
import { type PageServer, servePage } from '../../helpers/page-server.ts';
import { copyIn, idsOf, letAnHourPass, problemsOf, publishedPage } from '../../helpers/published-page.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { ADA } from '../../helpers/tea.ts';
import { skillMd, tempFolder, writeTree } from '../../helpers/temp-folder.ts';

const SECRET = 'Tok3n-of-Somebody';
// biome-ignore lint/suspicious/noTemplateCurlyInString: what a config has
const HEADERS = { Authorization: 'Bearer ${TEAM_TOKEN}' };
const TREE = {
  'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brew tea.' }),
  'skills/pot/SKILL.md': skillMd({ name: 'pot', description: 'Holds tea.' }),
  'skills/pot/scripts/run.sh': 'echo',
};
const INDEX = '/.well-known/agent-skills/index.json';

let state = '';
let cache = '';
beforeEach(() => {
  [state, cache] = [tempFolder(), tempFolder()];
  vi.stubEnv('XDG_STATE_HOME', state);
  vi.stubEnv('XDG_CACHE_HOME', cache);
  vi.stubEnv('TEAM_TOKEN', SECRET);
  return () => void vi.unstubAllEnvs();
});

type Answer = (path: string, response: ServerResponse) => boolean;

/** Wants the secret, and notes which path was asked with which header. */
function guarded(page: PageServer, answer: Answer = () => false): string[] {
  const seen: string[] = [];
  page.answer = (path, response, request) => {
    seen.push(`${path} ${request.headers.authorization ?? '-'}`);
    if (request.headers.authorization === `Bearer ${SECRET}`) return answer(path, response);
    return Boolean(response.writeHead(401).end());
  };
  return seen;
}

async function secretPage(answer?: Answer) {
  const published = await publishedPage(TREE);
  return { ...published, seen: guarded(published.page, answer) };
}

/** Another server, which asks for nothing, and notes what it was sent. */
async function elsewhere(folder: string) {
  const page = await servePage(folder);
  const seen: string[] = [];
  page.answer = (path, _response, request) => {
    seen.push(`${path} ${request.headers.authorization ?? '-'}`);
    return false;
  };
  return { page, seen };
}

/** A program reads the page. */
const read = (url: string, getSecret: (name: string) => string | undefined = () => SECRET, headers: object = HEADERS) =>
  openRoot(tempFolder(), { getSecret, config: { sources: [{ wellKnown: url, headers } as object] } });

/** Every text below these folders, and their file names. */
function textsBelow(...folders: readonly string[]): string {
  return folders
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
        const file = join(folder, name);
        return [name, statSync(file).isFile() ? readFileSync(file, 'latin1') : ''];
      }),
    )
    .join('\n');
}

it('reads a page that wants a secret, whole and in parts, and keeps the secret nowhere', async () => {
  const { page, seen } = await secretPage();
  const registry = await read(page.url);
  expect(idsOf(registry)).toEqual(['pot', 'tea']);
  expect((await registry.read('tea')).content).toContain('Do it well.');
  const folder = tempFolder();
  await publishInParts(folder, idsOfPage(20));
  const inParts = await servePage(folder);
  const seenInParts = guarded(inParts);
  expect(idsOf(await read(inParts.url))).toHaveLength(20);
  expect(seenInParts.filter((one) => one.includes('/parts/')).length).toBeGreaterThan(1);
  expect([...seen, ...seenInParts].filter((one) => !one.endsWith(` Bearer ${SECRET}`))).toEqual([]);
  expect(textsBelow(state, cache)).not.toContain(SECRET);
});

describe('the secret stays at the origin of its page', () => {
  const MOVED = [
    ['the index', (path: string) => path === INDEX],
    ['the SKILL.md of a skill', (path: string) => path.endsWith('.md')],
    ['the archive of a skill', (path: string) => path.endsWith('.gz')],
  ] as const;

  it.each(MOVED)('when %s is led to another port', async (_name, isMoved) => {
    const { page, root, seen } = await secretPage((path, response) => {
      if (!isMoved(path)) return false;
      return Boolean(response.writeHead(302, { location: `${other.page.url}${path}` }).end());
    });
    const other = await elsewhere(join(root, 'public'));
    expect(idsOf(await read(page.url))).toEqual(['pot', 'tea']);
    const { registry } = { registry: await openRoot(tempFolder(), { getSecret: () => SECRET }) };
    await (await registry.origin.add(page.url, { all: true, headers: HEADERS })).apply(ADA);
    expect(other.seen).toHaveLength(2);
    expect(other.seen.filter((one) => !one.endsWith(' -'))).toEqual([]);
    expect(seen.filter((one) => one.endsWith(' -'))).toEqual([]);
  });

  it('when the parts of its index are led to another port', async () => {
    const folder = tempFolder();
    await publishInParts(folder, idsOfPage(20));
    const [page, other] = [await servePage(folder), await elsewhere(folder)];
    guarded(page, (path, response) => {
      if (!/\/parts\/|index-parts/.test(path)) return false;
      return Boolean(response.writeHead(307, { location: `${other.page.url}${path}` }).end());
    });
    expect(idsOf(await read(page.url))).toHaveLength(20);
    expect(other.seen.length).toBeGreaterThan(2);
    expect(other.seen.filter((one) => !one.endsWith(' -'))).toEqual([]);
  });

  it.each(['http://127.0.0.1:PORT', '//127.0.0.1:PORT', 'http://localhost:PORT'])(
    'when an entry names %s',
    async (at) => {
      const { page, root } = await secretPage((path, response) => {
        if (path !== INDEX) return false;
        const { port } = new URL(other.page.url);
        const text = readFileSync(join(root, 'public', path), 'utf8');
        const base = `${at.replace('PORT', port)}/.well-known/agent-skills/`;
        const index = JSON.parse(text) as { skills: { url: string }[] };
        for (const skill of index.skills) skill.url = base + skill.url.split('/').slice(-2).join('/');
        return Boolean(response.end(JSON.stringify(index)));
      });
      const other = await elsewhere(join(root, 'public'));
      await read(page.url);
      expect(other.seen).toHaveLength(2);
      expect(other.seen.filter((one) => !one.endsWith(' -'))).toEqual([]);
    },
  );
});

describe('a config', () => {
  const WRONG = [
    ['the secret itself', { Authorization: `Bearer ${SECRET}` }],
    ['the secret beside a name', { Authorization: `Bearer ${SECRET}\${X}` }],
    ['no header', {}],
    ['two headers of one name', { 'X-Key': HEADERS.Authorization, 'x-key': HEADERS.Authorization }],
    ['a header of the connection', { Host: HEADERS.Authorization }],
    ['a header with a line break', { 'X-Key\r\nHost': HEADERS.Authorization }],
    ['a header that every object has', JSON.parse(`{"__proto__": "\${X}"}`)],
    ['a list', [HEADERS.Authorization]],
  ] as const;

  it.each(WRONG)('is refused with %s, which no message repeats', async (_name, headers) => {
    const { page, seen } = await secretPage();
    const registry = await read(page.url, undefined, headers);
    expect(problemsOf(registry)).toEqual([expect.stringMatching(/^error CONFIG_KEY_INVALID.*each with \$\{NAME\}/)]);
    expect(JSON.stringify(registry.problems())).not.toContain(SECRET);
    const adding = registry.origin.add(page.url, { headers } as object);
    const error = await adding.then(String, (one: Error) => one.message);
    expect(error).toMatch(/headers/);
    expect(error).not.toContain(SECRET);
    expect(seen).toEqual([]);
  });

  it.each([
    ['is not set', undefined],
    ['is empty', ''],
    ['has a line break', `${SECRET}\r\nX-Evil: 1`],
    ['has a character that is not ASCII', `${SECRET}é`],
  ])('asks nothing and gives no copy where the secret %s', async (_name, secret) => {
    const { page, seen } = await secretPage();
    await read(page.url);
    seen.length = 0;
    const registry = await read(page.url, () => secret);
    expect(idsOf(registry)).toEqual([]);
    expect(problemsOf(registry)).toEqual([expect.stringMatching(/^error SECRET_MISSING: .*the secret TEAM_TOKEN/)]);
    expect(JSON.stringify(registry.problems())).not.toContain(SECRET);
    expect(seen).toEqual([]);
  });

  it('that names no headers does not get the copy that was made with them', async () => {
    const { page } = await secretPage();
    await read(page.url);
    const registry = await openRoot(tempFolder(), { config: { sources: [{ wellKnown: page.url }] } });
    expect(idsOf(registry)).toEqual([]);
    expect(problemsOf(registry)).toEqual([expect.stringMatching(/ORIGIN_UNAVAILABLE.*status 401: it wants a login/)]);
  });

  it('whose secret is refused says so, and goes on with the copy', async () => {
    const { page, seen } = await secretPage();
    await read(page.url);
    letAnHourPass(cache);
    const registry = await read(page.url, () => 'another-secret');
    expect(idsOf(registry)).toEqual(['pot', 'tea']);
    const says = /status 401: it does not accept what was sent as Authorization.*when it last answered/;
    expect(problemsOf(registry)).toEqual([expect.stringMatching(says)]);
    expect(seen.at(-1)).toBe(`${INDEX} Bearer another-secret`);
    expect(copyIn(cache)).not.toContain(SECRET);
  });
});

describe('a secret goes where a person has approved that it goes', () => {
  const run = (root: string, ...args: readonly string[]) =>
    runCommand([...args, '--root', root], { trust: false, environment: { TEAM_TOKEN: SECRET } });
  const listed = async (root: string) => {
    const { stdout, stderr } = await run(root, 'list', '--json');
    expect(stdout + stderr).not.toContain(SECRET);
    const { skills, problems } = JSON.parse(stdout) as {
      skills: { skill_id: string }[];
      problems: { code: string; message: string }[];
    };
    return { ids: skills.map((one) => one.skill_id), problems };
  };
  const rootWith = (...sources: readonly object[]): string =>
    tempFolder({ 'data/skill_registry/config.yaml': JSON.stringify({ sources }) });

  it('and not where only the root is approved, or a git pull has changed origin, header or name', async () => {
    const { page, seen } = await secretPage();
    const other = await secretPage();
    const root = rootWith({ wellKnown: page.url, headers: HEADERS });
    await run(root, 'approvals', 'allow');
    const key = `${page.url}#authorization=TEAM_TOKEN`;
    const before = await listed(root);
    expect([before.ids, seen]).toEqual([[], []]);
    expect(before.problems).toEqual([expect.objectContaining({ code: 'SECRET_NOT_APPROVED' })]);
    const command = /skill-registry approvals allow "([^"]+)"/.exec(before.problems[0]?.message ?? '')?.[1] ?? '';
    expect(command).toBe(key);
    expect((await run(root, 'approvals', 'allow', command)).status).toBe(0);
    expect(await listed(root)).toEqual({ ids: ['pot', 'tea'], problems: [] });
    const pulled = [
      { wellKnown: other.page.url, headers: HEADERS },
      { wellKnown: page.url.replace('127.0.0.1', 'localhost'), headers: HEADERS },
      { wellKnown: page.url, headers: { 'X-Key': HEADERS.Authorization } },
      {
        wellKnown: page.url,
        headers: { Authorization: HEADERS.Authorization.replace('TEAM_TOKEN', 'XDG_STATE_HOME') },
      },
      { wellKnown: page.url, headers: { ...HEADERS, 'X-Key': HEADERS.Authorization } },
    ];
    seen.length = 0;
    for (const source of pulled) {
      writeFileSync(join(root, 'data/skill_registry/config.yaml'), JSON.stringify({ sources: [source] }));
      const { ids, problems } = await listed(root);
      expect([ids, problems.map(({ code }) => code)]).toEqual([[], ['SECRET_NOT_APPROVED']]);
      // Not with --trust either: it is about the root.
      const { stdout } = await runCommand(['list', '--json', '--root', root]);
      expect(stdout).toContain('SECRET_NOT_APPROVED');
    }
    expect([...seen, ...other.seen]).toEqual([]);
    expect(textsBelow(state)).not.toContain(SECRET);
  });

  it('and no longer when it was revoked, not by adding it again either', async () => {
    const { page, seen } = await secretPage();
    const root = rootWith({ wellKnown: page.url, headers: HEADERS });
    const key = `${page.url}#AUTHORIZATION=TEAM_TOKEN`;
    await run(root, 'approvals', 'allow');
    await run(root, 'approvals', 'allow', key);
    expect((await listed(root)).ids).toEqual(['pot', 'tea']);
    await run(root, 'approvals', 'revoke', key);
    seen.length = 0;
    expect((await listed(root)).problems[0]?.message).toContain('somebody has revoked');
    const added = await run(
      root,
      'add',
      page.url,
      '--all',
      '--yes',
      '--header',
      `Authorization=${HEADERS.Authorization}`,
    );
    expect(added.stderr).toContain('somebody has revoked');
    expect(seen).toEqual([]);
    expect((await run(root, 'approvals', 'list')).stdout).toMatch(/revoked +secret /);
  });

  it('with add, update and add --frozen, whose lock keeps the name of the secret', async () => {
    const { page, root: team, publish, seen } = await secretPage();
    const root = tempFolder({ 'skills/cup/SKILL.md': skillMd({ name: 'cup', description: 'Holds.' }) });
    await run(root, 'approvals', 'allow');
    const header = ['--header', `Authorization=${HEADERS.Authorization}`];
    const tried = await run(root, 'add', page.url, '--all', '--dry-run', ...header);
    expect(tried.stdout).toContain('tea');
    expect(textsBelow(state)).not.toContain('TEAM_TOKEN');
    const added = await run(root, 'add', page.url, '--all', '--yes', '--json', ...header);
    expect(added.stdout + added.stderr).not.toContain(SECRET);
    const lock = readFileSync(join(root, 'skills-lock.json'), 'utf8');
    expect(JSON.parse(lock).skills.tea.registry.headers).toEqual(HEADERS);
    writeTree(team, { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brew tea.' }, 'Do it better.') });
    await publish();
    expect((await run(root, 'update', '--yes')).status).toBe(0);
    expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toContain('better');
    expect(readFileSync(join(root, 'skills-lock.json'), 'utf8')).toContain(HEADERS.Authorization);
    expect(seen.filter((one) => one.endsWith(' -'))).toEqual([]);
    // A lock that a git pull has changed asks again.
    const other = await secretPage();
    writeFileSync(join(root, 'skills-lock.json'), lock.replaceAll(page.url, other.page.url));
    expect((await run(root, 'update', '--check')).stdout).toContain('nobody has approved that a secret goes there');
    const fresh = tempFolder({ 'skills-lock.json': lock, 'skills/cup/SKILL.md': TREE['skills/tea/SKILL.md'] });
    vi.stubEnv('XDG_STATE_HOME', tempFolder());
    await run(fresh, 'approvals', 'allow');
    const frozen = await run(fresh, 'add', '--frozen', '--yes');
    expect(frozen.stderr).toContain('nobody has approved that a secret goes there');
    expect([other.seen, existsSync(join(fresh, 'skills/pot'))]).toEqual([[], false]);
    expect(textsBelow(root, state, cache)).not.toContain(SECRET);
  });

  it('and a program that reads what a lock names, which it has not written itself', async () => {
    const { page, seen } = await secretPage();
    const made = tempFolder({ 'data/.keep': '', 'skills/cup/SKILL.md': TREE['skills/tea/SKILL.md'] });
    const ofProgram = await openRoot(made, { getSecret: () => SECRET });
    const plan = await ofProgram.origin.add(page.url, { all: true, headers: HEADERS });
    await plan.apply(ADA);
    await ofProgram.close();
    expect(seen.length).toBeGreaterThan(0);
    seen.length = 0;
    const pulled = tempFolder({
      'data/.keep': '',
      'skills-lock.json': readFileSync(join(made, 'skills-lock.json'), 'utf8'),
    });
    const other = await openRoot(pulled, { getSecret: () => SECRET });
    await expect(other.origin.restore({})).rejects.toThrow('nobody has approved that a secret goes there');
    expect(seen).toEqual([]);
  });

  it('and to the policy beside the index, which add obeys', async () => {
    const policy = JSON.stringify({ version: 1, denied: { ids: ['pot'] } });
    const { page, seen } = await secretPage(
      (path, response) => path.endsWith('/policy.json') && Boolean(response.end(policy)),
    );
    const root = tempFolder({ 'data/.keep': '', 'skills/cup/SKILL.md': TREE['skills/tea/SKILL.md'] });
    const registry = await openRoot(root, { getSecret: () => SECRET });
    const adding = registry.origin.add(page.url, { skills: ['pot'], headers: HEADERS });
    await expect(adding).rejects.toThrow('denies the id "pot"');
    expect(seen).toContain(`/.well-known/agent-skills/policy.json Bearer ${SECRET}`);
    expect(seen.filter((one) => one.endsWith(' -'))).toEqual([]);
  });

  it('and add takes no secret in place of its name, and headers only for a page', async () => {
    const { page, seen } = await secretPage();
    const root = tempFolder(TREE);
    for (const value of [SECRET, `Bearer ${SECRET}`, `\${A}${SECRET}`]) {
      const { stdout, stderr, status } = await run(
        root,
        'add',
        page.url,
        '--header',
        `Authorization=${value}`,
        '--yes',
      );
      expect([status, stderr]).toEqual([expect.any(Number), expect.stringMatching(/each with \$\{NAME\} of a secret/)]);
      expect(stdout + stderr).not.toContain(SECRET);
    }
    const folder = await run(root, 'add', './skills/tea', '--header', `X-Key=${HEADERS.Authorization}`, '--yes');
    expect(folder.stderr).toContain('only a page takes headers');
    expect(seen).toEqual([]);
  });
});
