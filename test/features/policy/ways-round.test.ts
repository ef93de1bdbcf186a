import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readManaged } from '../../../extensions/skill_registry/features/policy/managed-file.ts';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';
import type { PageServer } from '../../helpers/page-server.ts';
import { policyPage } from '../../helpers/policy-page.ts';
import { publishedPage } from '../../helpers/published-page.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { ADA } from '../../helpers/tea.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

const TEA = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brew tea.' }) };
const RUM = { 'skills/rum/SKILL.md': skillMd({ name: 'rum', description: 'Pour rum.' }) };

/** Every path that the page is asked for. */
function requestsOf(page: PageServer): readonly string[] {
  const paths: string[] = [];
  page.answer = (path) => {
    paths.push(path);
    return false;
  };
  return paths;
}

afterEach(() => void vi.restoreAllMocks());

describe('a page that may not be contacted is not asked for its policy either', () => {
  it('when somebody has revoked it, whether it is a source or named', async () => {
    const { page } = await publishedPage(TEA);
    await policyPage();
    const requests = requestsOf(page);
    await runCommand(['approvals', 'revoke', page.url], { cwd: tempFolder() });
    const source = await openRegistry(TEA, { sources: [{ path: 'skills' }, { wellKnown: page.url, id: 'team' }] });
    expect(source.registry.problems().map(({ code }) => code)).toContain('SOURCE_REVOKED');
    const { registry } = await openRegistry(TEA, { policy: { from: page.url } });
    expect(registry.visible()).toEqual([]);
    expect(
      registry
        .problems()
        .map(({ message }) => message)
        .join(),
    ).toMatch(/never read here .*revoked/);
    expect(requests).toEqual([]);
  });

  it('when another policy denies it', async () => {
    const { page } = await publishedPage(TEA);
    const other = await policyPage({ version: 1, denied: { sources: [page.url] } });
    const { registry } = await openRegistry({}, { policy: { from: other.url } });
    const requests = requestsOf(page);
    await expect(registry.origin.add(page.url)).rejects.toMatchObject({ code: 'POLICY_DENIED' });
    expect(requests).toEqual([]);
  });
});

it('holds everything while the config that names it is broken, as by a merge', async () => {
  const page = await policyPage({ version: 1 });
  const config = `policy: { from: "${page.url}" }\n`;
  const root = tempFolder({ ...TEA, 'data/skill_registry/config.yaml': config });
  const said = async () => (await runCommand(['list', '--root', root])).stderr;
  expect(await said()).not.toContain('held');
  writeFileSync(join(root, 'data/skill_registry/config.yaml'), `<<<<<<< HEAD\n${config}=======\n`);
  expect(await said()).toMatch(/Agents do not see tea: held, .*config\.yaml, which is broken, .*POLICY_MISSING/);
  // One that says nothing of a policy goes on with defaults, as ever.
  writeFileSync(join(root, 'data/skill_registry/config.yaml'), '# policy: {}\n<<<<<<< HEAD\n');
  expect(await said()).not.toContain('held');
});

it.each([
  ['as a package', { package: '@evil/skills' }],
  ['by a pack', { pack: 'pack.json' }],
  ['by its folder', { path: 'node_modules/@evil/skills/skills' }],
])('holds what lies in the folder of a denied package, found %s', async (_, source) => {
  const page = await policyPage({ version: 1, denied: { owners: ['@evil'] } });
  const root = tempFolder({
    'node_modules/@evil/skills/package.json': '{"name":"@evil/skills","version":"1.0.0"}',
    'node_modules/@evil/skills/skills/rum/SKILL.md': RUM['skills/rum/SKILL.md'],
    'pack.json': JSON.stringify({ id: 'p', version: '1', prompts: {}, skills: [{ path: '@evil/skills' }] }),
  });
  const registry = await openRoot(root, { config: { sources: [source], policy: { from: page.url } } });
  const held = [...registry.snapshot().byQualifiedId.values()].map(({ heldBecause }) => heldBecause);
  expect(held).toEqual([expect.stringContaining('denies the owner "@evil"')]);
});

it('holds all that it denies from the next change of one skill on', async () => {
  const page = await policyPage({ version: 1 });
  const { registry } = await openRegistry({ ...TEA, ...RUM }, { policy: { from: page.url }, watch: { mode: 'off' } });
  expect(registry.visible()).toHaveLength(2);
  page.say({ version: 2, denied: { ids: ['rum'] } });
  const later = Date.now() + 120_000;
  vi.spyOn(Date, 'now').mockImplementation(() => later);
  const text = skillMd({ name: 'tea', description: 'Brew tea.' }, 'Green tea.');
  await registry.admin.management.write('tea', 'SKILL.md', text, ADA);
  await registry.admin.management.write('tea', 'SKILL.md', `${text}\nOr black.`, ADA);
  expect(registry.visible().map(({ id }) => id)).toEqual(['tea']);
});

it('is read from a folder of the machine that is reached by a link, as /etc is on macOS', () => {
  const there = tempFolder();
  mkdirSync(join(there, 'skill-registry'), { mode: 0o755 });
  writeFileSync(join(there, 'skill-registry/policy.yaml'), 'from: https://skills.example.com\n', { mode: 0o644 });
  const link = join(tempFolder(), basename(dirname(there)));
  symlinkSync(there, link);
  const read = readManaged(join(link, 'skill-registry/policy.yaml'), process.getuid?.());
  expect(read).toMatchObject({ from: 'https://skills.example.com' });
});
