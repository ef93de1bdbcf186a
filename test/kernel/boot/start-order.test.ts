import { describe, expect, test } from 'vitest';
import { parseManifest } from '../../../kernel/boot/manifest.ts';
import { startOrder } from '../../../kernel/boot/start-order.ts';
import type { Tree } from '../../helpers/temp-folder.ts';
import { bootTree, codesOf, extension, manifest, problemsOf, reasonOf, states } from './boot-extensions.ts';

/** `'a: b c'` is an extension `a` that depends on `b` and `c`. */
function orderOf(...lines: readonly string[]) {
  const extensions = lines.map((line) => {
    const [id = '', needs = ''] = line.split(':');
    const text = manifest(id, `agent: {}\ndepends_on: [${needs.trim().split(' ').filter(Boolean).join(', ')}]`);
    const parsed = parseManifest(text, 'manifest.yaml').manifest;
    if (!parsed) throw new Error(`no manifest: ${line}`);
    return { manifest: parsed, dir: `/extensions/${id}`, origin: 'root' as const };
  });
  const { order, refused, problems } = startOrder(extensions);
  return {
    order: order.map((found) => found.manifest.id).join(' '),
    refused: [...refused.keys()].sort().join(' '),
    problems: problems.map(({ code, details }) => `${code} ${details?.id}`).sort(),
    cycle: (problems[0]?.details?.cycle as readonly string[] | undefined)?.join(' '),
  };
}

describe('start order', () => {
  test.each<[what: string, lines: readonly string[], order: string]>([
    ['is the order given where nothing depends on anything', ['b', 'a', 'c'], 'b a c'],
    ['puts a dependency first', ['a: b', 'b'], 'b a'],
    ['puts a chain of dependencies first', ['a: b', 'b: c', 'c'], 'c b a'],
    ['has a shared dependency once', ['a: c', 'b: c', 'c'], 'c a b'],
    ['resolves a diamond', ['a: b c', 'b: d', 'c: d', 'd'], 'd b c a'],
  ])('%s', (_, lines, order) => {
    expect(orderOf(...lines)).toMatchObject({ order, refused: '', problems: [] });
  });

  test.each<[what: string, lines: readonly string[], refused: string, cycle: string]>([
    ['one that depends on itself', ['a: a', 'b'], 'a', 'a a'],
    ['a circle of two', ['a: b', 'b: a', 'c'], 'a b', 'a b a'],
    ['a circle of three', ['c: a', 'a: b', 'b: c'], 'a b c', 'c a b c'],
    ['a circle and not what leads into it', ['in: a', 'a: b', 'b: a'], 'a b', 'a b a'],
    ['two circles that share a member', ['a: b', 'b: a c', 'c: b'], 'a b c', 'a b a'],
  ])('refuses %s', (_, lines, refused, cycle) => {
    const result = orderOf(...lines);
    expect(result).toMatchObject({ refused, cycle });
    expect(result.order.split(' ').sort()).toEqual(lines.map((line) => line.split(':')[0]).sort());
    expect(result.problems).toEqual(refused.split(' ').map((id) => `EXTENSION_DEPENDENCY_CYCLE ${id}`));
  });

  test('refuses what depends on something that is not there', () => {
    expect(orderOf('a: gone', 'b: a')).toMatchObject({
      order: 'a b',
      refused: 'a',
      problems: ['EXTENSION_DEPENDENCY_MISSING a'],
    });
  });
});

function needing(id: string, ...needs: readonly string[]): Tree {
  const members = `async initialize(context) { context.log.info('initialize'); this.context = context; }
    async start() { this.context.log.info('start'); }`;
  return extension(id, `depends_on: [${needs.join(', ')}]`, members);
}

describe('a kernel', () => {
  test('initializes every extension in order before it starts the first', async () => {
    const kernel = await bootTree({ ...needing('a', 'b'), ...needing('b', 'c'), ...needing('c') });
    expect(kernel.logged).toEqual(
      ['c', 'b', 'a'].map((id) => `${id} initialize`).concat(['c start', 'b start', 'a start']),
    );
    expect(states(kernel)).toEqual(['c RUNNING', 'b RUNNING', 'a RUNNING']);
  });

  test.each<[what: string, circle: Tree, members: readonly string[]]>([
    ['two', { ...needing('a', 'b'), ...needing('b', 'a') }, ['a', 'b']],
    ['three', { ...needing('a', 'b'), ...needing('b', 'c'), ...needing('c', 'a') }, ['a', 'b', 'c']],
  ])('runs the rest when %s extensions depend on each other', async (_, circle, members) => {
    const kernel = await bootTree({ ...circle, ...needing('behind', 'a'), ...needing('free') });
    const failed = members.map((id) => `${id} ERROR`);
    expect([...states(kernel)].sort()).toEqual([...failed, 'behind SKIPPED', 'free RUNNING'].sort());
    expect(reasonOf(kernel, 'b')).toContain(`${members.join(' -> ')} -> a`);
    expect(reasonOf(kernel, 'behind')).toBe('it depends on "a", which is in state ERROR');
    expect(kernel.logged).toEqual(['free initialize', 'free start']);
    expect([...codesOf(kernel)].sort()).toEqual([
      ...members.map(() => 'EXTENSION_DEPENDENCY_CYCLE'),
      'EXTENSION_SKIPPED',
    ]);
  });

  test('names the field and the missing dependency, and skips the dependents of the dependent', async () => {
    const kernel = await bootTree({
      ...needing('a', 'gone'),
      ...needing('b', 'a'),
      ...needing('c', 'b'),
      ...needing('free'),
    });
    expect([...states(kernel)].sort()).toEqual(['a ERROR', 'b SKIPPED', 'c SKIPPED', 'free RUNNING']);
    expect(reasonOf(kernel, 'c')).toBe('it depends on "b", which is in state SKIPPED');
    expect(problemsOf(kernel)[0]).toMatchObject({
      code: 'EXTENSION_DEPENDENCY_MISSING',
      file: expect.stringContaining('a/manifest.yaml'),
      details: { id: 'a', field: 'depends_on', dependency: 'gone' },
    });
  });

  test('skips the dependents of a disabled extension', async () => {
    const kernel = await bootTree({ ...extension('off', 'enabled: false'), ...needing('b', 'off') });
    expect(states(kernel)).toEqual(['off DISABLED', 'b SKIPPED']);
    expect(reasonOf(kernel, 'b')).toBe('it depends on "off", which is in state DISABLED');
    expect(kernel.logged).toEqual([]);
  });
});
