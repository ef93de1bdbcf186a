import { join } from 'node:path';
import { expect } from 'vitest';
import { readProperties, type SkillProperties, validateSkill } from '../../../../extensions/skill_registry/index.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

/** One case of the reference implementation's behaviour, and what this project does with it. */
export interface Row {
  /** As numbered where the behaviour of the reference was written down; several rows may share one. */
  readonly id: string;
  readonly says: string;
  /** Set where the result differs from the reference on purpose. */
  readonly deliberate?: Deliberate;
  readonly check: () => void;
}

export interface Deliberate {
  /** What the reference does. */
  readonly reference: string;
  readonly reason: string;
}

/** The text after the colon is the library's. */
export const INVALID_YAML: string = expect.stringMatching(/^Invalid YAML in frontmatter: ./) as unknown as string;
export const MUST_START = 'SKILL.md must start with YAML frontmatter (---)';
export const NOT_CLOSED = 'SKILL.md frontmatter not properly closed with ---';
export const NOT_A_MAPPING = 'SKILL.md frontmatter must be a YAML mapping';
export const MISSING_FILE = 'Missing required file: SKILL.md';

/** A SKILL.md with these frontmatter lines. */
export function fenced(...lines: readonly string[]): string {
  return `---\n${lines.join('\n')}\n---\n\n# Heading\n\nText.\n`;
}

/** A folder called `directory` with this SKILL.md in it. */
export function skillFolder(file: string | Uint8Array, directory = 'a', fileName = 'SKILL.md'): string {
  return join(tempFolder({ [`${directory}/${fileName}`]: file }), directory);
}

/** A row that validates one file under the profile `spec`; the directory is called `a` unless said. */
export function validates(
  id: string,
  says: string,
  file: string | Uint8Array,
  errors: readonly string[],
  options: { readonly directory?: string; readonly fileName?: string; readonly deliberate?: Deliberate } = {},
): Row {
  const { directory, fileName, deliberate } = options;
  const check = (): void => expect(validateSkill(skillFolder(file, directory, fileName))).toEqual(errors);
  return { id, says, check, ...(deliberate ? { deliberate } : {}) };
}

/** A row whose file is valid and has these properties, in this order. */
export function reads(
  id: string,
  says: string,
  file: string,
  properties: Partial<SkillProperties>,
  options: { readonly directory?: string; readonly deliberate?: Deliberate } = {},
): Row {
  const { directory, deliberate } = options;
  const check = (): void => {
    const folder = skillFolder(file, directory);
    expect(validateSkill(folder)).toEqual([]);
    const read = readProperties(folder);
    expect(read).toMatchObject(properties);
    expect(Object.keys(read)).toEqual([...new Set(['name', 'description', ...Object.keys(properties)])]);
  };
  return { id, says, check, ...(deliberate ? { deliberate } : {}) };
}
