import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inputSchemaOf, runTool } from 'skill-registry/kernel';
import { expect, it } from 'vitest';
import { registryConfig } from '../../extensions/skill_registry/config.ts';
import { EXIT, EXIT_OF_CODE } from '../../lib/command-line/index.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { runCommand } from '../helpers/run-command.ts';
import { skillMd } from '../helpers/temp-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/**
 * What users and hosts lean on: each list stands in a file of `surface/`. A line that changes or goes is a broken promise: it has to be
 * decided, and docs/decisions.md has to say so. `npx vitest run test/compatibility -u` writes the files again.
 */
async function expectAsWritten(name: string, lines: readonly string[]): Promise<void> {
  expect(lines.length).toBeGreaterThan(2);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(join(import.meta.dirname, 'surface', `${name}.txt`));
}

it('gives every name of the exports, with its members, that hosts import', async () => {
  const printed = execFileSync(process.execPath, ['scripts/public-types.mjs'], { cwd: ROOT, encoding: 'utf8' });
  const doors = printed.trimEnd().split('\n\n').slice(0, -1);
  // Nobody leans on the order in a file.
  const sorted = doors.map((door) => {
    const [name = '', ...exported] = door.split('\n');
    return [name, ...exported.map(inOrder).sort()].join('\n');
  });
  await expectAsWritten('exports', sorted.join('\n\n').split('\n'));
});

it('has every command, argument and option that scripts use', async () => {
  await expectAsWritten('commands', await helpOf([]));
});

it('has every config key, with the values that it takes', async () => {
  await expectAsWritten('config', keysOf(registryConfig.schema, ''));
});

it('has every tool, argument and key of a result that models and programs use', async () => {
  await expectAsWritten('tools', await toolLines());
});

it('has every code and exit status that programs compare with', async () => {
  const codes = [...readFileSync(join(ROOT, 'docs/errors.md'), 'utf8').matchAll(/^\| `([A-Z_]+)` \|/gm)];
  const statuses = [...Object.entries(EXIT), ...EXIT_OF_CODE].map(([name, status]) => `exit ${status}: ${name}`);
  await expectAsWritten('codes', [...codes.map(([, code = '']) => code).sort(), ...statuses]);
});

// --- internal ---

/** The members of a name, sorted: features add some of them, in the order in which the compiler reads their files. */
function inOrder(line: string): string {
  const [name = '', members] = line.split(': ');
  return members === undefined ? name : `${name}: ${members.split(', ').sort().join(', ')}`;
}

/** They are in no help, and scripts go on using them. */
const OLDER = ['enable', 'restore', 'trust', 'extensions'];

/** The first line of a command's help, its options, and those of the commands below it. */
async function helpOf(path: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await runCommand([...path, '--help', ...(path.length === 0 ? ['--all'] : [])], { trust: false });
  const usage = /^Usage: (.*)$/m.exec(stdout)?.[1] ?? '';
  const options = [...stdout.matchAll(/^ {2}((?:-\w, )?--[\w-]+(?: [<[][^ ]*[>\]])?)/gm)].map(
    ([, flags]) => `  ${flags}`,
  );
  const [beforeExample = ''] = stdout.split('\nExample:');
  const commands = beforeExample
    .split(/^Commands:$/m)
    .slice(1)
    .join('');
  const names = [...commands.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = '']) => name);
  const below: string[] = [];
  const all = [...names.filter((one) => one !== 'help'), ...(path.length === 0 ? OLDER : [])];
  for (const name of all) below.push(...(await helpOf([...path, name])));
  return [usage, ...options, ...below];
}

interface Schema {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

function keysOf(schema: Schema, path: string): readonly string[] {
  const { type, properties = {}, items, anyOf = [] } = schema;
  const values = schema.enum ? `: ${schema.enum.join(' | ')}` : typeof type === 'string' ? `: ${type}` : '';
  const own = path === '' ? [] : [`${path}${values}`];
  const inner = Object.entries(properties).flatMap(([key, one]) => keysOf(one, path === '' ? key : `${path}.${key}`));
  const others = [...(items ? [items] : []), ...anyOf].flatMap((one) => keysOf(one, `${path}[]`));
  return [...own, ...inner, ...others];
}

/** With the keys of a successful answer, as far as one skill with a file and one proposal show them. */
async function toolLines(): Promise<readonly string[]> {
  const tools = ['list_skills', 'read_skill', 'read_skill_resource', 'propose_skill_update', 'list_proposals'];
  const others = ['load_skill', 'create_skill', 'skill', 'skill__activate', 'skill__read_resource'];
  const tree = {
    'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews tea.' }),
    'skills/tea/leaves.md': 'Green.',
  };
  const { registry } = await openRegistry(tree, { tools: [...tools, ...others] });
  const all = registry.tools();
  const lines: string[] = [];
  for (const tool of all) {
    const { properties = {}, required = [] } = inputSchemaOf(tool) as Schema & {
      readonly required?: readonly string[];
    };
    const given = CALLS[tool.name];
    const result = await runTool(tool, given, { turn: { agentId: 'brewer' }, signal: AbortSignal.timeout(60_000) });
    expect(result, `${tool.name} answers ${JSON.stringify(result)}`).toMatchObject({ success: true });
    const args = Object.keys(properties).map((name) => `  ${name}${required.includes(name) ? '' : '?'}`);
    lines.push(
      tool.name,
      ...args,
      ...Object.keys(result)
        .map((key) => `  -> ${key}`)
        .sort(),
    );
  }
  return lines;
}

const CALLS: Readonly<Record<string, object>> = {
  list_skills: { query: 'tea' },
  read_skill: { skill_id: 'tea' },
  read_skill_resource: { skill_id: 'tea', path: 'leaves.md' },
  propose_skill_update: {
    skill_id: 'tea',
    content: 'Green and black.',
    path: 'leaves.md',
    justification: 'There are two.',
  },
  list_proposals: {},
  load_skill: { name: 'tea' },
  create_skill: { skill_id: 'milk', description: 'Warms milk.', body: 'Slowly.', justification: 'For tea.' },
  skill: { action: 'view', name: 'tea' },
  skill__activate: { name: 'tea' },
  skill__read_resource: { skill_name: 'tea', path: 'leaves.md' },
};
