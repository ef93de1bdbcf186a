import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { openTrust } from '../../lib/trust/index.ts';
import { runCommand, startOnTerminal } from '../helpers/run-command.ts';
import { scriptedModel } from '../helpers/scripted-model.ts';
import { skillMd, tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';
import { extension } from '../kernel/boot/boot-extensions.ts';

const TEA = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew tea.' }, 'Boil water.') };

it('writes no control character of a path', async () => {
  const parent = tempFolder({
    'a\x1b[2J\nProblems: none\x9b/skills/cup/SKILL.md': skillMd({ name: 'mug', description: 'Cups.' }),
  });
  const root = join(parent, 'a\x1b[2J\nProblems: none\x9b');
  const { stdout, stderr } = await runCommand(['start', '--root', root], { input: '' });
  const shown = join(parent, 'a\\x1b[2J\\nProblems: none\\x9b');
  expect(stdout).toContain(`root ${shown}\n`);
  expect(stdout).toContain(`warning NAME_MISMATCH ${join(shown, 'skills/cup/SKILL.md')}:2`);
  expect(stdout).not.toMatch(/^Problems: none/m);
  expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n\t]/u);
});

const onTerminal = existsSync('/usr/bin/script') ? it : it.skip;

onTerminal('completes ids with the tab key and sees an edit while it runs (needs script(1))', async () => {
  const root = tempFolder(TEA);
  const running = startOnTerminal(['start', '--root', root]);
  await running.until('Type /help');
  await running.until('> ');
  running.child.stdin?.write('/skills:te\t');
  await running.until('/skills:tea');
  running.child.stdin?.write('\u0015/skills\r');
  await running.until('/skills:<id> [args] applies one; /<id> does, too.');
  writeTree(root, { 'skills/kettle/SKILL.md': skillMd({ name: 'kettle', description: 'Boiling things.' }) });
  await waitFor('the edit in the text of a turn', async () => {
    const asked = running.stdout().length;
    running.child.stdin?.write('/context boil\r');
    await waitFor('the text', () => /=== \d+ parts/.test(running.stdout().slice(asked)));
    return running.stdout().includes('• `kettle` — Boiling things.');
  });
  running.child.stdin?.write('/quit\r');
  expect(await running.exited).toBe(0);
});

onTerminal('never lets a skill drive the terminal (needs script(1))', async () => {
  const root = tempFolder({
    'skills/evil/SKILL.md': skillMd(
      { name: 'evil', description: '"\\e[31mred\\a"' },
      'Body \u001b[2J\u001b]0;title\u0007 end',
    ),
  });
  const running = startOnTerminal(['show', 'evil', '--root', root]);
  await running.exited;
  expect(running.stdout()).toContain('Body \\x1b[2J\\x1b]0;title\\x07 end');
  const list = startOnTerminal(['list', '--root', root]);
  await list.exited;
  expect(list.stdout()).toContain('[31mred');
  expect(list.stdout()).not.toContain('\u001b[31m');
  const widest = Math.max(
    ...list
      .stdout()
      .split('\r\n')
      .map((line) => line.length),
  );
  expect(widest).toBeLessThanOrEqual(80);
});

onTerminal('a root that nobody has approved is asked about once by start at a terminal (needs script(1))', async () => {
  const root = tempFolder({ ...TEA, ...extension('mine') });
  const first = startOnTerminal(['start', '--root', root], { trust: false });
  await first.until('Do you trust this root? [y/N]');
  expect(first.stdout()).toContain('1 extension: mine');
  first.child.stdin?.write('y\n');
  await first.until('Type /help');
  expect(first.stdout()).toContain('9 extensions: 7 running, 2 off');
  first.child.stdin?.write('/quit\n');
  await first.exited;
  expect(openTrust().allows('root', root)).toBe(true);
  const second = startOnTerminal(['start', '--root', root], { trust: false });
  await second.until('Type /help');
  expect(second.stdout()).not.toContain('Do you trust');
  second.child.stdin?.write('/quit\n');
  expect(await second.exited).toBe(0);
});

onTerminal('writes what a model says as it arrives, and the tool calls between (needs script(1))', async () => {
  const root = tempFolder(TEA);
  const model = await scriptedModel([
    { call: 'read_skill', args: { skill_id: 'tea' } },
    { text: '# Tea\n\n**Boil** the water, and wait until it sings before you pour.\n\n- \x1b[2Jone\n' },
    { hangAfter: 'Still **here** and **not' },
  ]);
  const running = startOnTerminal(['start', '--root', root], { environment: model.environment }, 40);
  await running.until('> \u001b[3G');
  running.child.stdin?.write('how?\r');
  const shown = [
    '[read_skill {"skill_id":"tea"}]',
    '# Tea',
    '',
    '**Boil** the water, and wait until it sings before you pour.',
    '',
    '- \\x1b[2Jone',
  ];
  await running.until(shown.join('\r\n'));
  running.child.stdin?.write('and?\r');
  await running.until('Still **here** and **not');
  running.child.stdin?.write('\x03');
  await running.until('**not\r\n[cancelled]\r\n');
  running.child.stdin?.write('/quit\r');
  expect(await running.exited).toBe(0);
});

onTerminal(
  'folds what commands of the prompt print, and makes tables as wide as the window (needs script(1))',
  async () => {
    const root = tempFolder({
      'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew tea. '.repeat(20) }),
    });
    for (const columns of [40, 120]) {
      const running = startOnTerminal(['start', '--root', root], {}, columns);
      await running.until('> \u001b[3G');
      running.child.stdin?.write('/skills\r/help\r/quit\r');
      expect(await running.exited).toBe(0);
      const said = stripVTControlCharacters(running.stdout().slice(running.stdout().indexOf('TOKENS')));
      const widths = said.split(/\r*\n/).map((line) => line.length);
      expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
      expect(Math.max(...widths)).toBeGreaterThan(columns - 5);
    }
  },
);

onTerminal(
  'mcp over HTTP says at a terminal what the address is for, and how to end it (needs script(1))',
  async () => {
    const running = startOnTerminal(['mcp', '--http', '0', '--root', tempFolder(TEA)]);
    await running.until('MCP clients connect to this address. Ctrl+C ends it.');
    running.child.stdin?.write('\u0003');
    expect(await running.exited).toBe(0);
    expect(running.stdout()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp\r$/m);
  },
);
