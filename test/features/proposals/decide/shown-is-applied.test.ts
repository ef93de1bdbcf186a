import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry } from 'skill-registry';
import { expect, it } from 'vitest';
import { openSqlite } from '../../../../lib/sqlite/index.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { LONGER, TEA } from '../../../helpers/tea.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

/** A folder from somebody else, that nobody has approved, with a proposal. */
async function foreign() {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
  const made = await registry.proposals.propose({ skillId: 'tea', content: LONGER, justification: 'Typo.' });
  await registry.close();
  const run = (...args: string[]) => runCommand(['proposals', ...args, '--root', root], { trust: false });
  return {
    root,
    id: made.proposalId,
    file: made.file,
    run,
    text: () => readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8'),
  };
}

it('shows what it would apply where nothing may be written, whatever stands in its report, and applies that', async () => {
  const { id, file, run, text } = await foreign();
  writeFileSync(file, readFileSync(file, 'utf8').replace('three minutes', 'evil minutes'));
  const before = readFileSync(file, 'utf8');
  const shown = await run('show', id);
  expect(shown).toMatchObject({ status: 0, stdout: expect.stringContaining('+Steep for three minutes.') });
  expect(shown.stdout).toContain(`The edited text is kept in ${file}.`);
  const [listed] = JSON.parse((await run('list', '--json')).stdout).proposals;
  expect(listed.diff).toContain('+Steep for three minutes.');
  expect([readFileSync(file, 'utf8'), text()]).toEqual([before, TEA]);
  // What was written is kept and said before anything is decided.
  const first = await run('approve', id);
  expect(first).toMatchObject({ status: 1, stderr: expect.stringContaining('PROPOSAL_FILE_EDITED') });
  expect([readFileSync(file.replace(/\.md$/, '.edited.md'), 'utf8'), text()]).toEqual([before, TEA]);
  expect(await run('approve', id)).toMatchObject({ status: 0 });
  expect(text()).toBe(LONGER);
});

it.each([
  [
    'a view in the place of a table',
    'table "real"',
    'ALTER TABLE proposal RENAME TO real; CREATE VIEW proposal AS SELECT * FROM real',
  ],
  ['a trigger', 'trigger "up"', "CREATE TRIGGER up AFTER UPDATE ON proposal BEGIN UPDATE proposal SET diff = 'x'; END"],
  ['a virtual table', 'table "more"', 'CREATE VIRTUAL TABLE more USING fts5(a)'],
  [
    'a computed column',
    'table "proposal"',
    "ALTER TABLE proposal ADD COLUMN x TEXT AS (CASE file_due WHEN 1 THEN 'a' ELSE 'b' END)",
  ],
  ['a table of its own', 'table "mine"', 'CREATE TABLE mine (a)'],
])('uses no history with %s, and says what to do', async (_title, what, sql) => {
  const { root, id, run, text } = await foreign();
  const database = openSqlite(join(root, 'data/skill_registry/history.db'));
  database.exec(sql);
  database.close();
  for (const args of [['list'], ['show', id], ['approve', id]]) {
    const { status, stderr } = await run(...args);
    expect([status, stderr]).toEqual([1, expect.stringContaining('HISTORY_ROW_REFUSED')]);
    expect(stderr).toContain(`the ${what}`);
    expect(stderr).toContain('move history.db, history.db-wal and history.db-shm away together');
  }
  expect(text()).toBe(TEA);
});
