import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createSkillMcpDoor } from 'skill-registry/mcp';
import { expect, it, onTestFinished, vi } from 'vitest';
import { serveStreams } from '../../../extensions/skill_mcp/stdio.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, writeTree } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';
import { warningsOfProcess } from '../../helpers/warnings.ts';

const TEA = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews tea.' }, 'Boil water. '.repeat(3000)) };
const LIMIT = 10 * 1024 * 1024;
const FILLER = 'x'.repeat(LIMIT);

interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

interface Wire {
  readonly input: PassThrough;
  readonly output: PassThrough;
  /** So far, oldest first. */
  readonly answers: readonly Answer[];
  readonly errors: readonly string[];
  readonly served: Promise<void>;
  send(...lines: (string | Uint8Array)[]): void;
}

/** A door over streams of our own. */
async function wire(signal: AbortSignal = new AbortController().signal): Promise<Wire> {
  const { registry } = await openRegistry(TEA);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const answers: Answer[] = [];
  const errors: string[] = [];
  let text = '';
  output.on('data', (data) => {
    const lines = (text + String(data)).split('\n');
    text = lines.pop() ?? '';
    answers.push(...lines.map((line) => JSON.parse(line) as Answer));
  });
  const door = createSkillMcpDoor(registry);
  const served = serveStreams(door, signal, { input, output, onError: ({ message }) => void errors.push(message) });
  onTestFinished(() => void input.end());
  const send = (...lines: (string | Uint8Array)[]): void => {
    for (const line of lines) {
      input.write(line);
      input.write('\n');
    }
  };
  return { input, output, answers, errors, served, send };
}

const ping = (id: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });
const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1');

const BAD_LINES: readonly (readonly [what: string, line: string | Uint8Array, id: unknown, code: number])[] = [
  ['no JSON', 'hello', null, -32700],
  ['half a message', '{"jsonrpc":"2.0","id":5,"method":"pi', null, -32700],
  ['a list', `[${ping(5)}]`, null, -32600],
  ['null', 'null', null, -32600],
  ['no message', '{"jsonrpc":"2.0","id":"five","method":5}', 'five', -32600],
  ['no UTF-8', latin('{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":"\xe4"}}'), 5, -32700],
  ['a long line, its id last', `{"method":"ping","params":{"id":1,"a":"${FILLER}"},"jsonrpc":"2.0","id":5}`, 5, -32600],
  ['a long line, its id first', `{"id":"a\\"b","method":"ping","params":["\\\\","${FILLER}"]}`, 'a"b', -32600],
  ['a long line without an id', `{"method":"ping","params":{"id":1,"a":"${FILLER}"}}`, null, -32600],
  ['a long line that is no JSON', `${FILLER}x`, null, -32600],
];

it.each(BAD_LINES)('answers %s with an error under its id, and goes on', async (_, line, id, code) => {
  const { send, answers, errors } = await wire();
  send(ping('before'), line, '', ping('after'));
  await waitFor('three answers', () => answers.length === 3, 10_000);
  const [refused, ...others] = [...answers].sort((a, b) => Number(Boolean(b.error)) - Number(Boolean(a.error)));
  expect(refused).toMatchObject({ id, error: { code } });
  expect(others).toMatchObject([
    { id: 'before', result: {} },
    { id: 'after', result: {} },
  ]);
  expect(errors).toEqual([expect.stringContaining(refused?.error?.message ?? '?')]);
});

it('does not answer what answers: two that do not understand each other would never end', async () => {
  const { send, answers, errors } = await wire();
  send(
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"What?"}}',
    `{"jsonrpc":"2.0","id":1,"result":"${FILLER}"}`,
    ping(2),
  );
  await waitFor('the answer', () => answers.length > 0, 10_000);
  expect(answers).toMatchObject([{ id: 2, result: {} }]);
  expect(errors).toHaveLength(2);
});

