import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { packTarGz } from '../../../../lib/fetch/index.ts';
import { type PageServer, servePage } from '../../../helpers/page-server.ts';
import { idsOf, letAnHourPass, problemsOf, publishedPage, readPage } from '../../../helpers/published-page.ts';
import { skillMd, tempFolder, writeTree } from '../../../helpers/temp-folder.ts';
import { treeOf } from '../../../helpers/tree-of.ts';

const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';
const AGENT_SKILLS = '/.well-known/agent-skills';
const TEA = skillMd({ name: 'tea', description: 'Brew tea.' });
const digestOf = (bytes: string | Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** An entry of an index whose artifact is at `tea.md`, unless it says otherwise. */
const entry = (fields: Readonly<Record<string, unknown>> = {}): object => {
  return { name: 'tea', type: 'skill-md', description: 'Brew tea.', url: 'tea.md', digest: digestOf(TEA), ...fields };
};

/** Serves an index, and artifacts below it. */
async function pageWith(
  index: unknown,
  artifacts: Readonly<Record<string, string | Buffer>> = { 'tea.md': TEA },
): Promise<PageServer> {
  const files = Object.entries(artifacts).map(([name, bytes]) => [`${AGENT_SKILLS.slice(1)}/${name}`, bytes] as const);
  const text = typeof index === 'string' ? index : JSON.stringify(index);
  return servePage(tempFolder({ [`${AGENT_SKILLS.slice(1)}/index.json`]: text, ...Object.fromEntries(files) }));
}

let cache = '';
beforeEach(() => {
  cache = tempFolder();
  return () => void vi.unstubAllEnvs();
});

describe('a page that is no page of version 0.2.0', () => {
  it.each([
    ['no JSON', 'Hello.', /it is no index/],
    ['a list', [], /it is no index/],
    ['0.1.0', { skills: [{ name: 'tea', description: 'Tea.', files: ['SKILL.md'] }] }, /found none, which is 0\.1\.0/],
    ['an unknown version', { $schema: `${SCHEMA}?v=3`, skills: [entry()] }, /expected \$schema/],
    ['more than 8 MiB', ' '.repeat(8 * 1024 * 1024 + 1), /more than 8388608 bytes/],
    ['more than 10,000 skills', { $schema: SCHEMA, skills: Array.from({ length: 10_001 }, () => 0) }, /it is no index/],
  ])('is not processed: %s', async (_name, index, why) => {
    const page = await pageWith(index);
    const registry = await readPage(page.url, cache);
    expect(idsOf(registry)).toEqual([]);
    expect(problemsOf(registry)).toEqual([expect.stringMatching(/^error ORIGIN_REFUSED/)]);
    expect(problemsOf(registry)[0]).toMatch(why);
    expect(page.answers.join()).not.toContain('tea.md');
  });

  it('does not end the use of the copy', async () => {
    const { page } = await publishedPage({ 'skills/tea/SKILL.md': TEA });
    await readPage(page.url, cache);
    letAnHourPass(cache);
    page.answer = (_path, response) => Boolean(response.end('<html>Sign in</html>'));
    const registry = await readPage(page.url, cache);
    expect(idsOf(registry)).toEqual(['tea']);
    expect(problemsOf(registry)).toEqual([expect.stringMatching(/^error ORIGIN_REFUSED: .*when it last answered/)]);
  });
});

describe('one bad skill of a page', () => {
  const archive = (...files: readonly (readonly [path: string, text: string])[]): Buffer =>
    packTarGz(files.map(([path, text]) => ({ path, bytes: Buffer.from(text), executable: false })));
  const asArchive = (bytes: Buffer) =>
    [{ type: 'archive', url: 'x.tar.gz', digest: digestOf(bytes), name: 'bad' }, bytes] as const;
  const many = Array.from({ length: 1_001 }, (_, at) => [`${at}.md`, 'x'] as const);
  const nothing = Buffer.alloc(0);

  it.each([
    ['another digest', { name: 'bad', digest: digestOf('x') }, nothing, /the index says sha256:/],
    ['a name that leads elsewhere', { name: '../tea' }, nothing, /Skill number 2 is no entry \(name/],
    ['a name in capitals', { name: 'Tea' }, nothing, /Skill number 2 is no entry \(name/],
    ['the same name again', {}, nothing, /"tea" is named a second time/],
    ['no artifact', { name: 'bad', url: 'none.md' }, nothing, /status 404/],
    ['an artifact on this machine by file:', { name: 'bad', url: 'file:///etc/hostname' }, nothing, /leads to file:/],
    [
      'an artifact over http elsewhere',
      { name: 'bad', url: 'http://192.0.2.1/tea.md' },
      nothing,
      /leads to http:\/\/192\.0\.2\.1, expected https:/,
    ],
    ['an artifact that wants a user', { name: 'bad', url: 'https://me:pw@192.0.2.1/x' }, nothing, /has a user name/],
    ['no archive', ...asArchive(Buffer.from('x')), /neither a \.tar\.gz nor a \.zip/],
    ['no SKILL.md at the top', ...asArchive(archive(['bad/SKILL.md', TEA])), /no SKILL\.md at its top/],
    ['a path that leads elsewhere', ...asArchive(archive(['SKILL.md', TEA], ['../../evil', 'x'])), /no path below it/],
    [
      'two paths that are one',
      ...asArchive(archive(['SKILL.md', TEA], ['a.md', 'x'], ['A.md', 'y'])),
      /differ only in letter case/,
    ],
    [
      'a file that is a folder',
      ...asArchive(archive(['SKILL.md', TEA], ['a', 'x'], ['a/b', 'y'])),
      /is a file and a folder/,
    ],
    ['a name that is too long', ...asArchive(archive(['SKILL.md', TEA], ['x'.repeat(300), 'x'])), /cannot be written/],
    ['too many files', ...asArchive(archive(['SKILL.md', TEA], ...many)), /more than 1000/],
  ])('is left out, and the others are used: %s', async (_name, fields, bytes, why) => {
    const page = await pageWith(
      { $schema: SCHEMA, skills: [entry(), entry(fields)] },
      { 'tea.md': TEA, 'x.tar.gz': bytes },
    );
    const registry = await readPage(page.url, cache);
    expect(idsOf(registry)).toEqual(['tea']);
    expect(problemsOf(registry)).toEqual([expect.stringMatching(/^error ORIGIN_REFUSED/)]);
    expect(problemsOf(registry)[0]).toMatch(why);
    expect(Object.keys(treeOf(cache)).filter((path) => /evil|\.skill-registry-/.test(path))).toEqual([]);
    expect(existsSync(join(cache, '..', 'evil'))).toBe(false);
  });

  it('keeps the last whole version of a skill whose new one is refused', async () => {
    const { root, page, publish } = await publishedPage({ 'skills/tea/SKILL.md': TEA });
    await readPage(page.url, cache);
    writeTree(root, { 'skills/tea/SKILL.md': `${TEA}More.\n` });
    await publish();
    letAnHourPass(cache);
    page.answer = (path, response) => path.endsWith('.md') && Boolean(response.end('Evil.'));
    const registry = await readPage(page.url, cache);
    expect((await registry.read('tea')).content).not.toContain('More.');
    expect(problemsOf(registry)).toEqual([
      expect.stringMatching(/^error ORIGIN_REFUSED: "tea" is refused: the index says/),
    ]);
    page.answer = undefined;
    letAnHourPass(cache);
    expect((await (await readPage(page.url, cache)).read('tea')).content).toContain('More.');
  });

  it('gets no secret into the copy', async () => {
    const bytes = archive(['SKILL.md', TEA], ['.env', 'KEY=1'], ['keys/id_rsa', 'A key.'], ['guide.md', 'A guide.']);
    const page = await pageWith({ $schema: SCHEMA, skills: [entry(asArchive(bytes)[0])] }, { 'x.tar.gz': bytes });
    const registry = await readPage(page.url, cache);
    expect(registry.admin.resources('bad')).toEqual([{ path: 'guide.md', size: 8 }]);
    expect(Object.keys(treeOf(cache)).filter((path) => /env|rsa/.test(path))).toEqual([]);
  });
});

describe('a redirection', () => {
  it('is followed on this machine and refused to http elsewhere', async () => {
    const { page } = await publishedPage({ 'skills/tea/SKILL.md': TEA });
    const other = await servePage(tempFolder());
    other.answer = (path, response) => Boolean(response.writeHead(302, { location: page.url + path }).end());
    expect(idsOf(await readPage(other.url, cache))).toEqual(['tea']);
    other.answer = (_path, response) => Boolean(response.writeHead(302, { location: 'http://192.0.2.1/' }).end());
    const registry = await readPage(other.url, tempFolder());
    expect(problemsOf(registry)).toEqual([expect.stringMatching(/ORIGIN_REFUSED: .*leads to http:\/\/192\.0\.2\.1/)]);
  });
});

it.each([
  'http://example.com',
  'ftp://example.com',
  'example.com',
  'https://me:secret@example.com',
  'https://example.com/?a=b',
])('is a problem of the config: %s', async (url) => {
  const registry = await readPage(url, cache);
  expect(problemsOf(registry)).toEqual([expect.stringMatching(/^error CONFIG_KEY_INVALID: .*sources\.0\.wellKnown/)]);
  expect(problemsOf(registry)[0]).not.toContain('secret');
});
