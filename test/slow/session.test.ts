import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { createSkillRegistry } from '../../extensions/skill_registry/index.ts';
import { skillMd, writeTree } from '../helpers/temp-folder.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');
const WIDTHS = [60, 100, 160];
/** As many characters as the real root has, because texts are folded and cut at the width. */
const SHOWN_ROOT = '/home/ada/places/tea-house';

const HEAD = `# What the commands print

Recorded at a terminal of ${WIDTHS.join(', ')} columns, in a folder with six skills, one broken extension and two proposals. Times, ids and the folder are
replaced. A slow test compares this page with what the commands print, and with \`-u\` it writes the page:
\`npx vitest run --config vitest.slow.config.ts test/slow/session.test.ts -u\`.
`;

const COMMANDS: readonly (readonly [line: string, typed?: readonly string[]])[] = [
  ['list'],
  ['doctor'],
  ['validate skills'],
  ['search "tests that fail now and then"'],
  ['proposals'],
  ['start', ['/skills thirsty', '/quit']],
];

const SKILLS = {
  'brew-tea': 'Brew a pot of tea. Use when somebody is thirsty, or asks for something hot to drink.',
  'flaky-tests':
    'Find out why tests fail now and then, and mend them. Use when a build is red without a change of the code.',
  'release-notes': 'Write release notes from commits. Use before a version is published.',
  'plan-a-trip': 'Plan a trip by train: times, seats, hotels. Use when somebody wants to travel.',
};

async function seeded(): Promise<string> {
  const root = mkdtempSync('/tmp/skill-registry-');
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const skills = Object.entries(SKILLS).map(([name, description]) => [
    `skills/${name}/SKILL.md`,
    skillMd({ name, description }, `# ${name}\n\nDo it with care.\n`),
  ]);
  writeTree(root, {
    ...Object.fromEntries(skills),
    'skills/meeting-notes/SKILL.md': skillMd({
      name: 'Meeting-Notes',
      description: 'Write down what was decided: and by whom.',
    }),
    'skills/translate/SKILL.md': '---\nname: translate\ndescription: Translate a text.\n\n# Translate\n',
    'extensions/clock/manifest.yaml':
      'id: clock\nname: Clock\nversion: 1.0.0\ndescription: Tells the time.\nentrypoint: main:Clock\n',
    'data/skill_registry/config.yaml': 'sources: [{ path: skills }]\n',
  });
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
  const propose = (skillId: keyof typeof SKILLS, line: string, justification: string) =>
    registry.proposals.propose({
      ...{ skillId, justification, author: 'agent:brewer' },
      content: skillMd({ name: skillId, description: SKILLS[skillId] }, `# ${skillId}\n\n${line}\n`),
    });
  await propose('brew-tea', 'Warm the pot first.', 'Three guests have said that the tea was cold.');
  // They are listed by their time.
  await setTimeout(20);
  await propose('flaky-tests', 'Look at the clock first.', 'Most of these tests depend on the time.');
  await registry.close();
  return root;
}

/** What a person sees: the text of a pseudo-terminal, with lines typed when there is a prompt. */
async function recorded(root: string, line: string, columns: number, typed: readonly string[] = []): Promise<string> {
  const [name, ...rest] = line.split(' ');
  const command = `stty cols ${columns}; cd ${root}; exec ${process.execPath} ${MAIN} ${name} --trust ${rest.join(' ')}`;
  const state = { XDG_STATE_HOME: `${root}/.state`, XDG_CACHE_HOME: `${root}/.cache` };
  const none = { MODEL_BASE_URL: '', MODEL_NAME: '', MODEL_API_KEY: '' };
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...process.env, ...state, ...none, TERM: 'xterm', NO_COLOR: '1' },
  });
  let text = '';
  const lines = [...typed];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    // Node ends a prompt by moving the cursor behind it.
    if (text.endsWith('> \u001b[3G')) child.stdin.write(`${lines.shift() ?? '/quit'}\r`);
  });
  await new Promise((resolve) => child.once('close', resolve));
  return withoutChance(stripVTControlCharacters(withoutCleared(text)).replaceAll('\r', ''), root).trimEnd();
}

/** How far work is stands in a line that is cleared: only where the machine is busy. */
function withoutCleared(text: string): string {
  const [last = '', ...before] = text.split('\r\u001b[K').reverse();
  return [...before.reverse().map((part) => part.slice(0, part.lastIndexOf('\n') + 1)), last].join('');
}

const ID = '-20260102T030405Z-0a1b2c';
const TIME = '2026-01-02 03:04';

/** Ids and times may have been cut. What is said of work that takes long depends on the machine. */
function withoutChance(text: string, root: string): string {
  return (
    text
      .replaceAll(root, SHOWN_ROOT)
      .replace(/^[A-Z][a-z ]+ \.\.\.\n/gm, '')
      .replace(/-20\d{6}T\d{6}Z-[0-9a-f]{6}/g, ID)
      // In a table of proposals.
      .replace(/^[0-9a-f]{6}(?= {2,}(?:open|stale) )/gm, ID.slice(-6))
      .replace(/-20[\dTZ]+(?:-[0-9a-f]*)?(?=…)/g, (cut) => ID.slice(0, cut.length))
      .replace(/\b20\d\d-\d\d-\d\d \d\d:\d\d/g, TIME)
      .replace(/\b20\d\d-[\d-]*(?: [\d:]*)?(?=…)/g, (cut) => TIME.slice(0, cut.length))
  );
}

const onTerminal = existsSync('/usr/bin/script') ? it : it.skip;

onTerminal('session.md has what the commands print today (needs script(1))', { timeout: 180_000 }, async () => {
  const root = await seeded();
  expect(root).toHaveLength(SHOWN_ROOT.length);
  const sections: string[] = [];
  for (const [line, typed] of COMMANDS) {
    sections.push(`\n## \`skill-registry ${line}\`\n`);
    for (const columns of WIDTHS)
      sections.push(`\n${columns} columns:\n\n\`\`\`\n${await recorded(root, line, columns, typed)}\n\`\`\`\n`);
  }
  await expect(`${HEAD}${sections.join('')}`).toMatchFileSnapshot('session.md');
});
