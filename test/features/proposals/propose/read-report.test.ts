import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { proposalReport } from '../../../../extensions/skill_registry/features/proposals/propose/reports.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { ADA, LONGER, TEA, teaRegistry } from '../../../helpers/tea.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { proposal } from './proposal.ts';

const DIFF =
  '--- a/SKILL.md\n+++ b/SKILL.md\n@@ -8,6 +8,6 @@\n Warm the pot.\n Boil water.\n-Steep for two minutes.\n+Steep for three minutes.\n Serve.\n \n ## Cleaning\n';
const REPORT = proposalReport(
  proposal({
    diff: DIFF,
    state: 'approved',
    author: 'person:grace',
    evidence: 'All tests passed.',
    decision: { by: 'person:grace', at: '2026-01-02T05:00:00Z', reason: 'Good.' },
  }),
);

const root = (report = REPORT): string => tempFolder({ 'skills/tea/SKILL.md': TEA, 'report.md': report });

it('makes an open proposal of a report, of which only the skill and the difference are taken, and is decided like any other', async () => {
  const { registry, tea } = await teaRegistry();
  const { proposalId } = await registry.proposals.import(REPORT);
  const made = await registry.proposals.get(proposalId);
  expect(made).toMatchObject({ state: 'open', skillId: 'tea', path: 'SKILL.md', kind: 'update', decision: null });
  expect(made).toMatchObject({ author: 'unknown, from a file', evidence: null, model: null });
  expect(made.justification).toBe('The file says:\n\n> People forget the time.');
  expect(proposalId).not.toBe('tea-20260102T030405Z-1a2b3c');
  expect(tea()).toBe(TEA);
  await registry.proposals.approve(proposalId, ADA);
  expect(tea()).toBe(LONGER);
});

it('brings back what waited when the history was lost: changed and new files, new skills, other line ends and blanks at ends', async () => {
  const blanks = TEA.replace('Serve.', 'Serve.  ').replaceAll('\n', '\r\n');
  const { root: folder, registry } = await teaRegistry({ 'skills/blanks/SKILL.md': blanks });
  const why = { justification: 'Needed.' };
  const changed = blanks.replace('two', 'three').replace('Serve.  ', 'Serve.\t');
  await registry.proposals.propose({ skillId: 'blanks', content: changed, ...why });
  await registry.proposals.propose({ skillId: 'tea', path: 'references/a b.md', content: 'New.', ...why });
  const create = TEA.replace('name: tea', 'name: mate');
  await registry.proposals.propose({ skillId: 'mate', kind: 'create', content: create, ...why });
  const reports = (await registry.proposals.list()).map(({ file, diff }) => ({ file, diff }));
  await registry.close();
  rmSync(join(folder, 'data/skill_registry/history.db'));
  for (const { file } of reports) {
    const { status, stderr } = await runCommand(['proposals', 'import', file], { cwd: folder });
    expect([status, stderr]).toEqual([0, expect.stringContaining('It is open, its author is unknown')]);
  }
  const { proposals } = JSON.parse((await runCommand(['proposals', 'list', '--json'], { cwd: folder })).stdout);
  expect(proposals.map(({ diff }: { diff: string }) => diff).sort()).toEqual(reports.map(({ diff }) => diff).sort());
});

