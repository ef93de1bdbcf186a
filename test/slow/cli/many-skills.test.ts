import { expect, it } from 'vitest';
import { runCli } from '../../../cli/run-cli.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { skillMd, tempFolder, writeTree } from '../../helpers/temp-folder.ts';

/** 250 skills: more than are counted at once. The last one needs a program that nobody has. */
function manySkills(): string {
  const gate = '{ openclaw: { requires: { bins: [no-such-program] } } }';
  const skills = Array.from({ length: 250 }, (_, n) => {
    const name = `skill-${String(n).padStart(3, '0')}`;
    const more = n === 249 ? { metadata: gate } : {};
    return [
      `skills/${name}/SKILL.md`,
      skillMd({ name, description: 'Does one thing well.', ...more }, 'Do it.'.repeat(40)),
    ];
  });
  return tempFolder(Object.fromEntries(skills));
}

async function onTerminal(args: readonly string[], root: string, columns = 100): Promise<string> {
  let text = '';
  await runCli([...args, '--trust', '--root', root], {
    cwd: root,
    environment: { ...process.env, NO_COLOR: '1' },
    terminal: true,
    columns,
    progress: false,
    input: async () => new Uint8Array(),
    out: (data) => {
      text += Buffer.from(data).toString();
    },
    err: (words) => {
      text += words;
    },
  });
  return text;
}

it('lists of many skills at a terminal the first rows, what agents do not see, and totals', async () => {
  const root = manySkills();
  // Inspects all of them, however busy the machine is.
  await runCommand(['doctor'], { cwd: root });
  const text = await onTerminal(['list'], root);
  const lines = text.trimEnd().split('\n');
  expect(lines).toContain('250 skills; 1 problem, see skill-registry doctor');
  expect(text).toContain('Agents do not see skill-249: it needs the program no-such-program\n');
  expect(lines.filter((line) => /^skill-\d+ +\d+ +\d+/.test(line))).toHaveLength(20);
  expect(lines.filter((line) => /^230 more: .*list --all/.test(line))).toHaveLength(1);
});

it('prints every row into a pipe, estimates tokens until they are counted, and gives no estimate as JSON', async () => {
  const root = manySkills();
  const run = (...args: string[]) => runCommand([...args, '--root', root], { cwd: root });
  const piped = await run('list');
  expect(piped.stdout.split('\n').filter((line) => line.startsWith('skill-'))).toHaveLength(250);
  expect(piped.stdout).toMatch(/^skill-000 +~8 +~\d+ +skills/m);
  const tokens = async () => JSON.parse((await run('list', '--json')).stdout).skills[0].tokens;
  expect(await tokens()).toEqual({ l1: null, l2: null });
  await run('doctor');
  expect(await tokens()).toEqual({ l1: expect.any(Number), l2: expect.any(Number) });
  expect((await run('list')).stdout).toMatch(/^skill-000 +\d+ +\d+ +skills/m);
});

it('greets with totals and the first skills, and counts problems by code', async () => {
  const wrong = Array.from({ length: 80 }, (_, n) => [`skills/tea-${n}/SKILL.md`, skillMd({ description: 'Tea.' })]);
  const root = tempFolder(Object.fromEntries(wrong));
  const { stdout } = await runCommand(['start', '--root', root], { input: '' });
  expect(stdout).toMatch(/^skill-registry: 80 skills/);
  expect(stdout.match(/^tea-\d+ /gm)).toHaveLength(20);
  expect(stdout).toContain('... 60 more: /skills <words> finds them\n');
  expect(stdout).toContain('Problems (80):\n  warning NAME_MISSING (80)\n  skill-registry doctor prints them');
});

it('prints what only a start finds, however many problems there are beside it, and says in which file each manifest is wrong', async () => {
  const broken = Array.from({ length: 25 }, (_, n) => [
    `extensions/b${n}/manifest.yaml`,
    'id: b\nname: B\nversion: 1.0\n',
  ]);
  const members = 'async initialize() {} async stop() {} async destroy() {} healthCheck() { return true; }';
  const root = tempFolder({
    ...Object.fromEntries(broken),
    'extensions/late/manifest.yaml': 'id: late\nname: Late\nversion: 1.0.0\nentrypoint: main:Late\n',
    'extensions/late/main.js': `export class Late { ${members} async start() { throw new Error('the port is taken'); } }`,
  });
  const { stdout } = await runCommand(['start', '--root', root], { input: '' });
  expect(stdout).toContain('error MANIFEST_FIELD_INVALID (');
  expect(stdout).toMatch(
    /error EXTENSION_START_FAILED .*late.manifest\.yaml\n {4}Extension "late" failed to start: the port is taken\./,
  );
  const { stderr } = await runCommand(['extensions', 'list', '--root', root]);
  expect(stderr).toContain(`error: ${root}/extensions/b0/manifest.yaml:3: Field "version": expected a text`);
});

it('has a column of sources at a terminal where there are several, and always in a pipe', async () => {
  const root = tempFolder({
    'one/tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew tea.' }),
    'two/cup/SKILL.md': skillMd({ name: 'cup', description: 'How to wash cups.' }),
  });
  const list = (...folders: string[]) => folders.flatMap((folder) => ['--skills', folder]);
  expect(await onTerminal(['list', ...list('one', 'two')], root)).toMatch(/^SKILL +LINE +BODY +SOURCE +DESCRIPTION\n/);
  expect(await onTerminal(['list', ...list('one')], root)).toMatch(
    /^SKILL +LINE +BODY +DESCRIPTION\ntea +\d+ +\d+ +How/,
  );
  expect(await onTerminal(['search', 'brew tea', ...list('one')], root)).toMatch(/^SKILL +SCORE +WHY\ntea +\d/);
  const { stdout } = await runCommand(['list', ...list('one'), '--root', root], { cwd: root });
  expect(stdout).toMatch(/^SKILL +LINE +BODY +SOURCE +LOOKS HERE +DESCRIPTION\n/);
});

it('says how many skills have an id that another one has, so that totals add up', async () => {
  const root = tempFolder({
    'skills/a/tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew tea.' }),
    'skills/b/tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew green tea.' }),
  });
  for (const command of ['list', 'doctor'])
    expect(await onTerminal([command], root)).toContain('1 skill; 1 more, whose id another skill has');
});

it('names at a terminal only what is wrong among many skills that it validates, and all of them in a pipe', async () => {
  const root = manySkills();
  writeTree(root, { 'skills/bad/SKILL.md': 'No frontmatter.\n' });
  const text = await onTerminal(['validate', 'skills'], root);
  // One has a warning, and is named with it.
  expect(text.match(/^Valid skill: .*/gm)).toEqual(['Valid skill: skills/skill-249']);
  expect(text).toMatch(/^Validation failed for skills\/bad:\n[\s\S]*\n251 skills: 250 valid \(.*\), 1 not valid; /);
  const { stdout } = await runCommand(['validate', 'skills'], { cwd: root });
  expect(stdout.match(/^Valid skill: /gm)).toHaveLength(250);
});
