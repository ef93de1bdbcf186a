import { join } from 'node:path';
import { expect, it } from 'vitest';
import { validateSkill } from '../../../extensions/skill_registry/index.ts';
import { tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { fenced, skillFolder } from './rows/row.ts';

const NAME = 'name: backend';
const DESCRIPTION = 'description: Python server code, APIs, async, strict typing.';
const REGEX = 'must match regex ^[a-z][a-z0-9-]*$ (lowercase letters, digits, hyphens; must start with a letter)';

function strictErrors(text: string | Uint8Array, directory = 'backend'): readonly string[] {
  return validateSkill(skillFolder(text, directory), { profile: 'strict' });
}

function invalid(key: string, reason: string): string {
  return `invalid manifest: [${key}] ${reason}`;
}

it('takes the manifest of the seed, whose files exist', () => {
  const root = tempFolder({
    'backend/SKILL.md': fenced(
      ...[NAME, DESCRIPTION, 'trigger_keywords: [python, async]', 'references:', '- guide.md', '- deep/more.md'],
      ...['scripts: [lint.sh]', 'assets: []', 'version: "1.0.0"', 'author: null', 'manifest_schema: 1'],
      ...['sandbox_profile: net-off'],
    ),
    'backend/references/guide.md': 'x',
    'backend/references/deep/more.md': '',
    'backend/scripts/lint.sh': 'x',
  });
  expect(validateSkill(join(root, 'backend'), { profile: 'strict' })).toEqual([]);
});

it('takes the optional fields of the standard and of this registry', () => {
  const fields = [
    'license: MIT',
    'compatibility: Node 20',
    'metadata: { a: 1 }',
    'allowed-tools: Read',
    'tags: [a, b]',
    'requires: [c]',
    'when_to_use: Now.',
    'argument-hint: "[file]"',
    'disable-model-invocation: true',
    'user-invocable: false',
  ];
  expect(strictErrors(fenced(NAME, DESCRIPTION, ...fields))).toEqual([]);
});

it.each<[title: string, text: string, errors: readonly unknown[]]>([
  ['no frontmatter', '# Title\n', ['missing YAML frontmatter — expected ``---`` on the first line']],
  [
    'a blank line first',
    `\n${fenced(NAME, DESCRIPTION)}`,
    ['missing YAML frontmatter — expected ``---`` on the first line'],
  ],
  [
    'no closing fence',
    `---\n${NAME}\n${DESCRIPTION}\n`,
    ['unterminated YAML frontmatter — missing closing ``---`` fence'],
  ],
  ['no YAML', fenced('name: [x'), [expect.stringMatching(/^invalid YAML frontmatter: ./)]],
  ['a list', fenced('- x'), ['frontmatter must be a YAML mapping, got list']],
  ['a text', fenced('x'), ['frontmatter must be a YAML mapping, got str']],
  ['nothing', fenced('# x'), ['frontmatter must be a YAML mapping, got NoneType']],
  ['one number twice for a key', fenced(NAME, DESCRIPTION, '1: x', '1.0: x'), ['frontmatter key 1 must be a string']],
  [
    'more than 16 KiB of it',
    fenced(NAME, DESCRIPTION, `author: ${'é'.repeat(8_192)}`),
    ['frontmatter exceeds 16384 bytes — refusing to parse'],
  ],
])('says in the seed’s words what is wrong with the frontmatter: %s', (_title, text, errors) => {
  expect(strictErrors(text)).toEqual(errors);
});

it.each<[title: string, lines: readonly string[], errors: readonly unknown[]]>([
  ['no name', [DESCRIPTION], [invalid('name', 'field required')]],
  ['no description', [NAME], [invalid('description', 'field required')]],
  [
    '19 characters',
    [NAME, `description: ${'x'.repeat(19)}`],
    [invalid('description', 'expected 20-500 characters, got 19')],
  ],
  ['20 characters', [NAME, `description: ${'😀'.repeat(20)}`], []],
  ['500 characters', [NAME, `description: ${'x'.repeat(500)}`], []],
  [
    '501 characters',
    [NAME, `description: ${'x'.repeat(501)}`],
    [invalid('description', 'expected 20-500 characters, got 501')],
  ],
  [
    'a misspelled key',
    [NAME, DESCRIPTION, 'trigger_keyword: [x]'],
    [expect.stringMatching(/^invalid manifest: \[trigger_keyword\] unknown key; known keys: name, .*trigger_keywords/)],
  ],
  [
    'a key of every object',
    [NAME, DESCRIPTION, 'constructor: x'],
    [expect.stringContaining('[constructor] unknown key')],
  ],
  [
    'a number for a text',
    [NAME, DESCRIPTION, 'version: 1.0'],
    [invalid('version', 'expected text, got the number 1 (quotes make it text)')],
  ],
  [
    'a text for a list',
    [NAME, DESCRIPTION, 'references: guide.md'],
    [invalid('references', 'expected a list of texts, got a text')],
  ],
  [
    'a list of numbers',
    [NAME, DESCRIPTION, 'scripts: [1]'],
    [invalid('scripts', 'expected a list of texts, got the number 1 (quotes make it text) in it')],
  ],
  ['a text for a mapping', [NAME, DESCRIPTION, 'metadata: x'], [invalid('metadata', 'expected a mapping, got a text')]],
  [
    'a text for true',
    [NAME, DESCRIPTION, 'user-invocable: "no"'],
    [invalid('user-invocable', 'expected true or false, got a text')],
  ],
  [
    'half a schema',
    [NAME, DESCRIPTION, 'manifest_schema: 1.5'],
    [invalid('manifest_schema', 'expected a whole number, got the number 1.5 (quotes make it text)')],
  ],
  [
    'a bad profile',
    [NAME, DESCRIPTION, 'sandbox_profile: Net'],
    [invalid('sandbox_profile', `sandbox_profile 'Net' ${REGEX}`)],
  ],
  [
    'several at once',
    ['description: short', 'zz: 1'],
    [
      invalid('name', 'field required'),
      invalid('description', 'expected 20-500 characters, got 5'),
      expect.stringContaining('[zz]'),
    ],
  ],
])('checks the fields: %s', (_title, lines, errors) => {
  expect(strictErrors(fenced(...lines))).toEqual(errors);
});

it.each([
  ['Backend', `name 'Backend' ${REGEX}`],
  ['1st', `name '1st' ${REGEX}`],
  ['навык', `name 'навык' ${REGEX}`],
  ['a_b', `name 'a_b' ${REGEX}`],
  ['a'.repeat(65), 'expected 1-64 characters, got 65'],
  ['a-', 'Skill name cannot start or end with a hyphen'],
  ['a--b', 'Skill name cannot contain consecutive hyphens'],
])('refuses the name %s', (name, reason) => {
  const text = fenced(`name: ${JSON.stringify(name)}`, DESCRIPTION);
  expect(strictErrors(text, name)).toEqual([invalid('name', reason)]);
});

it('wants the directory to be called as the skill', () => {
  expect(strictErrors(fenced(NAME, DESCRIPTION), 'frontend')).toEqual([
    "directory name 'frontend' does not match manifest name 'backend'",
  ]);
});

it('wants declared files to exist inside their folder', () => {
  const root = tempFolder({
    'backend/SKILL.md': fenced(NAME, DESCRIPTION, "references: [gone.md, sub, ../x.md, '..\\x.md', link.md, ok.md]"),
    'backend/references/sub/x.md': '',
    'backend/references/ok.md': 'x',
    'backend/x.md': '',
    'secret.md': '',
  });
  writeTree(root, { 'backend/references/link.md': { link: '../../secret.md' } });
  expect(validateSkill(join(root, 'backend'), { profile: 'strict' })).toEqual([
    invalid('references', "'gone.md' is no file in references/"),
    invalid('references', "'sub' is no file in references/"),
    invalid('references', "'../x.md' leads out of references/"),
    invalid('references', "'..\\x.md' leads out of references/"),
    invalid('references', "'link.md' leads out of references/"),
  ]);
});

it('says when there is no file, or none that can be read', () => {
  expect(validateSkill(tempFolder(), { profile: 'strict' })).toEqual(['SKILL.md file does not exist']);
  expect(strictErrors(new Uint8Array([0x2d, 0xff]))).toEqual([
    'cannot read file: SKILL.md is not UTF-8 text; save it as UTF-8',
  ]);
});
