import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { registryConfig } from '../../../extensions/skill_registry/config.ts';
import { manifestSchema, parseManifest } from '../../../kernel/boot/manifest.ts';
import { packageRoot } from '../../../kernel/host.ts';
import { frontmatterSchema } from '../../../scripts/frontmatter-schema.ts';

const ROOT = packageRoot();
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const filesBelow = (folder: string, name: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(name) && !path.includes('node_modules'))
    .map((path) => join(folder, path));

/** The file that the package exports, found as an editor or a program would find it. */
const exported = (name: string): Record<string, unknown> =>
  JSON.parse(
    readFileSync(createRequire(import.meta.url).resolve(`skill-registry/schemas/${name}.schema.json`), 'utf8'),
  );

/** @returns why a value is refused; undefined when it is accepted. */
function checkerOf(name: string): (value: unknown) => string | undefined {
  const check = new AjvJsonSchemaValidator().getValidator(exported(name));
  return (value) => {
    const result = check(value);
    return result.valid ? undefined : result.errorMessage;
  };
}

it.each([
  ['manifest', manifestSchema],
  ['frontmatter', frontmatterSchema],
])('the schema of the package is that of the sources: %s', (name, schema) => {
  const { $schema, title, ...shipped } = exported(name);
  expect($schema).toContain('json-schema.org');
  expect(title).toBeTruthy();
  expect(shipped).toEqual(JSON.parse(JSON.stringify(schema())));
});

describe('of the config', () => {
  const check = checkerOf('config');
  const page = read('docs/configuration.md');

  it('has every key with what the documentation says of it, and its default', () => {
    const { properties } = exported('config') as {
      properties: Record<string, { description: string; default: unknown }>;
    };
    expect(Object.keys(properties)).toEqual(Object.keys(registryConfig.schema.properties as object));
    expect(properties.inject).toMatchObject({
      description: expect.stringContaining('system prompt'),
      default: 'catalog',
    });
    expect(JSON.stringify(properties.catalog)).toContain('"default":2000');
    expect(JSON.stringify(properties.limits)).toContain('the largest SKILL.md that is read');
  });

  it('accepts every example of the documentation, and the defaults', () => {
    const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => parse(text) as object);
    expect(blocks.length).toBeGreaterThan(2);
    const { config } = parse(read('extensions/skill_registry/manifest.yaml')) as { config: object };
    for (const one of [config, {}, ...blocks]) {
      expect([one, check(one), registryConfig.read(one, 'x').problems]).toEqual([one, undefined, []]);
    }
  });

  it.each<[object]>([
    [{ injekt: 'off' }],
    [{ inject: 'of' }],
    [{ catalog: { budget_tokens: 49 } }],
    [{ catalog: { budget_tokens: 99.5 } }],
    [{ watch: { interval_seconds: 0 } }],
    [{ sources: [{ preset: 'windsurv' }] }],
    [{ sources: [{}] }],
    [{ sources: [{ path: 'a', shipped: true }] }],
    [{ sources: [{ path: '' }] }],
    [{ sources: [{ inline: { name: 'Tea', description: 'Tea.' } }] }],
    [{ sources: [{ mcp: { command: [] } }] }],
    [{ sources: [{ package: '../x' }] }],
    [{ sources: 'skills' }],
    [{ tools: ['read_skil'] }],
    [{ disabled: [{ skill: 'tea' }] }],
    [{ writes: { create: true } }],
  ])('refuses what the registry refuses: %j', (config) => {
    expect(check(config)).toBeTypeOf('string');
    expect(registryConfig.read(config, 'x').problems).not.toEqual([]);
  });
});

describe('of a manifest', () => {
  const check = checkerOf('manifest');

  it('accepts every manifest of the package, and of the examples', () => {
    const files = ['extensions', 'examples', 'skills'].flatMap((folder) => filesBelow(folder, 'manifest.yaml'));
    expect(files.length).toBeGreaterThan(6);
    for (const file of files) expect([file, check(parse(read(file)))]).toEqual([file, undefined]);
  });

  it.each([
    'id: x\nname: X\nversion: "1"\n',
    'id: x\nname: X\nversion: 1\nentrypoint: main:X\n',
    'id: X\nname: X\nversion: "1"\nentrypoint: main:X\n',
    'id: x\nname: X\nversion: "1"\nagent: { limits: { turns: 1 } }\n',
    'id: x\nname: X\nversion: "1"\nagent: { integration_mode: both }\n',
    'id: x\nname: X\nversion: "1"\nentrypoint: main\n',
  ])('refuses what the kernel refuses: %j', (text) => {
    expect(check(parse(text))).toBeTypeOf('string');
    expect(parseManifest(text, 'm.yaml').problems).not.toEqual([]);
  });
});

describe('of the frontmatter', () => {
  const check = checkerOf('frontmatter');

  it('accepts every skill of the package', () => {
    const files = readdirSync(join(ROOT, 'skills')).map((id) => join('skills', id, 'SKILL.md'));
    for (const file of files)
      expect([file, check(parse(read(file).split(/^---$/m)[1] ?? ''))]).toEqual([file, undefined]);
    expect(files.length).toBeGreaterThan(3);
  });

  it.each([
    { description: 'Tea.' },
    { name: 'tea' },
    { name: 'Tea', description: 'Tea.' },
    { name: 'tea--pot', description: 'Tea.' },
    { name: 'tea', description: '' },
    { name: 'tea', description: 'Tea.', 'allowed-tools': ['Read'] },
    { name: 'tea', description: 'Tea.', compatibility: '' },
    { name: 'tea', description: 'Tea.', metadata: 'x' },
    { name: 'tea', description: 'Tea.', 'user-invocable': 'no' },
  ])('refuses what breaks the standard or is not read: %j', (fields) => {
    expect(check(fields)).toBeTypeOf('string');
  });

  it('accepts names in any script, and fields of other clients', () => {
    expect(check({ name: 'té-2', description: 'Tea.', model: 'x', hooks: {} })).toBeUndefined();
  });
});
