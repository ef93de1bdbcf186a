import { basename, join } from 'node:path';
import { expect } from 'vitest';
import { bodyOf } from '../../../../extensions/skill_registry/core/skill/frontmatter.ts';
import { readRawFrontmatter } from '../../../../extensions/skill_registry/features/validate/raw-frontmatter.ts';
import { findSkillMd } from '../../../../extensions/skill_registry/features/validate/read-skill-md.ts';
import { readProperties } from '../../../../extensions/skill_registry/index.ts';
import { specErrors } from '../../../helpers/spec-errors.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { fenced, INVALID_YAML, MUST_START, NOT_A_MAPPING, NOT_CLOSED, type Row, skillFolder } from './row.ts';

const NAME = 'name: my-skill';
const DESCRIPTION = 'description: A test skill';

function fieldsOf(text: string): Record<string, unknown> {
  const source = readRawFrontmatter(text);
  return 'failure' in source ? { failure: source.failure } : Object.fromEntries(source.fields);
}

function failure(code: string, message: string): unknown {
  return expect.objectContaining({ code, message });
}

export const PARSER_ROWS: readonly Row[] = [
  {
    id: 'P01',
    says: 'reads fields and body',
    check: () => {
      const text = fenced(NAME, DESCRIPTION);
      expect(fieldsOf(text)).toEqual({ name: 'my-skill', description: 'A test skill' });
      expect(bodyOf(text)).toBe('# Heading\n\nText.');
    },
  },
  {
    id: 'P02',
    says: 'refuses a text without frontmatter',
    check: () => expect(specErrors('# No frontmatter here')).toEqual([MUST_START]),
  },
  {
    id: 'P03',
    says: 'refuses frontmatter that is never closed',
    check: () => expect(specErrors(`---\n${NAME}\n${DESCRIPTION}\n`)).toEqual([NOT_CLOSED]),
  },
  {
    id: 'P04',
    says: 'refuses broken YAML',
    check: () => expect(specErrors(fenced('name: [invalid', 'description: broken'))).toEqual([INVALID_YAML]),
  },
  {
    id: 'P05',
    says: 'refuses a list in place of fields',
    check: () => expect(specErrors(fenced('- one', '- two', '- three'))).toEqual([NOT_A_MAPPING]),
  },
  {
    id: 'P06',
    says: 'reads name, description and license as they are written',
    check: () =>
      expect(readProperties(skillFolder(fenced(NAME, DESCRIPTION, 'license: MIT')))).toEqual({
        name: 'my-skill',
        description: 'A test skill',
        license: 'MIT',
      }),
  },
  {
    id: 'P07',
    says: 'keeps a version as text',
    check: () => {
      const text = fenced(NAME, DESCRIPTION, 'metadata:', '  author: Test Author', '  version: 1.0');
      expect(readProperties(skillFolder(text)).metadata).toEqual({ author: 'Test Author', version: '1.0' });
    },
  },
  {
    id: 'P08',
    says: 'says that there is no SKILL.md',
    check: () => {
      const folder = tempFolder();
      expect(() => readProperties(folder)).toThrow(failure('SKILL_NOT_FOUND', `SKILL.md not found in ${folder}`));
    },
  },
  {
    id: 'P09',
    says: 'asks for a name',
    check: () =>
      expect(() => readProperties(skillFolder(fenced(DESCRIPTION)))).toThrow(
        failure('FIELD_INVALID', 'Missing required field in frontmatter: name'),
      ),
  },
  {
    id: 'P10',
    says: 'asks for a description',
    check: () =>
      expect(() => readProperties(skillFolder(fenced(NAME)))).toThrow(
        failure('FIELD_INVALID', 'Missing required field in frontmatter: description'),
      ),
  },
  {
    id: 'P11',
    says: 'prefers SKILL.md to skill.md',
    check: () => {
      const folder = tempFolder({ 'skill.md': 'lower', 'SKILL.md': 'upper' });
      expect(findSkillMd(folder)).toBe(join(folder, 'SKILL.md'));
    },
  },
  {
    id: 'P12',
    says: 'finds skill.md',
    check: () => expect(basename(findSkillMd(tempFolder({ 'skill.md': '' })) ?? '').toLowerCase()).toBe('skill.md'),
  },
  {
    id: 'P13',
    says: 'finds nothing in an empty folder',
    check: () => expect(findSkillMd(tempFolder())).toBeUndefined(),
  },
  {
    id: 'P14',
    says: 'reads the properties of a skill.md',
    check: () =>
      expect(readProperties(skillFolder(fenced(NAME, DESCRIPTION), 'my-skill', 'skill.md')).name).toBe('my-skill'),
  },
  {
    id: 'P15',
    says: 'keeps allowed-tools as text, under its hyphenated key',
    check: () => {
      const properties = readProperties(
        skillFolder(fenced(NAME, DESCRIPTION, 'allowed-tools: Bash(jq:*) Bash(git:*)')),
      );
      expect(Object.entries(properties).at(-1)).toEqual(['allowed-tools', 'Bash(jq:*) Bash(git:*)']);
    },
  },
];
