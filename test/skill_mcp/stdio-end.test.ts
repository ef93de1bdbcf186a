import { PassThrough } from 'node:stream';
import { defineSource } from 'skill-registry';
import { createSkillMcpDoor } from 'skill-registry/mcp';
import { expect, it, onTestFinished, vi } from 'vitest';
import { serveStreams } from '../../extensions/skill_mcp/stdio.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { skillMd } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';

const TEA = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews tea.' }, 'Boil water. '.repeat(3000)) };

interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A door over streams of our own. */
async function wire() {
  const { registry } = await openRegistry(TEA);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const answers: Answer[] = [];
  let text = '';
  output.on('data', (data) => {
    const lines = (text + String(data)).split('\n');
    text = lines.pop() ?? '';
    answers.push(...lines.map((line) => JSON.parse(line) as Answer));
  });
  let isOver = false;
  const served = serveStreams(createSkillMcpDoor(registry), new AbortController().signal, { input, output });
  void served.then(() => {
    isOver = true;
  });
  onTestFinished(() => void input.end());
  return { registry, input, output, answers, served, isOver: () => isOver };
}

const call = (id: unknown, name: string, args: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
const ids = (answers: readonly Answer[]): readonly unknown[] => answers.map(({ id }) => id).sort();

it('gives every request an answer or an error when the input ends', async () => {
  const { registry, input, answers, served } = await wire();
  let isSlow = false;
  const asked: (() => void)[] = [];
  const skills = async () => {
    if (isSlow) await new Promise<void>((resolve) => void asked.push(resolve));
    return [];
  };
  await registry.addSource(defineSource({ id: 'slow', skills }));
  const { setTimeout: later } = globalThis;
  // The limit for what waits when the input ends comes at once.
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms?: number) =>
    later(run, ms === 30_000 ? 0 : ms)) as typeof setTimeout);
  onTestFinished(() => void vi.restoreAllMocks());
  input.write(`${call('read', 'read_skill', { skill_id: 'tea' })}\n`);
  await waitFor('the answer to the first', () => answers.length === 1);
  // Both look at every source first, and one of them does not answer.
  isSlow = true;
  for (const id of [7, 'eight']) input.write(`${call(id, 'list_skills', {})}\n`);
  await waitFor('the scan that does not end', () => asked.length > 0);
  input.end();
  await served;
  isSlow = false;
  for (const answer of asked) answer();
  expect(ids(answers)).toEqual([7, 'eight', 'read']);
  for (const { id, error } of answers)
    expect(error?.message ?? '').toMatch(id === 'read' ? /^$/ : /not answered within 30 seconds\. Keep the input open/);
});

it('answers a last message without the end of its line, and one that was cut with an error', async () => {
  const whole = await wire();
  whole.input.end(call(1, 'read_skill', { skill_id: 'tea' }));
  await whole.served;
  expect(whole.answers).toMatchObject([{ id: 1, result: {} }]);
  const cut = await wire();
  cut.input.end(call(1, 'read_skill', { skill_id: 'tea' }).slice(0, -5));
  await cut.served;
  expect(cut.answers).toMatchObject([{ id: null, error: { code: -32700 } }]);
});

it('is over when a slow reader has taken every answer, not before', async () => {
  const { input, output, answers, served, isOver } = await wire();
  output.pause();
  for (let id = 0; id < 10; id++) input.write(`${call(id, 'read_skill', { skill_id: 'tea' })}\n`);
  input.end();
  await waitFor('ten answers that wait', () => output.readableLength + output.writableLength > 10 * 36_000);
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  expect(isOver()).toBe(false);
  output.resume();
  await served;
  expect(ids(answers)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});
