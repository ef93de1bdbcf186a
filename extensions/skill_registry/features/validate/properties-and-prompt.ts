import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { CodedError } from 'skill-registry/kernel';
import { withFallback } from '../../../../lib/errors/index.ts';
import { draftReason } from '../../core/skill/gates.ts';
import { parseSkill } from '../../core/skill/parse-skill.ts';
import { type RawFailure, type RawFields, type RawValue, readRawFrontmatter, strip } from './raw-frontmatter.ts';
import { findSkillMd, readSkillMd } from './read-skill-md.ts';
import { failureText, requiredFieldError } from './spec-rules.ts';

/** Text as its author wrote it (`1.0`, `true`), or a list or an object of such texts. */
export type PropertyValue = string | readonly PropertyValue[] | { readonly [key: string]: PropertyValue };

/** The fields of the standard, in this order. Absent fields are left out. */
export interface SkillProperties {
  /** Trimmed, like the description. */
  readonly name: string;
  readonly description: string;
  /** This and the next two may be empty. */
  readonly license?: PropertyValue;
  readonly compatibility?: PropertyValue;
  readonly 'allowed-tools'?: PropertyValue;
  /** A mapping of texts; nested lists and mappings are JSON. Left out when empty. */
  readonly metadata?: PropertyValue;
}

export interface ReadPropertiesOptions {
  /** Base of a relative path. Default: the working directory of the process. */
  readonly cwd?: string;
}

/**
 * Reads the fields as the reference implementation of agentskills.io does, with its messages. Checks only that name and
 * description are there. Nested `metadata` is JSON, not Python.
 * @throws SKILL_NOT_FOUND (no SKILL.md), SKILL_FILE_UNREADABLE, ENCODING_INVALID (not UTF-8), FRONTMATTER_MISSING,
 * FRONTMATTER_UNCLOSED, FRONTMATTER_INVALID (no YAML, or no mapping), FIELD_INVALID (no name or description, or empty).
 */
export function readProperties(path: string, { cwd = process.cwd() }: ReadPropertiesOptions = {}): SkillProperties {
  return skillIn(resolve(cwd, path), path).properties;
}

/**
 * The `<available_skills>` block of the reference implementation: each tag and value on its line, in the order given,
 * links in paths resolved, no line feed at the end. Unlike it, escapes `&`, `<` and `>` in a location, and leaves out
 * drafts with a FILL, which models do not see. @throws as `readProperties`, for the first skill that cannot be read.
 */
export function toPrompt(paths: readonly string[], { cwd = process.cwd() }: ReadPropertiesOptions = {}): string {
  const skills = paths
    .map((path) => resolve(cwd, path))
    // The path itself without such a file: the error message names it.
    .flatMap((path) => skillLines(withFallback(() => realpathSync(path), path)));
  return ['<available_skills>', ...skills, '</available_skills>'].join('\n');
}

// --- internal ---

const CODES: Readonly<Record<RawFailure['kind'], string>> = {
  missing: 'FRONTMATTER_MISSING',
  unclosed: 'FRONTMATTER_UNCLOSED',
  invalid: 'FRONTMATTER_INVALID',
  'not-mapping': 'FRONTMATTER_INVALID',
};

const REQUIRED = ['name', 'description'];
const OPTIONAL = ['license', 'compatibility', 'allowed-tools', 'metadata'];

/** `shown`: the path as the caller wrote it. */
function skillIn(directory: string, shown: string) {
  const file = findSkillMd(directory);
  if (file === undefined) throw new CodedError('SKILL_NOT_FOUND', `SKILL.md not found in ${shown}`);
  const read = readSkillMd(file);
  if ('unreadable' in read) throw new CodedError('SKILL_FILE_UNREADABLE', read.unreadable);
  const { text, fault } = read;
  if (fault?.refusal) throw new CodedError('ENCODING_INVALID', fault.refusal);
  const source = readRawFrontmatter(text);
  if ('failure' in source) throw new CodedError(CODES[source.failure.kind], failureText(source.failure));
  return { file, text, properties: propertiesOf(source.fields) };
}

function propertiesOf(fields: RawFields): SkillProperties {
  // A missing field is reported before an empty one.
  const wrong =
    REQUIRED.find((field) => !fields.has(field)) ??
    REQUIRED.find((field) => requiredFieldError(field, fields.get(field)));
  if (wrong) throw new CodedError('FIELD_INVALID', requiredFieldError(wrong, fields.get(wrong)) ?? wrong);
  const given = OPTIONAL.flatMap((field) => {
    const value = fields.get(field);
    const isAbsent = value === undefined || (field === 'metadata' && [...(value as Iterable<unknown>)].length === 0);
    return isAbsent ? [] : [[field, plain(value)] as const];
  });
  return {
    name: strip(fields.get('name') as string),
    description: strip(fields.get('description') as string),
    ...Object.fromEntries(given),
  };
}

/** `Object.fromEntries`, because an assignment to `__proto__` would set the prototype. */
function plain(value: RawValue): PropertyValue {
  if (typeof value === 'string') return value;
  if (value instanceof Map)
    return Object.fromEntries([...(value as RawFields)].map(([key, inner]) => [key, plain(inner)]));
  return [...(value as readonly RawValue[])].map(plain);
}

function skillLines(directory: string): readonly string[] {
  const { file, text, properties } = skillIn(directory, directory);
  const { name, description } = properties;
  if (draftReason(parseSkill(text, file, name).header?.fillsLeft)) return [];
  const escaped = {
    name: escapeQuotes(escapeTags(name)),
    description: escapeQuotes(escapeTags(description)),
    location: escapeTags(file),
  };
  const fields = Object.entries(escaped).flatMap(([tag, value]) => [`<${tag}>`, value, `</${tag}>`]);
  return ['<skill>', ...fields, '</skill>'];
}

function escapeTags(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function escapeQuotes(text: string): string {
  return text.replaceAll('"', '&quot;').replaceAll("'", '&#x27;');
}
