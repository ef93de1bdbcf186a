import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startOnTerminal } from '../helpers/run-command.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

const onTerminal = existsSync('/usr/bin/script') ? it : it.skip;
const TEA = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew tea.' }, 'Boil water.') };

async function atPrompt(root: string, state: string) {
  const running = startOnTerminal(['start', '--root', root], { environment: { XDG_STATE_HOME: state } });
  await running.until('Type /help');
  await running.until('> ');
  return running;
}

onTerminal('Ctrl-C clears a line that has text, and leaves on an empty one (needs script(1))', async () => {
  const running = await atPrompt(tempFolder(TEA), tempFolder());
  running.child.stdin?.write('/nonsense');
  await running.until('/nonsense');
  running.child.stdin?.write('\x03');
  await running.until('^C\r\n');
  running.child.stdin?.write('/agents\r');
  await running.until('builder_agent');
  expect(running.stdout()).not.toContain('No command');
  running.child.stdin?.write('\x03');
  expect(await running.exited).toBe(0);
});

onTerminal.each([
  ['Ctrl-C', '\x03'],
  ['Ctrl-D', '\x04'],
])('leaves the cursor at the beginning of a line after %s (needs script(1))', async (_key, byte) => {
  const running = await atPrompt(tempFolder(TEA), tempFolder());
  running.child.stdin?.write(byte);
  await running.exited;
  expect(running.stdout()).toMatch(/> [^\n]*\r?\n$/);
});

onTerminal('has the lines of the start before, in a file that only this user can read (needs script(1))', async () => {
  const [root, state] = [tempFolder(TEA), tempFolder()];
  const first = await atPrompt(root, state);
  first.child.stdin?.write('/agents\r');
  await first.until('builder_agent');
  first.child.stdin?.write(' /secret\r');
  await first.until('No command /secret');
  first.child.stdin?.write('/quit\r');
  await first.exited;
  const file = join(state, 'skill-registry', 'typed-lines');
  expect(readFileSync(file, 'utf8')).toBe('/agents\n/quit\n');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const second = await atPrompt(root, state);
  second.child.stdin?.write('\x1b[A');
  await second.until('/quit');
  second.child.stdin?.write('\x1b[A');
  await second.until('/agents');
  second.child.stdin?.write('\r');
  await second.until('builder_agent');
  second.child.stdin?.write('/quit\r');
  expect(await second.exited).toBe(0);
  expect(existsSync(join(root, 'data', 'skill-registry'))).toBe(false);
});
