import { join } from 'node:path';
import { expect } from 'vitest';
import { validateSkill } from '../../../../extensions/skill_registry/index.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { fenced, MISSING_FILE, type Row, validates } from './row.ts';

const DESCRIPTION = 'description: A test skill';

/** A row with a directory and a name, which are the same unless said. */
function named(id: string, says: string, directory: string, errors: readonly string[], name = directory): Row {
  return validates(id, says, fenced(`name: ${name}`, DESCRIPTION), errors, { directory });
}

/** A row with one more field. */
function extra(id: string, says: string, lines: readonly string[], errors: readonly string[]): Row {
  return validates(id, says, fenced('name: my-skill', DESCRIPTION, ...lines), errors, { directory: 'my-skill' });
}

export const VALIDATOR_ROWS: readonly Row[] = [
  named('V01', 'takes name and description', 'my-skill', []),
  {
    id: 'V02',
    says: 'says that a path does not exist',
    check: () => {
      const path = join(tempFolder(), 'nowhere');
      expect(validateSkill(path)).toEqual([`Path does not exist: ${path}`]);
    },
  },
  {
    id: 'V03',
    says: 'says that a path is no directory',
    check: () => {
      const path = join(tempFolder({ 'file.txt': '' }), 'file.txt');
      expect(validateSkill(path)).toEqual([`Not a directory: ${path}`]);
    },
  },
  { id: 'V04', says: 'misses SKILL.md', check: () => expect(validateSkill(tempFolder())).toEqual([MISSING_FILE]) },
  named('V05', 'refuses capitals', 'MySkill', ["Skill name 'MySkill' must be lowercase"]),
  named('V06', 'refuses a name of 70 characters', 'a'.repeat(70), [
    `Skill name '${'a'.repeat(70)}' exceeds 64 character limit (70 chars)`,
  ]),
  named('V07', 'refuses a hyphen at the start', '-my-skill', ['Skill name cannot start or end with a hyphen']),
  named('V08', 'refuses two hyphens together', 'my--skill', ['Skill name cannot contain consecutive hyphens']),
  named('V09', 'refuses an underscore', 'my_skill', [
    "Skill name 'my_skill' contains invalid characters. Only letters, digits, and hyphens are allowed.",
  ]),
  named(
    'V10',
    'refuses a name that is not the directory’s',
    'wrong-name',
    ["Directory name 'wrong-name' must match skill name 'correct-name'"],
    'correct-name',
  ),
  extra(
    'V11',
    'refuses a field that the standard does not have',
    ['unknown_field: x'],
    [
      "Unexpected fields in frontmatter: unknown_field. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.",
    ],
  ),
  extra('V12', 'takes license and metadata', ['license: MIT', 'metadata:', '  author: Test'], []),
  extra('V13', 'takes allowed-tools', ['allowed-tools: Bash(jq:*) Bash(git:*)'], []),
  named('V14', 'takes a Chinese name', '技能', []),
  named('V15', 'takes a Russian name with a hyphen', 'мой-навык', []),
  named('V16', 'takes a Russian name', 'навык', []),
  named('V17', 'refuses Russian capitals', 'НАВЫК', ["Skill name 'НАВЫК' must be lowercase"]),
  validates(
    'V18',
    'refuses a description of 1,100 characters',
    fenced('name: my-skill', `description: ${'x'.repeat(1100)}`),
    ['Description exceeds 1024 character limit (1100 chars)'],
    { directory: 'my-skill' },
  ),
  extra('V19', 'takes compatibility', ['compatibility: Requires Python 3.11+'], []),
  extra(
    'V20',
    'refuses a compatibility of 550 characters',
    [`compatibility: ${'x'.repeat(550)}`],
    ['Compatibility exceeds 500 character limit (550 chars)'],
  ),
  named('V21', 'takes a composed directory name for a decomposed name', 'caf\u00e9', [], 'cafe\u0301'),
];
