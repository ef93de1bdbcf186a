import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { describe, expect, it } from 'vitest';
import { exchangeAtEachOpening } from '../../helpers/exchange.ts';
import { attack } from '../../helpers/held.ts';
import { httpClient, serveRegistry } from '../../helpers/mcp.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd, writeTree } from '../../helpers/temp-folder.ts';
import { workspace } from '../../helpers/workspace.ts';

const SKILL = { name: 'tea', description: 'Brews tea.' };
const GOOD = skillMd(SKILL, 'Good body.');
const HELD = skillMd(SKILL, `Good body. MARKED\n\n${attack(21)}`);
const GOOD_FILE = 'Good file.';
const HELD_FILE = `Good file. MARKED\n\n${attack(22)}`;
const TREE = { 'skills/tea/SKILL.md': GOOD, 'skills/tea/times.md': GOOD_FILE };
const TURN = { agentId: 'helper', threadId: 't' };
const ROUNDS = 6;

type Door = (registry: SkillRegistry) => Promise<unknown>;
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

const BODY_DOORS: [name: string, door: Door, config?: Readonly<Record<string, unknown>>][] = [
  ['read', (registry) => registry.read('tea', {}, TURN)],
  ['read, raw', (registry) => registry.read('tea', { view: 'raw' }, TURN)],
  ['read for a binding', (registry) => registry.read('tea', { audience: 'binding' })],
  ['readBytes', async ({ admin }) => text(await admin.readBytes('tea', {}, TURN))],
  [
    'readBytes of SKILL.md by its path',
    async ({ admin }) => text(await admin.readBytes('tea', { path: 'SKILL.md' }, TURN)),
  ],
  ['an error of a proposal', (registry) => runRegistryTool(registry, 'propose_skill_update', EDIT, TURN)],
  ['apply', (registry) => registry.apply('tea', '', TURN)],
  ['the prompt of a role', (registry) => registry.admin.resolveRolePrompt('tea')],
  [
    'the context of a preloaded skill',
    (registry) => registry.context('Brew tea.', TURN),
    { sources: [{ path: 'skills', preload: true }] },
  ],
  ['the context with bodies', (registry) => registry.context('Brew tea.', TURN), { inject: 'bodies' }],
];

const FILE_DOORS: readonly (readonly [string, Door])[] = [
  ['readResource', (registry) => registry.readResource('tea', 'times.md', TURN)],
  ['readBytes', async ({ admin }) => text(await admin.readBytes('tea', { path: 'times.md' }, TURN))],
];

/** An edit of a text that is not there is answered with a line that is. */
const EDIT = { skill_id: 'tea', old_string: 'Good bodi.', new_string: 'x', justification: 'y' };

it.each([
  ['read', 'SKILL.md', (registry: SkillRegistry) => registry.read('tea')],
  ['readResource', 'times.md', (registry: SkillRegistry) => registry.readResource('tea', 'times.md')],
  [
    'readBytes',
    'times.md',
    async ({ admin }: SkillRegistry) => {
      let heldBecause: string | undefined;
      const onHeld = (because: string): void => {
        heldBecause = because;
      };
      return { content: text(await admin.readBytes('tea', { path: 'times.md', onHeld })), heldBecause };
    },
  ],
])('a person is shown by %s why no agent is given exactly that', async (_, file, read) => {
  const { registry, root } = await openRegistry(TREE);
  const texts = file === 'SKILL.md' ? [GOOD, HELD, HELD] : [GOOD_FILE, HELD_FILE, HELD_FILE];
  exchangeAtEachOpening(join(root, 'skills/tea', file), texts);
  const marks = new Set<boolean>();
  for (let round = 0; round < ROUNDS; round++) {
    const { content, heldBecause } = await read(registry);
    expect(heldBecause !== undefined).toBe(content.includes('MARKED'));
    marks.add(heldBecause !== undefined);
  }
  expect([...marks].sort()).toEqual([false, true]);
});

it('of a skill that is held, an agent is not told which files it has', async () => {
  const { registry } = await openRegistry({ ...TREE, 'skills/tea/SKILL.md': HELD, 'skills/cup/SKILL.md': GOOD });
  const wanted = registry.readResource('tea', 'time.md', TURN);
  await expect(wanted).rejects.toMatchObject({
    code: 'SKILL_NOT_FOUND',
    message: expect.not.stringContaining('times'),
  });
});

it('of a skill that was held and hides itself from models since, an agent is given nothing', async () => {
  const { registry, root } = await openRegistry({ ...TREE, 'skills/tea/SKILL.md': HELD });
  const hidden = skillMd({ ...SKILL, 'disable-model-invocation': 'true' }, 'Good body.');
  writeTree(root, { 'skills/tea/SKILL.md': hidden });
  await expect(registry.read('tea', {}, TURN)).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  expect((await registry.read('tea')).content).toBe('Good body.');
});

