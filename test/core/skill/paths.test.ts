import { describe, expect, it } from 'vitest';
import { parseSkill } from '../../../extensions/skill_registry/core/skill/parse-skill.ts';

const parsed = (fields: string) => parseSkill(`---\nname: tea\ndescription: Makes tea.\n${fields}\n---\n`, 'f', 'tea');
const pathsOf = (fields: string): readonly string[] => parsed(fields).header?.paths ?? [];
const told = (fields: string): readonly string[] =>
  parsed(fields).problems.map(({ code, line, message }) => `${code} ${line}: ${message}`);
const quoted = (...globs: readonly string[]): string => `paths: ${JSON.stringify(globs)}`;

describe('what is written as paths', () => {
  it.each([
    ['a list', 'paths: ["src/**/*.ts", "*.md"]', ['src/**/*.ts', '*.md']],
    ['a text with commas', 'paths: "*.rs, Cargo.toml,Cargo.lock"', ['*.rs', 'Cargo.toml', 'Cargo.lock']],
    ['commas in braces', 'paths: "src/**/*.{ts,tsx}, {a{b,c},d}/x.md"', ['src/**/*.{ts,tsx}', '{a{b,c},d}/x.md']],
    ['text of metadata', 'metadata: { paths: "src/**, lib/**" }', ['src/**', 'lib/**']],
    ['a list of metadata, beside the field', 'paths: "a/**"\nmetadata: { paths: ["b/**", "a/**"] }', ['a/**', 'b/**']],
    ['a start at the root and a folder', 'paths: ["./src/a.ts", "/docs/"]', ['src/a.ts', 'docs/**']],
    ['nothing', 'paths:', []],
    ['no field', 'version: "1"', []],
  ])('%s is read', (_, fields, globs) => {
    expect(parsed(fields)).toMatchObject({ header: { paths: globs, extra: {} }, problems: [] });
  });

  it('something else is a problem and counts for nothing', () => {
    expect(pathsOf('paths: { a: b }')).toEqual([]);
    expect(told('paths: { a: b }')).toEqual([expect.stringMatching(/^FIELD_INVALID 4: "paths" should be a list/)]);
  });
});

describe('a glob counts', () => {
  it.each([
    'src/**',
    '*.c',
    '**/*.d.ts',
    'Dockerfile',
    'Dockerfile.*',
    'test_*',
    '**/*.[jt]s',
    '*.ts?',
    '{src,lib}/**',
    'a/*',
  ])('with a fixed name or extension: %s', (glob) => {
    expect(parsed(quoted(glob))).toMatchObject({ header: { paths: [glob] }, problems: [] });
  });

  it.each([
    '**',
    '*',
    '**/*',
    '*/**',
    '**/*.*',
    '?*',
    '[a-z]*',
    '[!x]*/**',
    '{src,**}',
    '{**/*,*}',
    '*a*',
    '[]abcd]*',
    '[[:alpha:]abc]*',
  ])('for nothing when it is about almost every file: %s', (glob) => {
    expect(pathsOf(quoted(glob, 'src/**'))).toEqual(['src/**']);
    expect(told(quoted(glob, 'src/**'))).toEqual([
      expect.stringMatching(
        /^PATHS_IGNORED 4: \[".*"\] in "paths" count for nothing\. .*have a whole name or an extension/,
      ),
    ]);
  });

  it.each([
    ['what leads out', '../other/*.ts'],
    ['what leads out in braces', '{src/..,lib}/x.ts'],
    ['an exception', '!src/**'],
    ['backslashes', 'src\\**'],
    ['201 characters', `src/${'a'.repeat(197)}`],
    ['braces for 64 globs', `src/${'{a,b}'.repeat(6)}.ts`],
    ['braces for numbers without end', 'src/{1..99999}{1..99999}{1..99999}.ts'],
  ])('for nothing with %s', (_, glob) => {
    expect(pathsOf(quoted(glob))).toEqual([]);
    expect(told(quoted(glob))).toEqual([expect.stringMatching(/^PATHS_IGNORED 4: /)]);
    expect(parsed(quoted(glob)).problems[0]?.message.length).toBeLessThan(400);
  });

  it('among the first twenty only', () => {
    const globs = Array.from({ length: 30 }, (_, at) => `src/${at}.ts`);
    expect(pathsOf(quoted(...globs))).toEqual(globs.slice(0, 20));
    expect(told(quoted(...globs))).toEqual([expect.stringMatching(/^PATHS_IGNORED 4: \["src\/20\.ts",/)]);
    expect(pathsOf(quoted(`src/${'a'.repeat(196)}`))).toHaveLength(1);
    expect(pathsOf(quoted(`src/${'{a,b}'.repeat(5)}.ts`))).toHaveLength(1);
  });
});
