import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkSkill, readProperties, toPrompt, validateSkill } from '../../../extensions/skill_registry/index.ts';
import { specErrors } from '../../helpers/spec-errors.ts';
import { tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { fenced, INVALID_YAML, MISSING_FILE, skillFolder } from './rows/row.ts';

const TEA = fenced('name: tea', 'description: How to brew tea.');

it('knows the directory behind a dot, two dots and a slash at the end', () => {
  const root = tempFolder({ 'tea/SKILL.md': TEA, 'tea/references/x.md': '' });
  const tea = join(root, 'tea');
  expect(validateSkill('.', { cwd: tea })).toEqual([]);
  expect(validateSkill('..', { cwd: join(tea, 'references') })).toEqual([]);
  expect(validateSkill('./tea/', { cwd: root })).toEqual([]);
});

it('compares the name with what the directory was called, not with what a link to it leads to', () => {
  const root = tempFolder({ 'tea/SKILL.md': TEA });
  writeTree(root, { chai: { link: 'tea' } });
  expect(validateSkill(join(root, 'chai'))).toEqual(["Directory name 'chai' must match skill name 'tea'"]);
  expect(toPrompt([join(root, 'chai')])).toContain(`\n${root}/tea/SKILL.md\n`);
});

it('skips the directory when there is none to compare', () => {
  expect(specErrors(TEA)).toEqual([]);
  expect(specErrors(TEA, 'cup')).toHaveLength(1);
});

it('names a relative path as it was given', () => {
  const cwd = tempFolder({ 'x.txt': '' });
  expect(validateSkill('nope', { cwd })).toEqual(['Path does not exist: nope']);
  expect(validateSkill('./x.txt', { cwd })).toEqual(['Not a directory: ./x.txt']);
  expect(() => readProperties('nope', { cwd })).toThrow('SKILL.md not found in nope');
});

it('strips what Python strips, and nothing else', () => {
  expect(specErrors(fenced('name: "\\x1c\\x85 a\\u3000"', 'description: d'), 'a')).toEqual([]);
  expect(specErrors(fenced('name: "\\ufeffa"', 'description: d'))).toEqual([
    "Skill name '\ufeffa' contains invalid characters. Only letters, digits, and hyphens are allowed.",
  ]);
  expect(specErrors(fenced('name: "\\x1f"', 'description: d'))).toEqual(["Field 'name' must be a non-empty string"]);
});

it('says what is missing before what is empty', () => {
  expect(() => readProperties(skillFolder(fenced('name: " "')))).toThrow(
    'Missing required field in frontmatter: description',
  );
  expect(() => readProperties(skillFolder(fenced('description:', 'name:')))).toThrow(
    "Field 'name' must be a non-empty string",
  );
  expect(() => readProperties(skillFolder(fenced('description: []', 'name: x')))).toThrow(
    "Field 'description' must be a non-empty string",
  );
});

it('keeps the order of fields, ignores unknown ones and does not compare the directory', () => {
  const text = fenced(
    ...[
      'metadata: {b: 2, __proto__: x, a: [1, {c: d, __proto__: y}]}',
      'allowed-tools: {x: [y]}',
      'zz: 1',
      'compatibility: ""',
    ],
    ...['license: MIT', 'description: "  ｄ  "', 'name: Ａ'],
  );
  expect(JSON.stringify(readProperties(skillFolder(text, 'other')))).toBe(
    `{"name":"Ａ","description":"ｄ","license":"MIT","compatibility":"","allowed-tools":{"x":["y"]},"metadata":{"b":"2","__proto__":"x","a":"[\\"1\\",{\\"c\\":\\"d\\",\\"__proto__\\":\\"y\\"}]"}}`,
  );
});

it.each([
  ['FRONTMATTER_MISSING', 'text'],
  ['FRONTMATTER_UNCLOSED', '---\nname: a\n'],
  ['FRONTMATTER_INVALID', fenced('a: b: c')],
  ['FRONTMATTER_INVALID', fenced('- a')],
  ['FIELD_INVALID', fenced('name: a')],
  ['ENCODING_INVALID', Buffer.from([0x2d, 0xff])],
  ['SKILL_FILE_UNREADABLE', Buffer.alloc(4 * 1024 * 1024 + 1, 'a')],
])('throws %s', (code, file) => {
  expect(() => readProperties(skillFolder(file))).toThrow(expect.objectContaining({ code }));
});

it.each<[title: string, yaml: string]>([
  ['deep brackets', `a: ${'['.repeat(60_000)}`],
  ['deep lists', '- '.repeat(30_000)],
  ['many anchors', '&a '.repeat(2_000)],
  ['more than 65,536 characters', Array.from({ length: 20_000 }, (_, index) => `k${index}:`).join('\n')],
])('ends soon and refuses hostile YAML: %s', (_title, yaml) => {
  expect(specErrors(fenced(yaml))).toEqual([INVALID_YAML]);
});

it('refuses a file of more than 4 MiB, a pipe and a link that leads nowhere', () => {
  const large = skillFolder(Buffer.alloc(4 * 1024 * 1024 + 1, 'a'));
  expect(validateSkill(large)).toEqual(['"SKILL.md" has 4194305 bytes, more than the limit of 4194304.']);
  const root = tempFolder();
  writeTree(root, { 'broken/SKILL.md': { link: 'nowhere.md' }, 'pipe/x': '' });
  expect(validateSkill(join(root, 'broken'))).toEqual([MISSING_FILE]);
  execFileSync('sh', ['-c', 'mkfifo SKILL.md'], { cwd: join(root, 'pipe') });
  expect(validateSkill(join(root, 'pipe'))).toEqual([MISSING_FILE]);
});

it('follows a link to a SKILL.md', () => {
  const root = tempFolder({ 'shared.md': TEA });
  writeTree(root, { 'tea/SKILL.md': { link: '../shared.md' } });
  expect(validateSkill(join(root, 'tea'))).toEqual([]);
  expect(toPrompt([join(root, 'tea')])).toContain(`\n${root}/tea/SKILL.md\n`);
});

it('puts up with what the loader puts up with under the profile lenient, and says it', () => {
  const odd = Buffer.concat([Buffer.from(fenced('name: Tea', 'description: How to: brew')), Buffer.from([0xff])]);
  const { errors, warnings } = checkSkill(skillFolder(odd, 'tea', 'Skill.md'), { profile: 'lenient' });
  expect(errors).toEqual([]);
  expect(warnings.map((line) => line.split(/[ :]/)[0])).toEqual([
    'FRONTMATTER_REPAIRED',
    'NAME_INVALID',
    'NAME_MISMATCH',
    'ENCODING_INVALID',
    'SKILL_FILE_CASE',
  ]);
  const unclosed = validateSkill(skillFolder('---\nname: a\ndescription: d\n'), { profile: 'lenient' });
  expect(unclosed).toEqual([expect.stringMatching(/^FRONTMATTER_UNCLOSED \(line 1\): ./)]);
  expect(validateSkill(tempFolder(), { profile: 'lenient' })).toEqual([MISSING_FILE]);
});

it('refuses a profile that does not exist', () => {
  expect(() => validateSkill('.', { profile: 'loose' as never })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
  );
});
