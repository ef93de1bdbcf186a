import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { registryConfig } from '../../../extensions/skill_registry/config.ts';
import { packageRoot } from '../../../kernel/host.ts';
import { openRegistry } from '../../helpers/open-registry.ts';

const FILE = '/root/data/skill_registry/config.yaml';
const read = (input: Readonly<Record<string, unknown>>) => registryConfig.read(input, FILE);
const defaults = read({}).config;

it('every key has a default, and that is what the manifest shows', () => {
  const text = readFileSync(join(packageRoot(), 'extensions', 'skill_registry', 'manifest.yaml'), 'utf8');
  const { config } = parse(text) as { config: Record<string, unknown> };
  expect(Object.keys(config).sort()).toEqual(Object.keys(defaults).sort());
  for (const [key, value] of Object.entries(defaults)) {
    expect(read({ [key]: config[key] }), key).toEqual({ config: defaults, problems: [] });
    if (key !== 'sources') expect(config[key], key).toEqual(value);
  }
});

describe('what is given', () => {
  it.each([
    [{ catalog: { budget_tokens: 500 } }, { catalog: { ...defaults.catalog, budget_tokens: 500 } }],
    [{ catalog: { pinned: ['a'] } }, { catalog: { ...defaults.catalog, pinned: ['a'] } }],
    [{ watch: { mode: 'off' } }, { watch: { ...defaults.watch, mode: 'off' } }],
    [{ watch: { interval_seconds: 0.2 } }, { watch: { ...defaults.watch, interval_seconds: 0.2 } }],
    [{ writes: { delete: 'allow' } }, { writes: { ...defaults.writes, delete: 'allow' } }],
    [{ limits: { scan_depth: 0 } }, { limits: { ...defaults.limits, scan_depth: 0 } }],
    [{ tools: ['read_skill'] }, { tools: ['read_skill'] }],
    [{ sources: [{ path: 'x' }] }, { sources: [expect.objectContaining({ path: 'x', allow_outside: false })] }],
    [{ sources: [] }, { sources: [] }],
  ])('%j holds, and the rest keeps its default', (input, changed) => {
    expect(read(input)).toEqual({ config: { ...defaults, ...changed }, problems: [] });
  });
});

describe('a dialect', () => {
  it('adds its tools behind the others', () => {
    const { config, problems } = read({ tools: ['read_skill'], dialect: ['promptkit', 'bernstein'] });
    expect(config.tools).toEqual(['read_skill', 'skill__activate', 'skill__read_resource', 'load_skill']);
    expect(problems).toEqual([]);
  });

  it('is named where the list of tools has one of its tools, which still works', () => {
    const { config, problems } = read({ tools: ['read_skill', 'load_skill', 'skill'], dialect: ['operator'] });
    expect(config.tools).toEqual(['read_skill', 'load_skill', 'skill']);
    const message = expect.stringContaining('Write dialect: [bernstein] instead.');
    expect(problems).toEqual([
      { code: 'CONFIG_KEY_INVALID', severity: 'warning', file: FILE, message, details: { key: 'tools' } },
    ]);
  });
});

