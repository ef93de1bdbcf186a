import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tarGz, zip } from '../../helpers/archives.ts';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';
import { serveFiles } from '../../helpers/serve.ts';
import { ADA, LONGER, TEA } from '../../helpers/tea.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';
import { treeOf } from '../../helpers/tree-of.ts';

const $schema = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';
const INDEX = '/.well-known/agent-skills/index.json';
const POLICY = '/.well-known/agent-skills/policy.json';

const digestOf = (bytes: string | Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** A page with three skills; `asked` are the paths that were asked for. */
async function page(change: (files: Map<string, string | Uint8Array>) => void = () => undefined) {
  const kettle = skillMd({ name: 'kettle', description: 'Boils water.' });
  const pot = skillMd({ name: 'pot', description: 'Holds tea.', requires: '[kettle]' });
  const artifacts = {
    'tea.md': TEA,
    'kettle.zip': zip([
      { path: 'SKILL.md', content: kettle },
      { path: 'run.sh', content: 'echo', mode: 0o755 },
    ]),
    'pot.tar.gz': tarGz([{ path: './SKILL.md', content: pot }]),
  };
  const skills = Object.entries(artifacts).map(([file, bytes]) => ({
    name: file.split('.')[0],
    type: file.endsWith('.md') ? 'skill-md' : 'archive',
    description: 'One.',
    url: `/files/${file}`,
    digest: digestOf(bytes),
  }));
  const files = new Map<string, string | Uint8Array>([
    [INDEX, JSON.stringify({ $schema, skills })],
    ...Object.entries(artifacts).map(([file, bytes]) => [`/files/${file}`, bytes] as const),
  ]);
  change(files);
  const asked: string[] = [];
  const url = await serveFiles((path) => {
    asked.push(path);
    return files.get(path);
  });
  return { url, files, asked };
}

it('takes the skills of a page, fetches no others, and puts the digests into the lock', async () => {
  const { url, files, asked } = await page();
  const { root, registry } = await openRegistry();
  await (await registry.origin.add(url, { skills: ['pot'] })).apply(ADA);
  expect(asked).toEqual([POLICY, INDEX, '/files/pot.tar.gz', '/files/kettle.zip']);
  expect(Object.keys(treeOf(join(root, 'skills')))).toEqual([
    'kettle',
    'kettle/SKILL.md',
    'kettle/run.sh',
    'pot',
    'pot/SKILL.md',
  ]);
  const lock = readFileSync(join(root, 'skills-lock.json'), 'utf8');
  expect(JSON.parse(lock).skills.pot).toMatchObject({
    ...{ source: 'wellknown/127.0.0.1', sourceUrl: url, sourceType: 'well-known' },
    wellKnownDigest: digestOf(files.get('/files/pot.tar.gz') ?? ''),
  });
  const other = await openRoot(tempFolder({ 'skills-lock.json': lock }));
  await (await other.origin.restore()).apply(ADA);
  expect(await other.origin.verify()).toMatchObject([{ state: 'same' }, { state: 'same' }]);
});

it('takes what is newer on a page', async () => {
  const { url, files } = await page();
  const { registry } = await openRegistry();
  await (await registry.origin.add(url, { skills: ['tea'] })).apply(ADA);
  const index = String(files.get(INDEX));
  files.set('/files/tea.md', LONGER);
  files.set(INDEX, index.replace(digestOf(TEA), digestOf(LONGER)));
  expect((await registry.origin.update()).skills).toMatchObject([{ state: 'outdated' }]);
});

it('refuses bytes that are not those of the digest, whatever they are', async () => {
  const { url } = await page((files) => files.set('/files/tea.md', LONGER));
  const { root, registry } = await openRegistry();
  await expect(registry.origin.add(url, { skills: ['tea'] })).rejects.toMatchObject({
    code: 'ORIGIN_REFUSED',
    message: `"tea" is refused: the index says ${digestOf(TEA)}, its bytes are ${digestOf(LONGER)}.`,
  });
  expect(Object.keys(treeOf(root))).toEqual([]);
});

it('says what a page has, and fetches nothing, when it is not said which skill is meant', async () => {
  const { url, asked } = await page();
  const { registry } = await openRegistry();
  const known = expect.stringContaining('has 3 skills: tea, kettle, pot. Choose with --skill NAME');
  await expect(registry.origin.add(url)).rejects.toMatchObject({ code: 'ORIGIN_INVALID', message: known });
  await expect(registry.origin.add(url, { skills: ['x'] })).rejects.toMatchObject({ code: 'ORIGIN_INVALID' });
  expect(asked).toEqual([POLICY, INDEX, INDEX]);
});

const ODD: readonly (readonly [string, string, RegExp])[] = [
  ['no JSON', 'x', /it is no index/],
  ['another version', JSON.stringify({ $schema: 'https://example.com/9.json', skills: [] }), /expected \$schema/],
  ['no version', JSON.stringify({ skills: [] }), /none, which is 0\.1\.0/],
  ['no skill', JSON.stringify({ $schema, skills: [{ name: '../x' }] }), /no skill that can be used/],
];

it.each(ODD)('refuses a page with %s', async (_name, index, why) => {
  const { url } = await page((files) => files.set(INDEX, index));
  const { registry } = await openRegistry();
  const message = expect.stringMatching(why);
  await expect(registry.origin.add(url)).rejects.toMatchObject({ code: 'ORIGIN_REFUSED', message });
});
