import type { Problem } from 'skill-registry/kernel';
import { codePoints, foldLine, shorten } from '../../../../lib/text/index.ts';
import {
  EMPTY_RECORD,
  type FieldSource,
  hasLetterOrEmoji,
  isName,
  isTrue,
  NAME_RULE,
  nameRemedy,
  type ProblemSink,
  readBoolean,
  readList,
  readListAnywhere,
  readText,
  readTools,
  report,
  whyNoText,
} from './field-values.ts';
import { MAX_FRONTMATTER, type SplitSkill, splitFrontmatter } from './frontmatter.ts';
import { asMapping, type Gate, readGate } from './gates.ts';
import { readPaths } from './paths.ts';
import { readFieldsByLine, readYamlFields, type YamlFields } from './yaml-fields.ts';

export interface SkillHeader {
  /** For people; the id is the name of the directory. */
  readonly name: string;
  /** One line, without invisible characters, with `when_to_use`. Never empty. */
  readonly description: string;
  /** With `metadata.tags`, where the standard allows tags. */
  readonly tags: readonly string[];
  /** Ids of skills to read first. A hint only: they are not loaded. */
  readonly requires: readonly string[];
  /** False (`disable-model-invocation: true`): only people and bindings load it. */
  readonly modelInvocable: boolean;
  /** False (`user-invocable: false`): no slash command. */
  readonly userInvocable: boolean;
  readonly argumentHint?: string;
  /** Names for the arguments of the slash command, in order. */
  readonly arguments: readonly string[];
  /** Words and phrases for which a search should find it. */
  readonly triggerKeywords: readonly string[];
  /** Globs of files for which it is shown; they never hide it. */
  readonly paths: readonly string[];
  /** Tools that it asks permission for, as written: `Bash(git add *)`. Shown, never granted. */
  readonly allowedTools: readonly string[];
  readonly version?: string;
  readonly author?: string;
  readonly license?: string;
  readonly compatibility?: string;
  /** With the types that YAML gives. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly gate?: Gate;
  /** How often FILL occurs in a draft (`metadata.draft: "true"`); above 0, models do not see the skill. */
  readonly fillsLeft?: number;
  /** The frontmatter of the file has no end now: this is the header it had before. */
  readonly isKept?: true;
  /** All other fields, with the types that YAML gives. */
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface ParsedSkill {
  /** Undefined when there is nothing to load; a problem then says why. */
  readonly header?: SkillHeader;
  readonly problems: readonly Problem[];
}

const MAX_DESCRIPTION = 1024;
const LABELS = ['version', 'author', 'license', 'compatibility'] as const;
export const OWN_FIELDS: ReadonlySet<string> = new Set(
  'name description when_to_use tags requires disable-model-invocation user-invocable argument-hint arguments trigger_keywords paths allowed-tools version author license compatibility metadata'.split(
    ' ',
  ),
);

/**
 * Loads all of a SKILL.md that can be loaded; each deviation from agentskills.io is a problem (with the path `file`).
 * Only a file without description and text is refused (SKILL_EMPTY). Never throws. `directory` is the name when the
 * file gives none. `whole` returns the whole text when `text` is only its beginning, with the closed frontmatter.
 */
export function parseSkill(text: string, file: string, directory: string, whole = (): string => text): ParsedSkill {
  const problems: Problem[] = [];
  const add: ProblemSink = (code, severity, message, line, details) => {
    problems.push({ code, severity, file, message, ...(line ? { line } : {}), ...(details ? { details } : {}) });
  };
  const split = splitFrontmatter(text);
  const { data, lineOf: lineInYaml } = readFields(text, split, add);
  const from: FieldSource = { data, add, lineOf: (key) => split.yamlLine + lineInYaml(key) - 1 };
  // Without a readable frontmatter, another problem says so.
  const isRead = split.yaml !== undefined && !problems.some(({ severity }) => severity === 'error');
  const expected = isRead || Object.keys(data).length > 0;
  const body = (): string => whole().slice(split.bodyOffset, split.bodyOffset + 20_000);
  const description = readDescription(from, body, expected);
  if (!description) {
    const message = 'There is no description and no text to take one from. Write both, or remove the file.';
    add('SKILL_EMPTY', 'error', message);
    return { problems };
  }
  const hint = readText(data['argument-hint']);
  const { metadata, ...withGate } = readMetadata(from);
  const fillsLeft = isTrue(metadata.draft) ? whole().match(/\bFILL\b/g)?.length : undefined;
  const header: SkillHeader = {
    name: readName(from, directory, expected),
    description,
    tags: readListAnywhere('tags', from, metadata),
    requires: readList('requires', from),
    modelInvocable: !readBoolean('disable-model-invocation', from, false),
    userInvocable: readBoolean('user-invocable', from, true),
    ...(hint ? { argumentHint: foldLine(hint) } : {}),
    arguments: readList('arguments', from, (text) => text.split(/[\s,]+/)),
    triggerKeywords: readList('trigger_keywords', from),
    paths: readPaths(from, metadata),
    allowedTools: readTools('allowed-tools', from),
    ...readLabels(from),
    metadata,
    ...withGate,
    ...(fillsLeft === undefined ? {} : { fillsLeft }),
    extra: othersOf(data),
  };
  return { header, problems };
}

// --- internal ---

const IN_QUOTES = "Put it in single quotes, and write each ' in it twice.";
const NO_FIELDS: YamlFields = { data: {}, lineOf: () => 1, repaired: [] };

function readFields(text: string, { yaml, yamlLine, oddity, bodyOffset }: SplitSkill, add: ProblemSink): YamlFields {
  if (yaml === undefined) {
    const first = foldLine(/^[^\r\n]*/.exec(text.slice(bodyOffset, bodyOffset + 500))?.[0] ?? '');
    const message = `Expected --- on the first line, got ${first ? JSON.stringify(shorten(first, 80)) : 'an empty line'}. Add name and description between two lines of ---.`;
    add('FRONTMATTER_MISSING', 'warning', message, 1);
    return NO_FIELDS;
  }
  if (yaml.length > MAX_FRONTMATTER) {
    const message = `The frontmatter has ${yaml.length} characters, more than ${MAX_FRONTMATTER}; it was not read. Move text into the body.`;
    add('FRONTMATTER_TOO_LARGE', 'error', message, 1);
    // Its lines may still forbid models to load the skill.
    return { ...NO_FIELDS, ...readFieldsByLine(yaml.slice(0, MAX_FRONTMATTER)) };
  }
  if (oddity === 'unclosed') {
    const message = 'The frontmatter has no closing --- line. Add one after its last field.';
    add('FRONTMATTER_UNCLOSED', 'error', message, yamlLine - 1);
  }
  if (oddity === 'leading-blank') {
    add('FRONTMATTER_NOT_AT_START', 'warning', 'Blank lines stand before the opening ---. Remove them.', 1);
  }
  if (yaml.trim() === '') return NO_FIELDS;
  const fields = readYamlFields(yaml);
  for (const key of fields.repaired) {
    const message = `The value of "${key}" is not valid YAML as it stands and was taken as plain text. ${IN_QUOTES}`;
    add('FRONTMATTER_REPAIRED', 'warning', message, yamlLine + fields.lineOf(key) - 1, { field: key });
  }
  if (fields.error) {
    const { message: reason, line, notMapping } = fields.error;
    const what = notMapping
      ? `The frontmatter holds no fields: ${reason}`
      : `The frontmatter is not valid YAML (${reason})`;
    const remedy = notMapping ? 'Write each field as "name: value".' : 'Correct it from this line on.';
    const message = `${what}; only its name, description and invocation lines were used. ${remedy}`;
    add('FRONTMATTER_INVALID', 'error', message, yamlLine + line - 1);
  }
  return fields;
}

function readLabels(from: FieldSource): Pick<SkillHeader, (typeof LABELS)[number]> {
  const labels: Record<string, string> = {};
  for (const key of LABELS) {
    const value = from.data[key];
    if (value === undefined || value === null) continue;
    const text = Array.isArray(value) ? undefined : readText(value);
    if (text === undefined) report(key, from, 'text', 'it was ignored. Write one text, in quotes.');
    else labels[key] = foldLine(text);
  }
  return labels;
}

function othersOf(data: YamlFields['data']): SkillHeader['extra'] {
  const others = Object.keys(data).filter((key) => !OWN_FIELDS.has(key));
  return others.length === 0 ? EMPTY_RECORD : Object.fromEntries(others.map((key) => [key, data[key]]));
}

function readMetadata(from: FieldSource): Pick<SkillHeader, 'metadata' | 'gate'> {
  const { data, add, lineOf } = from;
  if (data.metadata === undefined || data.metadata === null) return { metadata: EMPTY_RECORD };
  const metadata = asMapping(data.metadata);
  if (!metadata) {
    report('metadata', from, 'a mapping', 'it was ignored. Write lines such as "key: value" below it.');
    return { metadata: {} };
  }
  const gate = readGate(metadata, (message) =>
    add('FIELD_INVALID', 'warning', message, lineOf('metadata'), { field: 'metadata' }),
  );
  return { metadata, ...(gate ? { gate } : {}) };
}

function readName({ data, add, lineOf }: FieldSource, directory: string, expected: boolean): string {
  const given = readText(data.name);
  const name = given === undefined ? '' : foldLine(given);
  if (!name) {
    const message = `${whyNoText('name', data)}; the directory's name "${directory}" is used. ${nameRemedy(directory)}`;
    if (expected) add('NAME_MISSING', 'warning', message, Object.hasOwn(data, 'name') ? lineOf('name') : 1);
    return directory;
  }
  if (!isName(name)) {
    const message = `The name "${shorten(name, 80)}" should be ${NAME_RULE}. Rename the skill: name and directory.`;
    add('NAME_INVALID', 'warning', message, lineOf('name'), { name });
  }
  if (name !== directory && name.normalize('NFKC') !== directory.normalize('NFKC')) {
    const message = `The name "${shorten(name, 80)}" differs from the directory "${directory}", which is the id. Make them equal.`;
    add('NAME_MISMATCH', 'warning', message, lineOf('name'), { name, directory });
  }
  return name;
}

function readDescription({ data, add, lineOf }: FieldSource, body: () => string, expected: boolean): string {
  const given = [data.description, data.when_to_use].filter(hasLetterOrEmoji);
  const description = foldLine(given.join(' '));
  if (description) {
    // Counting code points takes time, and there are never more of them than UTF-16 units.
    const length = description.length > MAX_DESCRIPTION ? codePoints(description) : 0;
    if (length > MAX_DESCRIPTION) {
      const own = codePoints(foldLine(readText(data.description) ?? ''));
      const key = own > MAX_DESCRIPTION ? 'description' : 'when_to_use';
      const what = own === length ? 'The description has' : 'The description and when_to_use together have';
      const message = `${what} ${length} characters, more than ${MAX_DESCRIPTION}. Shorten ${key}: every prompt contains it.`;
      add('DESCRIPTION_TOO_LONG', 'warning', message, lineOf(key), { length });
    }
    return description;
  }
  const paragraph = firstParagraph(body());
  if (paragraph && expected) {
    const message = `${whyNoText('description', data)}; the first paragraph is used. Write one that says what the skill does and when.`;
    const line = Object.hasOwn(data, 'description') ? lineOf('description') : 1;
    add('DESCRIPTION_MISSING', 'warning', message, line);
  }
  return paragraph;
}

/** Prose, at most 300 characters; a heading when there is nothing else. */
function firstParagraph(body: string): string {
  for (const block of body.replace(/\r\n?/g, '\n').split(/\n[ \t]*\n/)) {
    const prose = foldLine(block.trim().replace(/^#{1,6}[^\r\n]*/gm, ''));
    if (/[\p{L}\p{N}]/u.test(prose)) return shorten(prose, 300);
  }
  return shorten(foldLine(body.replace(/^[#\s]+/, '')), 300);
}
