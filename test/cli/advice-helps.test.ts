import { appendFileSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type RunResult, runCommand } from '../helpers/run-command.ts';
import { type Tree, tempFolder, writeTree } from '../helpers/temp-folder.ts';

const skill = (name: string): string =>
  `---\nname: ${name}\ndescription: Brews ${name}. Use when somebody asks for ${name}.\n---\n\nBoil water.\n`;
const CONFIG = 'data/skill_registry/config.yaml';

function house(tree: Tree = {}) {
  const root = tempFolder({
    [CONFIG]: 'sources: [{ path: skills }]\n',
    'skills/milk/SKILL.md': skill('milk'),
    ...tree,
  });
  const run = (...args: readonly string[]): Promise<RunResult> => runCommand([...args, '--root', root]);
  return { root, run };
}

it('says of a skill that was changed here how it becomes what the lock says, and that works', async () => {
  const from = tempFolder({ 'tea/SKILL.md': skill('tea'), 'cup/SKILL.md': skill('cup') });
  const { root, run } = house();
  expect(await run('add', from, '--all', '--yes')).toMatchObject({ status: 0 });
  appendFileSync(join(root, 'skills/tea/SKILL.md'), 'Mine.\n');
  rmSync(join(root, 'skills/cup'), { recursive: true });
  const { stderr } = await run('verify');
  expect(stderr).toMatch(/2 not as it says\nabsent: skill-registry add --frozen .*\ndrifted: .*move its folder away/);
  const away = join(tempFolder(), 'tea');
  renameSync(join(root, 'skills/tea'), away);
  expect(await run('add', '--frozen', '--to', join(root, 'skills'), '--yes')).toMatchObject({ status: 0 });
  expect((await run('verify')).stderr).toBe('2 skills in skills-lock.json, all as it says\n');
  expect(readFileSync(join(away, 'SKILL.md'), 'utf8')).toContain('Mine.');
});

it('says of a disabled skill that no agent is given it, and how that ends', async () => {
  const { run } = house();
  await run('disable', 'milk');
  expect((await run('show', 'milk')).stderr).toContain(
    'Disabled, no agent is given it; to enable it: skill-registry disable milk --off',
  );
  await run('enable', 'milk');
  expect((await run('show', 'milk')).stderr).not.toContain('Disabled');
});

it('names the sources when a search is for one that does not exist', async () => {
  const { run } = house();
  const { status, stderr } = await run('search', 'milk', '--source', 'skils');
  expect([status, stderr]).toEqual([
    2,
    expect.stringContaining('There is no source "skils". Did you mean "skills"? Sources: skills'),
  ]);
  expect(await run('search', 'milk', '--source', 'skills')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('milk'),
  });
});

it('ends what is wrong in a config with one full stop, and says where its keys are listed', async () => {
  const { root, run } = house({ [CONFIG]: 'sources: [{ path: skills }]\nsorces: 1\n' });
  expect((await run('doctor')).stdout).toContain('docs/configuration.md of the package lists the keys.');
  writeTree(root, { [CONFIG]: ': : :\n- x' });
  const said = 'Nested mappings are not allowed in compact mappings at line 1, column 3. Correct it';
  expect((await run('doctor')).stdout).toContain(`${said}; until then`);
  expect((await run('disable', 'milk')).stderr).toContain(`${said}, then repeat this.`);
});