const NO_REPORT = 'REPORT_INVALID';
it.each([
  ['no report', '# Hello\n', NO_REPORT],
  ['an empty file', '', NO_REPORT],
  ['a section moved', REPORT.replace('## Diff', '## Difference'), NO_REPORT],
  ['text before the title', REPORT.replace('# Update', 'Approve this.\n\n# Update'), NO_REPORT],
  ['words outside of the quotation', REPORT.replace('> People', 'People'), NO_REPORT],
  ['a hidden character', REPORT.replace('three', 'three\u200b'), NO_REPORT],
  ['a mark that turns the direction', REPORT.replace('People', '\u202ePeople'), NO_REPORT],
  ['a NUL', REPORT.replace('three', 'three\0'), NO_REPORT],
  ['a hidden character that it shows', REPORT.replace('+Steep', '+⟦U+200B⟧Steep'), NO_REPORT],
  ['no skill', REPORT.replace('skill: tea\n', ''), NO_REPORT],
  ['a skill that is a list', REPORT.replace('skill: tea\n', 'skill: [tea]\n'), NO_REPORT],
  ['a file that it removes', REPORT.replace('+++ b/SKILL.md', '+++ /dev/null'), NO_REPORT],
  ['a file with two names', REPORT.replace('+++ b/SKILL.md', '+++ b/other.md'), NO_REPORT],
  [
    'two files',
    REPORT.replace(' ## Cleaning\n', ' ## Cleaning\n--- a/b.md\n+++ b/b.md\n@@ -1 +1 @@\n-a\n+b\n'),
    'PROPOSAL_DIFF_FAILED',
  ],
  ['a skill that is not there', REPORT.replace('skill: tea\n', 'skill: coffee\n'), 'SKILL_NOT_FOUND'],
  ['a skill that is a path', REPORT.replace('skill: tea\n', 'skill: ../skills/tea\n'), 'SKILL_NOT_FOUND'],
  ['a way out', REPORT.replaceAll('/SKILL.md', '/../milk/SKILL.md'), 'PATH_TRAVERSAL'],
  ['an absolute path', REPORT.replaceAll('/SKILL.md', '//etc/passwd'), 'PATH_TRAVERSAL'],
  ['the path of another skill', REPORT.replaceAll('/SKILL.md', '/skills/milk/SKILL.md'), 'PROPOSAL_DIFF_FAILED'],
  ['a text that has changed', REPORT.replace('-Steep for two', '-Steep for nine'), 'PROPOSAL_DIFF_FAILED'],
  ['fields that nest deeply', REPORT.replace('source: skills', `source: ${'['.repeat(50_000)}`), NO_REPORT],
  ['a long line', REPORT.replace('+Steep', `+${'x'.repeat(300_000)}`), 'PROPOSAL_DIFF_FAILED'],
])('refuses a report with %s, and makes nothing of it', async (_what, report, code) => {
  const folder = root(report);
  const { status, stderr } = await runCommand(['proposals', 'import', 'report.md'], { cwd: folder });
  expect([status, stderr]).toEqual([1, expect.stringContaining(code)]);
  expect((await runCommand(['proposals', 'list'], { cwd: folder })).stderr).toContain('0 waiting proposals');
});

it('follows no link, reads no huge file, and repeats nothing of what is no report', async () => {
  const folder = tempFolder({
    'skills/tea/SKILL.md': TEA,
    'secret.md': 'THE SECRET',
    'link.md': { link: 'secret.md' },
    'folder.md/x': '',
  });
  writeFileSync(join(folder, 'huge.md'), REPORT + 'x'.repeat(3 * 1024 * 1024));
  for (const name of ['link.md', 'folder.md', 'huge.md', 'none.md']) {
    const { status, stderr } = await runCommand(['proposals', 'import', name], { cwd: folder });
    expect([name, status, stderr]).toEqual([name, 2, expect.stringContaining(`${name} cannot be read`)]);
  }
  const { stderr } = await runCommand(['proposals', 'import', 'secret.md'], { cwd: folder });
  expect(stderr).toContain(NO_REPORT);
  expect(stderr).not.toContain('THE SECRET');
});

it('makes no second proposal of a report whose change waits, and none of one that was rejected', async () => {
  const { registry } = await teaRegistry();
  const { proposalId } = await registry.proposals.import(REPORT);
  await expect(registry.proposals.import(REPORT)).rejects.toMatchObject({ code: 'PROPOSAL_DUPLICATE' });
  await registry.proposals.reject(proposalId, { ...ADA, reason: 'Two is right.' });
  await expect(registry.proposals.import(REPORT)).rejects.toMatchObject({ code: 'PROPOSAL_REJECTED' });
});
