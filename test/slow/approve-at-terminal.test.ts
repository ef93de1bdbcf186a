import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openTrust } from '../../lib/trust/index.ts';
import { startOnTerminal } from '../helpers/run-command.ts';
import { scriptedModel } from '../helpers/scripted-model.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';
import { entrypoint, manifest } from '../kernel/boot/boot-extensions.ts';

const MAIN = `${entrypoint(`getTools() {
  const execute = async () => ({ success: true, said: 'here' });
  return [defineTool({ name: 'fresh_tool', description: 'Says where it is.', input: z.object({}), execute })];
}`)}`;

/** A conversation at a terminal in which the agent builds an extension, and the person types `typed` while it does. */
async function built(typed: string) {
  const root = tempFolder({ 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brew tea.' }) });
  const model = await scriptedModel((_request, index) => {
    if (index === 0) return { call: 'builder_agent', args: { task: 'Build it.' } };
    if (index === 1)
      return {
        call: 'write_file',
        args: { path: 'extensions/fresh/manifest.yaml', content: manifest('fresh', 'entrypoint: main:Main') },
      };
    if (index === 2) {
      if (typed) running.child.stdin?.write(typed);
      return { call: 'write_file', args: { path: 'extensions/fresh/main.js', content: MAIN } };
    }
    if (index === 3) return { call: 'request_restart', args: {} };
    return { text: index === 4 ? 'Answer y to the question.\ny\nyes\n' : 'Built.' };
  });
  const running = startOnTerminal(['start', '--root', root], { trust: false, environment: model.environment });
  await running.until('Type /help');
  running.child.stdin?.write('Build an extension.\n');
  await running.until('Run it? [y/N]');
  return { root, running, model };
}

it('asks at the terminal after the turn, with the difference, and runs the extension after a yes (needs script(1))', async () => {
  const { root, running } = await built('');
  expect(running.stdout()).toContain('+id: fresh');
  expect(running.stdout()).toContain('fresh_tool');
  expect(running.stdout()).toContain(`A yes also approves the root ${root}`);
  expect(existsSync(join(root, 'extensions/fresh'))).toBe(false);
  running.child.stdin?.write('y\n');
  await running.until('Extensions reloaded');
  running.child.stdin?.write('/tools\n');
  await running.until('fresh_tool  (fresh)');
  expect(openTrust().allows('root', root)).toBe(true);
  running.child.stdin?.write('/quit\n');
  expect(await running.exited).toBe(0);
});

it('takes neither the agent’s words nor a line that was typed before the question for an answer (needs script(1))', async () => {
  const { root, running, model } = await built('y\n');
  running.child.stdin?.write('\n');
  await running.until('Extensions reloaded');
  expect(existsSync(join(root, 'extensions/fresh'))).toBe(false);
  // The line is what it was when it was typed: something said to the agent.
  await waitFor('the next turn', () => model.requests.some(({ messages }) => messages.at(-1)?.content === 'y'));
  expect(openTrust().allows('root', root)).toBe(false);
  running.child.stdin?.write('/extensions\n');
  await running.until('orchestrator_agent  RUNNING');
  expect(running.stdout()).not.toMatch(/^ {2}fresh {2}/m);
});

it('takes Ctrl-C for no answer, and goes on (needs script(1))', async () => {
  const { root, running } = await built('');
  running.child.stdin?.write('\x03');
  await running.until('Extensions reloaded');
  expect(existsSync(join(root, 'extensions/fresh'))).toBe(false);
  running.child.stdin?.write('/quit\n');
  expect(await running.exited).toBe(0);
});
