import { expect, it } from 'vitest';
import { reviewPage, textOf } from '../../helpers/review-page.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { TEA } from '../../helpers/tea.ts';

const withPaths = (globs: string): string => TEA.replace('name: tea\n', `name: tea\npaths: ${globs}\n`);
const OF_METADATA = TEA.replace('name: tea\n', 'name: tea\nmetadata: { paths: "*.md" }\n');

it.each([
  ['sets', TEA, withPaths('["*.rs"]'), '"[]" -> "["*.rs"]"'],
  ['widens', withPaths('"*.rs"'), withPaths('"*.rs, src/**"'), '"["*.rs"]" -> "["*.rs","src/**"]"'],
  ['takes away', withPaths('"*.rs"'), TEA, '"["*.rs"]" -> "[]"'],
  ['sets below metadata', TEA, OF_METADATA, '"[]" -> "["*.md"]"'],
])('marks a proposal that %s paths as one that changes the description is marked', async (_, before, content, what) => {
  const page = await reviewPage({ 'skills/tea/SKILL.md': before });
  const input = { skillId: 'tea', content, justification: 'Better.', author: 'agent:brewer' };
  const { checks } = await page.registry.proposals.get((await page.registry.proposals.propose(input)).proposalId);
  const text = `Changes the field "paths": ${what}`;
  expect(checks.filter(({ kind }) => kind === 'description')).toMatchObject([{ level: 'info', text }]);
  const run = async (...args: readonly string[]) =>
    (await runCommand(['proposals', 'list', ...args], { cwd: page.root })).stdout;
  expect(await run()).toContain('tea/SKILL.md (description)');
  const [first] = JSON.parse(await run('--json')).proposals;
  expect(first).toMatchObject({ changes_description: true });
  const inbox = textOf((await page.get('/')).text);
  expect(inbox).toMatch(/description\s+Better\./);
});

it('the page of a skill, show and validate tell people of paths', async () => {
  const page = await reviewPage({ 'skills/tea/SKILL.md': withPaths('"src/**/*.{ts,tsx}, **/*"') });
  expect(textOf((await page.get('/skills/tea')).text)).toMatch(/Paths\s*src\/\*\*\/\*\.\{ts,tsx\}/);
  const run = (...args: readonly string[]) => runCommand(args, { cwd: page.root });
  expect((await run('show', 'tea')).stderr).toContain('Shown for files like src/**/*.{ts,tsx}\n');
  expect(JSON.parse((await run('show', 'tea', '--json')).stdout)).toMatchObject({ paths: ['src/**/*.{ts,tsx}'] });
  const { stdout, stderr } = await run('validate', 'skills/tea', '--profile', 'lenient');
  expect(stdout + stderr).toMatch(/\["\*\*\/\*"\] in "paths" count for nothing/);
});
