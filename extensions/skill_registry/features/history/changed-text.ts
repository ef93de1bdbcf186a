import type { Problem } from 'skill-registry/kernel';
import { shorten } from '../../../../lib/text/index.ts';
import { splitFrontmatter } from '../../core/skill/frontmatter.ts';
import { type ParsedSkill, parseSkill } from '../../core/skill/parse-skill.ts';
import type { Profile } from '../../core/skill/profile.ts';
import { readYamlFields } from '../../core/skill/yaml-fields.ts';

/** Keeps the last two results, because the checks of one change ask for the same two texts several times. */
export function parsedText(text: string, skillId: string): ParsedSkill {
  const known = recent.find((one) => one.text === text && one.skillId === skillId);
  if (known) return known.parsed;
  const parsed = parseSkill(text, 'SKILL.md', skillId);
  recent = [{ text, skillId, parsed }, ...recent.slice(0, 1)];
  return parsed;
}

/** Declared files are not checked. */
export function textProblems(text: string, skillId: string, profile: Profile | undefined): readonly Problem[] {
  const { header, problems } = parsedText(text, skillId);
  const broken = (profile?.check(text, skillId).violations ?? []).map(({ message, line }): Problem => {
    return { code: profile?.code ?? '', severity: 'error', file: 'SKILL.md', line, message };
  });
  return header || problems.some(({ severity }) => severity === 'error') ? [...broken, ...problems] : broken;
}

export function newErrors(
  before: string | null,
  after: string,
  skillId: string,
  profile: Profile | undefined,
): readonly string[] {
  const errors = textProblems(after, skillId, profile).filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return [];
  const oldKeys = before === null ? [] : textProblems(before, skillId, profile).map(problemKey);
  return errors
    .filter((problem) => !oldKeys.includes(problemKey(problem)))
    .map(({ code, line, message }) => `${code}${line ? ` (line ${line})` : ''}: ${message}`);
}

/** What a SKILL.md needs without a review, and newly lacks: frontmatter for every program, its name, a description. */
export function newMissingParts(before: string | null, after: string, skillId: string): readonly string[] {
  const oldKeys = before === null ? [] : missingParts(before, skillId);
  return missingParts(after, skillId).filter((part) => !oldKeys.includes(part));
}

// --- internal ---

let recent: readonly { readonly text: string; readonly skillId: string; readonly parsed: ParsedSkill }[] = [];

function missingParts(text: string, skillId: string): readonly string[] {
  const fields = `name: ${skillId}, and description: what it does and when to use it`;
  const { yaml = '' } = splitFrontmatter(text);
  // A comment is no field.
  if (yaml.replace(/^[ \t]*#.*$/gm, '').trim() === '')
    return [`FRONTMATTER_MISSING: Begin with a line ---, then ${fields}, then a line ---.`];
  const { header, problems } = parsedText(text, skillId);
  const has = (code: string): boolean => problems.some((problem) => problem.code === code);
  const name = JSON.stringify(shorten(header?.name ?? '', 80));
  const { data, error, repaired } = readYamlFields(yaml);
  // Also when this registry accepts `when_to_use` instead.
  const lacksDescription = !error && repaired.length === 0 && !Object.hasOwn(data, 'description');
  return [
    ...(has('DESCRIPTION_MISSING') || has('SKILL_EMPTY') || lacksDescription
      ? ['DESCRIPTION_MISSING: Write description: what it does and when to use it.']
      : []),
    ...(has('NAME_MISMATCH')
      ? [`NAME_MISMATCH: The name ${name} is not the id of this skill. Write name: ${skillId}`]
      : []),
    ...problems.filter(({ code }) => MENDED_HERE.has(code)).map(({ code, message }) => `${code}: ${message}`),
  ];
}

/** Other programs read no name or no description from such frontmatter. */
const MENDED_HERE: ReadonlySet<string> = new Set(['NAME_MISSING', 'FRONTMATTER_REPAIRED', 'FRONTMATTER_NOT_AT_START']);

function problemKey({ code, message }: Problem): string {
  return `${code}\0${message}`;
}
