import { describe, expect, it } from 'vitest';
import { countTokens } from '../../../lib/text/index.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree, writeTree } from '../../helpers/temp-folder.ts';

const skill = (id: string, fields: Readonly<Record<string, string>> = {}): Tree => ({
  [`skills/${id}/SKILL.md`]: skillMd({
    name: id,
    description: `Helps people with ${id.replaceAll('-', ' ')}.`,
    ...fields,
  }),
});
const many = (name: string, count: number, fields: Readonly<Record<string, string>> = {}): Tree =>
  Object.assign(
    {},
    ...Array.from({ length: count }, (_, at) => skill(`${name}-${String(at).padStart(3, '0')}`, fields)),
  );
/** More than fits. Nothing in them is about rust or scores. */
const CROWD = many('chess', 150);
const RUST = skill('rust-style', { paths: '"**/*.rs, Cargo.toml"' });
const BUDGET = 600;
const PROMPT = 'a game of chess';
const TURN = { threadId: 't', agentId: 'a' };

async function open(
  tree: Tree,
  catalog: Readonly<Record<string, unknown>> = {},
  more: Readonly<Record<string, unknown>> = {},
) {
  const opened = await openRegistry(tree, { catalog: { budget_tokens: BUDGET, ...catalog }, ...more });
  await opened.registry.admin.prepareSearch();
  return opened;
}
const linesOf = (text: string | null): readonly string[] =>
  (text ?? '').split('\n').filter((line) => line.startsWith('• '));
const idsIn = (text: string | null): readonly string[] => linesOf(text).map((line) => line.split('`')[1] ?? '');
const tokensOf = async (lines: readonly string[]): Promise<number> =>
  countTokens(lines.map((line) => `${line}\n`).join(''));

