import { expect, it } from 'vitest';
import { skill, told } from './checks-of.ts';

const LINES = [
  'Ask before deleting.',
  'Never force push.',
  'Run the tests.',
  'Make a backup.',
  'Stop if the kettle is empty.',
  'Wait for the approval of the user before you publish.',
  'Do not write to the main branch without asking.',
  'Confirm the amount with the customer.',
  'Verify that the file is there.',
];
const OLD = skill(`# Tea\n\n${LINES.map((line) => `- ${line}`).join('\n')}\n- Boil water.\n`);
const warned = (before: string, after: string): Promise<readonly string[]> => told('safeguards', before, after);

it.each([
  ['Ask before deleting.', 'asks or confirms'],
  ['Never force push.', 'forbids'],
  ['Run the tests.', 'tests'],
  ['Make a backup.', 'backs up'],
  ['Stop if the kettle is empty.', 'stops'],
  ['Wait for the approval of the user before you publish.', 'asks or confirms'],
  ['Do not write to the main branch without asking.', 'forbids'],
  ['Confirm the amount with the customer.', 'asks or confirms'],
  ['Verify that the file is there.', 'tests'],
])('warns when a line is gone: %s', async (line, does) => {
  expect(await warned(OLD, OLD.replace(`- ${line}\n`, ''))).toEqual([`warn: A line that ${does} is gone: "${line}"`]);
});

it.each([
  ['Never force push.', 'Force push.'],
  ['Never force push.', 'Always force push.'],
  ['Ask before deleting.', 'Do not ask before deleting.'],
  ['Ask before deleting.', 'Delete without asking.'],
  ['Run the tests.', 'Skip the tests.'],
  ['Make a backup.', 'Make no backup.'],
  ['Run the tests.', 'Never run the tests.'],
])('warns when a line says the opposite: %s -> %s', async (line, other) => {
  expect(await warned(OLD, OLD.replace(line, other))).toHaveLength(1);
});

it('warns of the part of a sentence that is gone, and of a removed file, and not of another line', async () => {
  const both = skill(
    'Run the tests and the linter, push the branch to the remote repository, and ask the user first.\n',
  );
  const part = both.replace(', and ask the user first', '');
  expect(await warned(both, part)).toEqual([
    'warn: A line that asks or confirms is gone: "Run the tests and the linter, push the branch to the remote repository, and ask the user first."',
  ]);
  const file = { path: 'references/guide.md' };
  expect(await told('safeguards', 'Never boil it twice.\n', null, file)).toHaveLength(1);
  expect(await told('safeguards', null, 'Never boil it twice.\n', file)).toEqual([]);
  expect(await warned(OLD, OLD.replace('- Boil water.\n', ''))).toEqual([]);
});

it.each<readonly [string, (text: string) => string]>([
  ['moved', (text) => text.replace('- Never force push.\n', '').concat('\nNever force push.\n')],
  ['numbered', (text) => text.replace(/^- /gm, '1. ')],
  ['in bold', (text) => text.replace('Never force push', '**Never** force `push`')],
  ['wrapped', (text) => text.replace('approval of the user', 'approval\n  of the user')],
  ['joined', (text) => text.replace('deleting.\n- Never', 'deleting. Never')],
  ['in capitals, without full stops', (text) => text.replace('Never force push.', 'NEVER force push')],
  ['with more words', (text) => text.replace('Ask before deleting.', 'Ask the user before deleting any file.')],
  ['with other words', (text) => text.replace('Do not write to', "Don't ever write to")],
  ['with a slip', (text) => text.replace('the approval of the user', 'the aproval of the user')],
  ['with other line ends', (text) => text.replaceAll('\n', '\r\n')],
])('says nothing of lines that are %s', async (_, change) => {
  expect(change(OLD)).not.toBe(OLD);
  expect(await warned(OLD, change(OLD))).toEqual([]);
});

it('says nothing of sentences that only describe', async () => {
  const text = 'The test suite is old.\n\nThe server never sleeps.\n\nThe backup server is blue.\n\nBus stop 4.\n';
  expect(await warned(skill(text), skill('Tea.\n'))).toEqual([]);
});