describe('a wrong key', () => {
  it.each([
    [{ bugdet: 1 }, ['bugdet']],
    [{ catalog: { bugdet_tokens: 1 } }, ['catalog.bugdet_tokens']],
    [{ catalog: { budget_tokens: 49 } }, ['catalog.budget_tokens']],
    [{ catalog: { budget_tokens: '500' } }, ['catalog.budget_tokens']],
    [{ catalog: { budget_tokens: 99.5 } }, ['catalog.budget_tokens']],
    [{ catalog: { pinned: 'a' } }, ['catalog.pinned']],
    [{ catalog: [] }, ['catalog']],
    [{ catalog: null }, ['catalog']],
    [{ watch: 'events' }, ['watch']],
    [{ watch: { mode: 'inotify' } }, ['watch.mode']],
    [{ watch: { interval_seconds: 0 } }, ['watch.interval_seconds']],
    [{ watch: { mode: 'x', interval_seconds: Number.NaN } }, ['watch.mode', 'watch.interval_seconds']],
    [{ writes: { create: true } }, ['writes.create']],
    [{ limits: { file_bytes: -1, depth: 3 } }, ['limits.file_bytes', 'limits.depth']],
    [{ limits: { scan_depth: 65 } }, ['limits.scan_depth']],
    [{ tools: 'read_skill' }, ['tools']],
    [{ sources: 'skills' }, ['sources']],
    [JSON.parse('{ "__proto__": 1, "x": 2 }'), ['__proto__', 'x']],
    [{ tools: () => [], sources: Symbol('s') }, ['tools', 'sources']],
  ])('is a problem, and its default holds: %j', (input, keys) => {
    const { config, problems } = read(input);
    expect(config).toEqual(defaults);
    expect(problems.map(({ details }) => details?.key).sort()).toEqual([...keys].sort());
    for (const problem of problems) {
      expect(problem).toMatchObject({ code: 'CONFIG_KEY_INVALID', severity: 'error', file: FILE });
    }
  });

  it.each<[Readonly<Record<string, unknown>>, string, string]>([
    [{}, 'sources.1', 'exactly one of'],
    [{ path: 'a', shipped: true }, 'sources.1', 'exactly one of'],
    [{ path: '' }, 'sources.1.path', '""'],
    [{ path: 'a', id: '../x' }, 'sources.1.id', '"../x"'],
    [{ preset: 'windsurv' }, 'sources.1.preset', 'Did you mean "windsurf"?'],
    [{ preset: 'clade' }, 'sources.1.preset', '"clade": expected'],
    [{ path: 'a', validation: 'stric' }, 'sources.1.validation', '"stric"'],
  ])('costs a list that entry alone, and never brings a default back: %j', (entry, key, arrived) => {
    const { config, problems } = read({ sources: [{ path: 'team' }, entry, { path: 'own' }] });
    expect(config.sources.map(({ path }) => path)).toEqual(['team', 'own']);
    expect(problems).toMatchObject([{ code: 'CONFIG_KEY_INVALID', details: { key } }]);
    expect(problems[0]?.message).toContain(arrived);
    expect(problems[0]?.message).toContain('this entry is left out');
    expect(read({ sources: [entry] }).config.sources).toEqual([]);
  });

  it.each<[unknown, string, string]>([
    [{ name: 'Tea', description: 'Tea.' }, 'instructions', 'missing'],
    [{ name: '', description: 'Tea.', instructions: 'Boil.' }, 'name', '""'],
  ])('costs the skills that are written in a source that skill alone: %j', (skill, key, arrived) => {
    const good = { name: 'Milk', description: 'Milk.', instructions: 'Pour.', files: { 'a.md': 'A.', 'b.md': 1 } };
    const { config, problems } = read({ sources: [{ inline: [skill, good] }] });
    expect(config.sources).toMatchObject([{ inline: [{ ...good, files: { 'a.md': 'A.' } }] }]);
    expect(problems.map(({ details }) => details?.key)).toEqual([
      `sources.0.inline.0.${key}`,
      'sources.0.inline.1.files.b.md',
    ]);
    expect(problems[0]?.message).toContain(arrived);
  });

  it('costs the settings of gates that one alone', () => {
    const { config, problems } = read({ gates: { settings: { a: 1, b: () => 1, c: { d: [null] } } } });
    expect(config.gates.settings).toEqual({ a: 1, c: { d: [null] } });
    expect(problems.map(({ details }) => details?.key)).toEqual(['gates.settings.b']);
  });

  it('that is unknown in a source costs the source nothing', () => {
    const { config, problems } = read({ sources: [{ path: 'team', pth: 'x' }] });
    expect(config.sources).toMatchObject([{ path: 'team' }]);
    expect(problems).toMatchObject([{ details: { key: 'sources.0.pth' } }]);
    expect(problems[0]?.message).toContain('"x": there is no such key; it is ignored');
  });

  it('costs tools and pinned ids that entry alone', () => {
    const { config, problems } = read({ tools: ['read_skil', 'read_skill'], catalog: { pinned: [1, 'a'] } });
    expect(config.tools).toEqual(['read_skill']);
    expect(config.catalog.pinned).toEqual(['a']);
    expect(problems.map(({ details }) => details?.key)).toEqual(['catalog.pinned.0', 'tools.0']);
  });

  it('does not cost the good keys beside it', () => {
    const { config, problems } = read({ watch: { mode: 'poll', interval_seconds: 'x' }, tools: ['read_skill'], z: 1 });
    expect(config).toEqual({ ...defaults, watch: { mode: 'poll', interval_seconds: 5 }, tools: ['read_skill'] });
    expect(problems).toHaveLength(2);
  });

  it.each([
    ['the file of the root', { 'data/skill_registry/config.yaml': 'wacth: { mode: off }\n' }],
    ['this program, where the root has no such file', {}],
  ])('is among the problems of the registry, with %s', async (_, tree) => {
    const { root, registry } = await openRegistry(tree, { wacth: { mode: 'off' } });
    expect(registry.config.watch.mode).toBe('events');
    expect(registry.problems()).toContainEqual(
      expect.objectContaining({
        code: 'CONFIG_KEY_INVALID',
        file: Object.keys(tree).length > 0 ? join(root, 'data/skill_registry/config.yaml') : 'this program',
        details: { key: 'wacth' },
      }),
    );
  });
});

it('a value that contains itself, or is too deep, is a wrong value and ends nothing', () => {
  const settings: Record<string, unknown> = {};
  settings.again = settings;
  let deep: unknown = 1;
  for (let level = 0; level < 20_000; level++) deep = { deep };
  for (const value of [settings, { deep }]) {
    const { config, problems } = read({ gates: { settings: value } });
    expect(config.gates.settings).toEqual({});
    expect(problems).toMatchObject([{ code: 'CONFIG_KEY_INVALID', message: expect.stringContaining('100 levels') }]);
  }
});

it('shows no user name and no password of an address', () => {
  const { problems } = read({ embeddings: { base_url: 'https://ada:s3cret@host/v1', model: 'm' } });
  expect(problems.length).toBeGreaterThan(0);
  expect(JSON.stringify(problems)).not.toMatch(/ada|s3cret/);
});