describe('a turn that names files', () => {
  it('shows the skill whose globs match one, whatever its prompt is about', async () => {
    const { registry, root } = await open({ ...CROWD, ...RUST });
    expect(idsIn(await registry.context(PROMPT))).not.toContain('rust-style');
    for (const file of ['src/deep/main.rs', './Cargo.toml', `${root}/src/lib.rs`, 'src\\win\\main.rs'])
      expect(idsIn(await registry.context(PROMPT, { paths: ['README.md', file] })), file).toContain('rust-style');
    expect(idsIn(await registry.context('', { paths: ['a.rs'] }))).toContain('rust-style');
  });

  it('shows what it shows without files where none matches, or what is named lies elsewhere', async () => {
    const { registry } = await open({ ...CROWD, ...RUST });
    const text = await registry.context(PROMPT);
    for (const file of ['a.py', '../a.rs', '/elsewhere/a.rs', 'a/../../b.rs', 'C:\\a.rs', 'a.rs\0', ''])
      expect(await registry.context(PROMPT, { paths: [file] }), file).toBe(text);
  });

  it('says the same where all skills fit, and hides none', async () => {
    const { registry } = await openRegistry({ ...many('chess', 3), ...RUST });
    const text = await registry.context(PROMPT);
    expect(idsIn(text)).toHaveLength(4);
    expect(await registry.context(PROMPT, { paths: ['a.rs'] })).toBe(text);
    expect(await registry.context(PROMPT, { paths: ['a.py'] })).toBe(text);
  });

  it('describes such skills first where all names fit', async () => {
    const { registry } = await open({ ...many('chess', 70), ...RUST }, { budget_tokens: 900 });
    const lineWith = async (turn: object) =>
      linesOf(await registry.context(PROMPT, turn)).find((line) => line.includes('rust-style'));
    expect(await lineWith({})).toBe('• `rust-style`');
    expect(await lineWith({ paths: ['a.rs'] })).toBe('• `rust-style` — Helps people with rust style.');
  });

  it('refuses more than a hundred files, and names of more than a thousand characters', async () => {
    const { registry } = await open(RUST);
    const paths = Array.from({ length: 100 }, () => 'a'.repeat(1000));
    await registry.context(PROMPT, { paths });
    for (const wrong of [[...paths, 'a'], ['a'.repeat(1001)], [1], 'a.rs'] as never[])
      await expect(registry.context(PROMPT, { paths: wrong })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('shows none that the agent may not see, and no body', async () => {
    const kept = { 'disable-model-invocation': 'true', paths: '"*.rs"' };
    const { registry } = await open(
      { ...CROWD, ...RUST, ...skill('rust-kept', kept) },
      {},
      { disabled: ['rust-style'] },
    );
    const text = await registry.context(PROMPT, { paths: ['a.rs'] });
    expect(text).not.toContain('rust-');
    const other = await open({ ...CROWD, ...RUST });
    const boundSkills = [...Array.from({ length: 150 }, (_, at) => `chess-${String(at).padStart(3, '0')}`)];
    expect(idsIn(await other.registry.context(PROMPT, { boundSkills, paths: ['a.rs'] }))).not.toContain('rust-style');
    expect(await other.registry.context(PROMPT, { paths: ['a.rs'] })).not.toContain('Do it well.');
  });

  it('gives no body for it under inject: bodies, but lists it below them', async () => {
    const { registry } = await open({ ...CROWD, ...RUST }, {}, { inject: 'bodies' });
    const text = (await registry.context(PROMPT, { paths: ['a.rs'] })) ?? '';
    expect(text).toContain('Skill Name: chess-');
    expect(text).not.toContain('Skill Name: rust-style');
    expect(idsIn(text)).toContain('rust-style');
  });
});

describe('skills that are for every file', () => {
  const GREEDY = many('greedy', 40, { paths: '"*.rs, *.md, *.ts"' });

  it('are five lines, the first ones of a search', async () => {
    const { registry } = await open({ ...CROWD, ...GREEDY, ...skill('scores-of-music', { paths: '"*.rs"' }) });
    const shown = idsIn(await registry.context(`${PROMPT} with scores`, { paths: ['a.rs'] }));
    expect(shown.filter((id) => id.startsWith('greedy'))).toHaveLength(4);
    expect(shown).toContain('scores-of-music');
    expect(shown.length).toBeGreaterThan(10);
  });

  it('take a quarter of the budget, however long their lines are', async () => {
    const long = JSON.stringify('Extraordinarily '.repeat(60));
    const { registry } = await open(
      { ...CROWD, ...many('greedy', 40, { paths: '"*.rs"', description: long }) },
      { budget_tokens: 200 },
    );
    const text = await registry.context(PROMPT, { paths: ['a.rs'] });
    const greedy = linesOf(text).filter((line) => line.includes('greedy'));
    expect(greedy.length).toBeGreaterThan(0);
    expect(greedy.length).toBeLessThan(5);
    expect(await tokensOf(greedy)).toBeLessThanOrEqual(200 / 4);
    expect(idsIn(text)).toContain('chess-000');
  });

  it('do not take the place of pinned ones', async () => {
    const pinned = Array.from({ length: 20 }, (_, at) => `pinned-${String(at).padStart(3, '0')}`);
    const { registry } = await open({ ...CROWD, ...GREEDY, ...many('pinned', 20, { paths: '"*.rs"' }) }, { pinned });
    const shown = idsIn(await registry.context(PROMPT, { paths: ['a.rs'] }));
    expect(shown).toEqual(expect.arrayContaining(pinned));
    expect(shown.filter((id) => id.startsWith('greedy'))).toHaveLength(5);
  });
});

describe('in a thread', () => {
  it('are below the lines of the turns before', async () => {
    const { registry } = await open({ ...CROWD, ...RUST });
    const first = linesOf(await registry.context(PROMPT, TURN));
    const second = linesOf(await registry.context('yes, go on', { ...TURN, paths: ['a.rs'] }));
    expect(second).toEqual([...first, '• `rust-style` — Helps people with rust style.']);
    expect(linesOf(await registry.context('yes, go on', TURN))).toEqual(second);
    expect(linesOf(await registry.context('yes, go on', { ...TURN, paths: ['b.rs'] }))).toEqual(second);
  });

  it('take a quarter of the budget in all its turns together', async () => {
    const endings = Array.from({ length: 30 }, (_, at) => `x${at}x`);
    const greedy: Tree = Object.assign({}, ...endings.map((end) => many(`for-${end}`, 5, { paths: `"*.${end}"` })));
    const { registry, root } = await open({ ...CROWD, ...greedy }, { budget_tokens: 1200 });
    let now = linesOf(await registry.context(PROMPT, { ...TURN, paths: ['a.x0x'] }));
    for (const end of endings) {
      const next = linesOf(await registry.context('yes, go on', { ...TURN, paths: [`a.${end}`] }));
      expect(next.slice(0, now.length)).toEqual(now);
      expect(next.length - now.length).toBeLessThanOrEqual(5);
      now = next;
    }
    const forFiles = now.filter((line) => line.includes('`for-'));
    expect(forFiles.length).toBeGreaterThan(10);
    expect(await tokensOf(forFiles)).toBeLessThanOrEqual(1200 / 4);
    // A shown skill has changed, so all lines are chosen again, for the files of this turn alone.
    writeTree(root, skill(idsIn(now.join('\n'))[0] ?? '', { description: 'Another one.' }));
    await registry.refresh();
    const again = idsIn(await registry.context(PROMPT, { ...TURN, paths: ['a.x29x'] }));
    expect(again.filter((id) => id.startsWith('for-'))).toEqual(
      Array.from({ length: 5 }, (_, at) => `for-x29x-00${at}`),
    );
  });
});
