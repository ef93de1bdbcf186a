import { expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const skill = (id: string, fields: Readonly<Record<string, string>> = {}): Tree => ({
  [`skills/${id}/SKILL.md`]: skillMd({ name: id, description: `Helps with ${id.replaceAll('-', ' ')}.`, ...fields }),
});
const many = (name: string, count: number, fields: Readonly<Record<string, string>> = {}): Tree =>
  Object.assign(
    {},
    ...Array.from({ length: count }, (_, at) => skill(`${name}-${String(at).padStart(2, '0')}`, fields)),
  );
const TREE = { ...many('chess', 30), ...skill('rust-style', { paths: '"*.rs"', tags: '[code]' }), ...skill('sql') };

interface Listed {
  readonly ids: readonly string[];
  readonly total: number;
  readonly message?: string;
}

async function open(tree: Tree) {
  const { registry, root } = await openRegistry(tree);
  const list = async (args: object, turn = {}): Promise<Listed> => {
    const result = await runRegistryTool(registry, 'list_skills', args, turn);
    expect(result).toMatchObject({ success: true });
    const skills = result.skills as readonly { readonly skill_id: string }[];
    const ids = skills.map(({ skill_id }) => skill_id);
    return { ids, total: result.total as number, message: result.message as string };
  };
  return { registry, root, list };
}

it('lists a skill for a named file on the first page, with a query and without one', async () => {
  const { list, root } = await open(TREE);
  const plain = await list({});
  expect(plain.ids).not.toContain('rust-style');
  const all = await list({ paths: [`${root}/src/main.rs`] });
  expect(all).toMatchObject({ total: plain.total });
  expect(all.ids).toEqual([...plain.ids.slice(0, 15), 'rust-style', ...plain.ids.slice(15, 19)]);
  const chess = await list({ query: 'chess' });
  const found = await list({ query: 'chess', paths: ['a.rs'] });
  expect(found).toMatchObject({ total: chess.total + 1 });
  expect(found.ids).toEqual([...chess.ids.slice(0, 15), 'rust-style', ...chess.ids.slice(15, 19)]);
  expect(await list({ query: 'chess' }, { paths: ['a.rs'] })).toEqual(found);
  expect(await list({ query: 'rust style', paths: ['a.rs'] })).toMatchObject({ ids: ['rust-style'] });
});

it('says nothing of a query that nothing fits where a skill is for the file', async () => {
  const { list } = await open(TREE);
  expect(await list({ query: 'zzzzqqqq' })).toMatchObject({
    ids: [],
    message: expect.stringContaining('No skill fits'),
  });
  const found = await list({ query: 'zzzzqqqq', paths: ['a.rs'] });
  expect(found).toMatchObject({ ids: ['rust-style'], total: 1 });
  expect(found.message).toBeUndefined();
});

it('leaves out what tag, source or scope leave out', async () => {
  const { list } = await open(TREE);
  expect((await list({ query: 'chess', tag: 'code', paths: ['a.rs'] })).ids).toEqual(['rust-style']);
  for (const [args, turn] of [
    [{ tag: 'other' }, {}],
    [{ source: 'elsewhere' }, {}],
    [{}, { boundSkills: ['chess-00'] }],
  ] as const)
    for (const query of [undefined, 'chess'])
      expect((await list({ query, paths: ['a.rs'], ...args }, turn)).ids).not.toContain('rust-style');
});

it('gives skills for files at most the last quarter of a page, and five places', async () => {
  const { list } = await open({ ...many('chess', 30), ...many('greedy', 30, { paths: '"*.rs"' }) });
  const chess = (await list({ query: 'chess', limit: 30 })).ids;
  for (const [limit, places] of [
    [1, 0],
    [4, 1],
    [8, 2],
    [20, 5],
  ] as const) {
    const { ids } = await list({ query: 'chess', paths: ['a.rs'], limit });
    const greedy = ids.filter((id) => id.startsWith('greedy'));
    expect(ids).toEqual([...chess.slice(0, limit - places), ...greedy]);
    expect(greedy).toHaveLength(places);
  }
  const { ids } = await list({ query: 'chess', paths: ['a.rs'], limit: 60 });
  expect(ids.filter((id) => id.startsWith('greedy'))).toHaveLength(5);
});

it('refuses too many files and too long names, as the library does', async () => {
  const { registry } = await open(TREE);
  const paths = Array.from({ length: 100 }, () => 'a'.repeat(1000));
  expect(await runRegistryTool(registry, 'list_skills', { paths })).toMatchObject({ success: true });
  for (const wrong of [[...paths, 'a'], ['a'.repeat(1001)], 'a.rs', [null]]) {
    const result = await runRegistryTool(registry, 'list_skills', { paths: wrong });
    expect(result).toMatchObject({ success: false, error: { code: 'INVALID_ARGUMENT' } });
    expect(() => registry.list({ paths: wrong as never })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    );
  }
  expect(await runRegistryTool(registry, 'list_skills', { paths: ['../a.rs', '\0', '/etc/x.rs'] })).toEqual(
    await runRegistryTool(registry, 'list_skills', {}),
  );
});
