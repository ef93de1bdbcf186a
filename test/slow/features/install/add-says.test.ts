import { symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { tarGz } from '../../../helpers/archives.ts';
import { gitRepository } from '../../../helpers/git-repository.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { serve, serveGit } from '../../../helpers/serve.ts';
import { TEA } from '../../../helpers/tea.ts';
import { type Tree, tempFolder, writeTree } from '../../../helpers/temp-folder.ts';

/** A root, beside what is given to `add`. */
function beside(tree: Tree) {
  const folder = tempFolder({ 'root/skills/x.md': '', ...tree });
  const add = async (what: string): Promise<string> => {
    const { status, stderr } = await runCommand(['add', what, '--dry-run'], { cwd: `${folder}/root` });
    return `${status} ${stderr}`;
  };
  return { folder, add };
}

it.each([
  ['../empty', { 'empty/.git/config': '' }, 'it is empty. A skill is a folder with a file of that name.'],
  ['../docs', { 'docs/README.md': '', 'docs/a/b.md': '' }, 'it has 2 files: README.md, a/b.md.'],
  ['../none', {}, 'there is no such folder.'],
  ['../none.zip', {}, 'there is no such file.'],
  ['skills', {}, 'for the folder here write ./skills.'],
])('add %s says what was expected, what is there, and what to do', async (what, tree, expected) => {
  expect(await beside(tree).add(what)).toContain(expected);
});

it('takes the SKILL.md of a folder for the folder', async () => {
  expect(await beside({ 'a/tea/SKILL.md': TEA }).add('../a/tea/SKILL.md')).toMatch(/^0 /);
});

it('names a file that is no skill where no other is there', async () => {
  const { folder, add } = beside({});
  writeTree(folder, { 'a.tar.gz': tarGz([{ path: 'a/SKILL.md', content: '---\nname: [\n---\n' }]) });
  const said = await add('../a.tar.gz');
  expect(said).toContain('it has no SKILL.md that can be read as a skill');
  expect(said).toContain('a/SKILL.md');
});

it('names the folders that have skills where the path is not there, and how to see the branches where the branch is not', async () => {
  const { folder } = gitRepository({ 'skills/tea/SKILL.md': TEA, 'README.md': '' });
  const { add } = beside({});
  const missing = await add(`file://${folder}#nope`);
  expect(missing).toContain('it has no branch or tag "nope"');
  expect(missing).toContain(`git ls-remote file://${folder}`);
  expect(await add(`file://${dirname(folder)}/nope`)).toContain('does not appear to be a git repository');
});

it.each([
  ['tree/main/skils', 'the path "skils" is not there. Folders with a SKILL.md: skills/tea.'],
  ['blob/main/README.md', 'the path "README.md" is a file, expected a folder with a SKILL.md in it.'],
  [
    'tree/main/docs',
    'it has 1 file: docs/a.md. A skill is a folder with a file of that name. Folders with a SKILL.md: skills/tea.',
  ],
  ['tree/feature/x/skills', 'A branch with a slash is given as owner/repo/path@branch.'],
])('of a page of a repository on a server, %s, it says what is there', async (page, expected) => {
  const { folder } = gitRepository({ 'skills/tea/SKILL.md': TEA, 'README.md': '', 'docs/a.md': '' });
  const served = tempFolder();
  symlinkSync(join(folder, '.git'), join(served, 'teas.git'));
  const url = await serveGit(served);
  expect(await beside({}).add(`${url}/teas/-/${page}`)).toContain(expected);
  expect(await beside({}).add(`${url}/teas/-/blob/main/skills/tea/SKILL.md`)).toMatch(/^0 /);
});

it('says what a page is that has no skills', async () => {
  const url = await serve((_, response) => response.writeHead(404).end());
  expect(await beside({}).add(url)).toContain(
    'this is no page with skills (404). Of a git repository give the address that ends with .git, or add #branch',
  );
});
