import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry } from 'skill-registry';
import { expect, it } from 'vitest';
import { openSqlite } from '../../lib/sqlite/index.ts';
import { TEA } from '../helpers/tea.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const CHILD = join(import.meta.dirname, '..', 'helpers', 'review-child.mjs');
const PROPOSALS = 10;
/** Twenty do every action to every proposal (review-child.mjs), and all of them are there at once. */
const PROCESSES = 20;
/** Ten lines far enough apart that no proposal touches the lines of another. */
const LONG = `${TEA}${Array.from({ length: PROPOSALS }, (_, n) => `\n## Part ${n}\n\nOne.\nTwo.\nValue ${n}: old.\nThree.\nFour.\n`).join('')}`;

it('lets twenty processes approve, reject and edit the same ten proposals without losing or doubling anything', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': LONG });
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
  const ids: string[] = [];
  for (let n = 0; n < PROPOSALS; n++) {
    const content = LONG.replace(`Value ${n}: old.`, `Value ${n}: new.`);
    const { proposalId } = await registry.proposals.propose({
      skillId: 'tea',
      content,
      justification: `Part ${n}.`,
      author: 'person:ada',
    });
    ids.push(proposalId);
  }
  // Whoever looks at this report first finds it edited, whichever process is faster.
  const { file } = await registry.proposals.get(ids[1] ?? '');
  writeFileSync(file, 'What I think.\n');
  const runs = await Promise.all(Array.from({ length: PROCESSES }, (_, n) => review({ root, ids, n })));
  const outcomes = runs.flat();
  expect(outcomes.filter(({ failed }) => failed && !/^PROPOSAL_(DECIDED|FILE_EDITED)$/.test(failed))).toEqual([]);

  const all = await registry.proposals.list('all');
  for (const [n, id] of ids.entries()) {
    const winners = outcomes.filter(
      (one) => one.id === id && (one.action === 'approve' || one.action === 'reject') && !one.failed,
    );
    expect(winners, id).toHaveLength(1);
    const proposal = all.find((one) => one.id === id);
    expect(proposal?.state).toBe(winners[0]?.action === 'approve' ? 'approved' : 'rejected');
    const line = new RegExp(`^Value ${n}: (.*)$`, 'm').exec(
      readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8'),
    )?.[1];
    if (proposal?.state === 'rejected') expect(line).toBe('old.');
    // What is applied is what the proposal says in the end: the first text, or what one of the editors made of it.
    else expect(proposal?.diff).toContain(`+Value ${n}: ${line}`);
    // Every recommendation that was accepted is there.
    const accepted = outcomes.filter((one) => one.id === id && one.action === 'recommend' && !one.failed);
    expect(proposal?.recommendations.map(({ reason }) => reason).sort()).toEqual(
      accepted.map(({ text }) => text).sort(),
    );
  }
  const approved = all.filter(({ state }) => state === 'approved');
  const database = openSqlite(join(root, 'data/skill_registry/history.db'));
  const made = database
    .prepare('SELECT proposal, count(*) AS n FROM revision WHERE proposal IS NOT NULL GROUP BY proposal')
    .all();
  expect(made).toHaveLength(approved.length);
  expect((made as { n: number }[]).every(({ n }) => n === 1)).toBe(true);
  expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  // Every edit that was accepted is in the history, and what was written into a report is kept.
  const accepted = outcomes.filter(({ action, failed }) => action === 'edit' && !failed);
  const events = database.prepare("SELECT count(*) AS n FROM proposal_event WHERE kind = 'edited'").get();
  expect(events).toEqual({ n: accepted.length });
  expect(readFileSync(file.replace(/\.md$/, '.edited.md'), 'utf8')).toBe('What I think.\n');
  database.close();
  await registry.close();
});

interface Outcome {
  readonly id: string;
  readonly action: 'approve' | 'reject' | 'recommend' | 'edit';
  readonly text?: string;
  readonly failed?: string;
}

function review(request: object): Promise<readonly Outcome[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, JSON.stringify(request)], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (data) => (output += String(data)));
    child.on('error', reject);
    child.on('close', () => {
      try {
        resolve(JSON.parse(output) as Outcome[]);
      } catch (error) {
        reject(error);
      }
    });
  });
}