it('takes no verdict of what lay there later for a skill that is too large to be kept while it is inspected', async () => {
  const names = [0, 1, 2, 3].map((number) => `skills/tea/${number}.bin`);
  const { registry, root } = await openRegistry({ ...TREE, ...Object.fromEntries(names.map((name) => [name, ''])) });
  for (const name of names) truncateSync(join(root, name), 4 * 1024 * 1024 - 1);
  // Of its files, the first reading finds the held one, and the second one another.
  exchangeAtEachOpening(join(root, 'skills/tea/times.md'), [
    HELD_FILE,
    `${GOOD_FILE} Too.`,
    ...Array(20).fill(HELD_FILE),
  ]);
  await registry.read('tea', { wait: true }, TURN).catch(() => undefined);
  const wanted = registry.readResource('tea', 'times.md', TURN, { wait: true });
  await expect(wanted).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
});

it.each([
  [
    'behind the first MiB of SKILL.md',
    { 'skills/tea/SKILL.md': `${GOOD}${'\nPlain.'.repeat(160_000)}\n\n${attack(23)}` },
  ],
  ['in a text with a zero byte', { 'skills/tea/times.md': `Good file.\0\n\n${attack(24)}` }],
  ['in UTF-16', { 'skills/tea/times.md': Buffer.from(`Good café.\n\n${attack(25)}`, 'utf16le') }],
  ['in UTF-16 with a mark', { 'skills/tea/times.md': Buffer.from(`\ufeff茶\n\n${attack(26)}`, 'utf16le').swap16() }],
])('an attack %s leaves through no door', async (_, tree) => {
  const { registry } = await openRegistry({ ...TREE, ...tree });
  for (const ask of [
    () => registry.read('tea', { wait: true }, TURN),
    () => registry.readResource('tea', 'times.md', TURN, { wait: true }),
  ])
    expect((await answerOf(ask)).slice(-500)).toMatch(/^SKILL_NOT_FOUND/);
});

it('bytes that are harmless among samples are judged again under a name where they are an attack', async () => {
  // More than are inspected with the skill.
  const many = Array.from({ length: 2_000 }, (_, at) => [`skills/tea/m/${at}.md`, 'Plain.']);
  const attacks = { 'skills/tea/a/tests/evil.sh': attack(23), 'skills/tea/zz/setup.sh': attack(23) };
  const { registry } = await openRegistry({ ...TREE, ...Object.fromEntries(many), ...attacks });
  expect((await registry.read('tea', { wait: true }, TURN)).content).toBe('Good body.');
  const wanted = registry.readResource('tea', 'zz/setup.sh', TURN, { wait: true });
  await expect(wanted).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
});

/** What a door gave, or said. */
async function answerOf(ask: () => Promise<unknown>): Promise<string> {
  return ask().then(
    (given) => JSON.stringify(given),
    (error) => `${error.code} ${error.message}`,
  );
}

describe.each([
  ['is good when it is read first', [0, 1]],
  ['is held when it is read first', [1, 0, 0]],
])('a text that %s, and another one when it is read again,', (_, order) => {
  /** Asks once as it is, and then several times while the file changes at each opening. */
  async function expectJudged(
    file: string,
    texts: readonly [good: string, held: string],
    ...doors: readonly (() => Promise<unknown>)[]
  ): Promise<void> {
    for (const ask of doors) expect(await answerOf(ask)).toContain('Good ');
    exchangeAtEachOpening(
      file,
      order.map((index) => texts[index] ?? ''),
    );
    for (const ask of doors) {
      for (let round = 0; round < ROUNDS; round++) {
        expect(await answerOf(ask)).not.toMatch(/MARKED|203\.0\.113/);
      }
    }
  }

  it.each(BODY_DOORS)('is judged as it leaves: SKILL.md by %s', async (_, door, config = {}) => {
    const { registry, root } = await openRegistry(TREE, config);
    await expectJudged(join(root, 'skills/tea/SKILL.md'), [GOOD, HELD], () => door(registry));
  });

  it.each(FILE_DOORS)('is judged as it leaves: another file by %s', async (_, door) => {
    const { registry, root } = await openRegistry(TREE);
    await expectJudged(join(root, 'skills/tea/times.md'), [GOOD_FILE, HELD_FILE], () => door(registry));
  });

  it('is judged as it leaves: another file by read_file', async () => {
    const { root, call } = await workspace(TREE);
    const ask = () => call('read_file', { path: 'skills/tea/times.md' }, TURN);
    await expectJudged(join(root, 'skills/tea/times.md'), [GOOD_FILE, HELD_FILE], ask);
  });

  it('is judged as it leaves: SKILL.md as an MCP resource', async () => {
    const { root, serving } = await serveRegistry(TREE);
    const client = await httpClient(serving.url);
    const ask = () => client.readResource({ uri: 'skill://tea/SKILL.md' }, { cacheMode: 'refresh' });
    await expectJudged(join(root, 'skills/tea/SKILL.md'), [GOOD, HELD], ask);
  });

  it('is judged as it leaves: SKILL.md as an MCP prompt', async () => {
    const { root, serving } = await serveRegistry(TREE);
    const client = await httpClient(serving.url);
    await expectJudged(join(root, 'skills/tea/SKILL.md'), [GOOD, HELD], () => client.getPrompt({ name: 'tea' }));
  });
});
