import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type Proposal } from 'skill-registry';
import { expect, it } from 'vitest';
import { proposalsCommand } from '../../../../../extensions/skill_registry/features/proposals/conversation.ts';
import { type RunResult, runCommand } from '../../../../helpers/run-command.ts';
import { LONGER, TEA } from '../../../../helpers/tea.ts';
import { tempFolder } from '../../../../helpers/temp-folder.ts';

/** What is where the report of a proposal belongs. @param reports - The folder of all reports, which is not there. */
const HINDRANCES: readonly (readonly [what: string, hinder: (reports: string, id: string) => void])[] = [
  ['a file instead of the folder', (reports) => writeFileSync(reports, '')],
  ['a link instead of the folder', (reports) => symlinkSync(tempFolder(), reports)],
  [
    'a folder instead of the report',
    (reports, id) => mkdirSync(join(reports, `${id}.md`, 'in the way'), { recursive: true }),
  ],
];

const CONFIG = { sources: [{ path: 'skills' }] };

async function proposalWithout(hinder: (reports: string, id: string) => void) {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
  const registry = await createSkillRegistry({ root, config: CONFIG });
  const input = { skillId: 'tea', content: LONGER, justification: 'It was weak.', author: 'agent:brewer' };
  const { proposalId: id } = await registry.proposals.propose(input);
  await registry.close();
  const reports = join(root, 'data/skill_registry/proposals');
  rmSync(reports, { recursive: true });
  hinder(reports, id);
  const run = (...args: readonly string[]): Promise<RunResult> =>
    runCommand([...args, '--skills', join(root, 'skills')], { cwd: root, environment: { USER: 'ada' } });
  return { root, id, run };
}

it.each(HINDRANCES)('is said by every door, and the decision works, with %s', async (_, hinder) => {
  const { root, id, run } = await proposalWithout(hinder);
  const said = new RegExp(
    `The report of the proposal ${id} cannot be written: [^\n]*[^.]\\. If there is a folder or a link`,
  );
  expect((await run('proposals', 'show', id)).stdout).toMatch(said);
  const shown = JSON.parse((await run('proposals', 'show', id, '--json')).stdout) as Proposal;
  expect(shown.problem).toMatchObject({ code: 'WRITE_FAILED', message: expect.stringMatching(said) });
  const listed = await run('proposals');
  expect(listed.stdout).toContain('open, no report');
  expect(listed.stderr).toMatch(said);
  const text = join(root, 'text.md');
  writeFileSync(text, `${LONGER}Rinse the pot.\n`);
  const edited = await run('proposals', 'edit', id, '--from', text);
  expect(edited.stderr).toMatch(said);
  expect(edited.status).toBe(0);
  const approved = await run('proposals', 'approve', id);
  expect(approved.stderr).toMatch(
    new RegExp(`^Approved ${id}: tea has revision 2\nTo undo it: .*\nWRITE_FAILED: `, 'm'),
  );
  expect(approved.stderr).toMatch(said);
  expect(approved.status).toBe(0);
  expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toContain('Rinse the pot.');
});

it('is said where a person decides in a conversation, and no more when the report can be written', async () => {
  const [[, hinder] = []] = HINDRANCES;
  const { root, id } = await proposalWithout(hinder ?? (() => undefined));
  const registry = await createSkillRegistry({ root, config: CONFIG });
  const { execute } = proposalsCommand(registry);
  const type = async (line: string): Promise<string> => String(((await execute(line, {})) as { text: string }).text);
  expect(await type(`show ${id}`)).toContain('cannot be written');
  expect(await type(`reject ${id} no`)).toMatch(/^Rejected; .*\nThe report of the proposal .* cannot be written/);
  rmSync(join(root, 'data/skill_registry/proposals'));
  await registry.close();
  const again = await createSkillRegistry({ root, config: CONFIG });
  expect((await again.proposals.get(id)).problem).toBeUndefined();
  expect(readFileSync(join(root, 'data/skill_registry/proposals', `${id}.md`), 'utf8')).toContain('state: rejected');
  await again.close();
});