it('keeps nothing of a line that does not end, and says so when the input ends in it', async () => {
  const { input, errors, served } = await wire();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 6; count++) {
    input.write(Buffer.alloc(LIMIT, 'x'));
    await waitFor('the reader', () => input.readableLength === 0);
  }
  // What is not reachable is given back some time after a collection.
  await waitFor('the memory', () => {
    collect();
    return process.memoryUsage().arrayBuffers - before < 2 * LIMIT;
  });
  input.end();
  await served;
  expect(errors).toEqual(['Standard input ended in the middle of a line, which was not used.']);
});

it('reads no further while its answers are not taken, and listens to the output once', async () => {
  const warnings = warningsOfProcess();
  const { send, input, output, answers } = await wire();
  const call = (id: number): string =>
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'read_skill', arguments: { skill_id: 'tea' } },
    });
  output.pause();
  for (let id = 0; id < 100; id++) send(call(id));
  await waitFor('the input to be left alone', () => input.isPaused());
  output.resume();
  await waitFor('all answers', () => answers.length === 100, 10_000);
  expect(warnings).toEqual([]);
});

it('answers what was asked before the input ended, and does not wait for a subscription', async () => {
  const { send, input, answers, served } = await wire();
  const read = { name: 'read_skill', arguments: { skill_id: 'tea' } };
  for (const id of [1, 2]) send(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: read }));
  input.end();
  await served;
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2]);
  const listening = await wire();
  const of = (key: string): string => `io.modelcontextprotocol/${key}`;
  const era = { [of('protocolVersion')]: '2026-07-28', [of('clientCapabilities')]: {} };
  const params = { notifications: { toolsListChanged: true }, _meta: era };
  listening.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }));
  const acknowledged = { method: 'notifications/subscriptions/acknowledged' };
  await waitFor('the subscription', () => listening.answers.length > 0);
  expect(listening.answers).toMatchObject([acknowledged]);
  // The limit for what waits never comes: waiting for the subscription would not end.
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
  onTestFinished(() => void vi.restoreAllMocks());
  listening.input.end();
  await listening.served;
});

it('serves a dozen clients under one signal without a warning of Node, and ends with it', async () => {
  const warnings = warningsOfProcess();
  const stop = new AbortController();
  const wires = await Promise.all(Array.from({ length: 12 }, () => wire(stop.signal)));
  for (const { send } of wires) send(ping(1));
  await waitFor('the answers', () => wires.every(({ answers }) => answers.length === 1));
  stop.abort();
  await Promise.all(wires.map(({ served }) => served));
  for (const { input } of wires) expect(input.listenerCount('data')).toBe(0);
  expect(warnings).toEqual([]);
});

it('goes on when what a host has handed in throws, and says so among its problems', async () => {
  const { registry, root } = await openRegistry({
    ...TEA,
    'skills/mug/SKILL.md': skillMd({ name: 'cup', description: 'Holds tea.' }),
  });
  const fail = (name: string): never => {
    throw new Error(`${name} is broken`);
  };
  const door = createSkillMcpDoor(registry, { onProblem: () => fail('onProblem') });
  const heard: unknown[] = [];
  door.onListChanged(() => fail('onListChanged'));
  door.onListChanged((change) => heard.push(change));
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = serveStreams(door, new AbortController().signal, { input, output, onError: () => fail('onError') });
  input.write(`hello\n${ping(1)}\n`);
  await waitFor('both answers', () => String(output.read() ?? '').includes('"id":1'));
  writeTree(root, { 'skills/kettle/SKILL.md': skillMd({ name: 'kettle', description: 'Boils.' }) });
  await registry.refresh();
  input.end();
  await served;
  expect(heard).toEqual([{ resources: true, prompts: true }]);
  const hooks = async (): Promise<readonly unknown[]> =>
    (await door.problems()).filter(({ code }) => code === 'HOOK_FAILED').map(({ details }) => details?.hook);
  await waitFor('the third', async () => (await hooks()).length === 3);
  expect([...(await hooks())].sort()).toEqual(['onError', 'onListChanged', 'onProblem']);
  expect(registry.problems().filter(({ code }) => code === 'HOOK_FAILED')).toEqual([]);
});
