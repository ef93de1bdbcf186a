import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { type RunningCommand, startOnTerminal } from '../helpers/run-command.ts';
import { LONGER, TEA, teaRegistry } from '../helpers/tea.ts';
import { waitFor } from '../helpers/wait-for.ts';

const SHORTER = TEA.replace('two minutes', 'one minute');

/** Two proposals for a skill, and the walk through them on a terminal of this width. */
async function reviewing(environment: Readonly<Record<string, string>> = {}, columns = 80) {
  const { root, registry } = await teaRegistry();
  const justification = 'Bitter after three, weak after two, and every guest has said so at least once. '.repeat(5);
  const propose = async (content: string): Promise<string> =>
    (await registry.proposals.propose({ skillId: 'tea', content, justification, author: 'agent:brewer' })).proposalId;
  const [first, second] = [await propose(LONGER), await propose(SHORTER)];
  const running = startOnTerminal(
    ['proposals', 'review', '--root', root],
    { environment: { USER: 'ada', VISUAL: '', NO_COLOR: '', ...environment } },
    columns,
  );
  await running.until(`${first}`);
  await running.until('[y/n/e/s/q/?]');
  const tea = (): string => readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8');
  return { registry, running, first, second, tea };
}

const type = ({ child }: RunningCommand, text: string): boolean => child.stdin?.write(text) ?? false;

it('walks through what waits at a real terminal, in colour (needs script(1))', async () => {
  const { registry, running, first, second, tea } = await reviewing();
  expect(running.stdout()).toContain('\u001b[32m+Steep for three minutes.\u001b[39m');
  expect(running.stdout()).toContain('\u001b[31m-Steep for two minutes.\u001b[39m');
  type(running, 'n\r');
  await running.until('Why is it rejected?');
  type(running, 'Too long.\r');
  await running.until(`Rejected ${first}`);
  await running.until('+Steep for one minute.');
  await running.until('2 of 2');
  await running.until(`${second}. Approve it?`);
  type(running, 'y\r');
  expect(await running.exited).toBe(0);
  // Words are folded at the width of the terminal.
  const words = running.stdout().replace(/\s+/g, ' ');
  expect(words).toContain(`Decided: approved tea (${second}); rejected tea (${first}). Nothing waits.`);
  expect(tea()).toBe(SHORTER);
  expect(await registry.proposals.get(first)).toMatchObject({ decision: { by: 'person:ada', reason: 'Too long.' } });
});

it('takes no answer that was typed before the question, in no colour where none is wanted (needs script(1))', async () => {
  const { running, second, registry } = await reviewing({ NO_COLOR: '1' });
  expect(['31', '32', '33'].filter((colour) => running.stdout().includes(`\u001b[${colour}m`))).toEqual([]);
  // Both lines are there when the second proposal has not been shown yet.
  type(running, 's\ry\r');
  await running.until(`${second}. Approve it?`);
  type(running, 'q\r');
  expect(await running.exited).toBe(0);
  expect(running.stdout()).toContain('Decided: nothing. 2 still wait.');
  expect(await registry.proposals.list('open')).toHaveLength(2);
});

it.each(['\x03', '\x04'])('leaves without a decision by %j (needs script(1))', async (key) => {
  const { running, registry, tea } = await reviewing();
  type(running, key);
  expect(await running.exited).not.toBe(0);
  expect(tea()).toBe(TEA);
  expect(await registry.proposals.list('open')).toHaveLength(2);
});

it('hands the terminal to the editor and takes it back (needs script(1))', async () => {
  const { running, first, tea } = await reviewing({
    EDITOR: 'printf "Editing\\n"; read answer; sed -i s/three/seven/',
  });
  type(running, 'e\r');
  await running.until('Editing');
  type(running, 'saved\r');
  await running.until(`Edited ${first}`);
  await waitFor('the question about the new text', () =>
    running.stdout().split('+Steep for seven minutes.')[1]?.includes(`${first}. Approve it?`),
  );
  type(running, 'y\r');
  await running.until(`Approved ${first}`);
  expect(tea()).toBe(LONGER.replace('three', 'seven'));
  await running.until(`[n/e/s/q/?]`);
  type(running, 'q\r');
  await running.exited;
});

it.each([60, 160])('wraps words at %i columns (needs script(1))', async (columns) => {
  const { running } = await reviewing({}, columns);
  const lines = stripVTControlCharacters(running.stdout()).split(/\r?\n/);
  const words = lines.filter((line) => /^ {2}\S/.test(line));
  expect(Math.max(...words.map((line) => stringWidth(line)))).toBeLessThanOrEqual(columns);
  expect(Math.max(...words.map((line) => stringWidth(line)))).toBeGreaterThan(columns - 20);
  expect(lines.find((line) => line.startsWith('── 1 of 2 '))?.length).toBe(Math.min(columns, 80));
});
