import { isName, nameValue } from '../../core/skill/field-values.ts';
import { bodyOf, splitFrontmatter } from '../../core/skill/frontmatter.ts';
import { OWN_FIELDS, parseSkill } from '../../core/skill/parse-skill.ts';
import {
  fieldAt,
  newFrontmatter,
  readWithPackage,
  readYamlFields,
  type YamlFields,
} from '../../core/skill/yaml-fields.ts';

export interface Repair {
  /** The whole text; the same one where only the name of the file is wrong. */
  readonly text: string;
  /** In words. */
  readonly done: readonly string[];
}

/**
 * Writes down what `parseSkill` repairs: removes a byte order mark and blank lines before the frontmatter, closes it
 * where the loader ends it, quotes values that YAML refuses, and sets a missing, invalid or different name to that of
 * the directory. Text that begins with prose gets a frontmatter. All other lines keep their bytes; the file is renamed
 * to SKILL.md.
 * @returns undefined when there is nothing to repair, or when another value or the body would be read differently
 * afterwards, here or by a YAML reader that does not repair.
 */
export function repairSkill(text: string, directory: string, file = 'SKILL.md'): Repair | undefined {
  const repair = repairText(text, directory);
  if (file === 'SKILL.md') return repair;
  const renamed = `the file ${file} was renamed to SKILL.md, which other programs look for`;
  return { text: repair?.text ?? text, done: [...(repair?.done ?? []), renamed] };
}

// --- internal ---

function repairText(text: string, directory: string): Repair | undefined {
  const done: string[] = [];
  const whole = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (whole !== text) done.push('the byte order mark was removed');
  const split = splitFrontmatter(whole);
  const repaired =
    split.yaml === undefined
      ? withNewFrontmatter(whole, directory, done)
      : withFrontmatter(whole, split, split.yaml, directory, done);
  return done.length > 0 && isSame(text, repaired, directory) ? { text: repaired, done } : undefined;
}

/** Prose at the beginning, after headings. Text like fields, markup or code means something else. */
const PROSE = /^(?:\s*#{1,6}[ \t][^\r\n]*[\r\n])*\s*(?!\S+:)["'*_(]*[\p{L}\p{N}]/u;
const FEWEST_WORDS = 4;

function withNewFrontmatter(text: string, directory: string, done: string[]): string {
  const { header } = parseSkill(text, '', directory);
  const description = header?.description ?? '';
  const isUnclear = !PROSE.test(text) || /^(?:name|description)[ \t]*:/im.test(text) || description.endsWith('…');
  if (isUnclear || !isName(directory) || description.split(' ').length < FEWEST_WORDS) return text;
  const end = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  done.push('a frontmatter was added, with the name of the directory and the first paragraph as description');
  return newFrontmatter(directory, description).replaceAll('\n', end) + text;
}

function withFrontmatter(
  text: string,
  { oddity, bodyOffset }: ReturnType<typeof splitFrontmatter>,
  yaml: string,
  directory: string,
  done: string[],
): string {
  const end = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  const blank = /^\s*?(?=---)/.exec(text)?.[0].length ?? 0;
  if (oddity === 'leading-blank') done.push('the blank lines before the frontmatter were removed');
  const yamlStart = text.indexOf(end, blank) + end.length;
  const opening = text.slice(blank, yamlStart);
  const lines = yaml.split(end);
  const isRead = readYamlFields(yaml).error === undefined;
  // If it is no YAML, its lines are not changed: their meaning is unknown.
  const fields = (isRead ? withName(withQuotes(lines, done), directory, end, done) : lines).join(end);
  if (oddity !== 'unclosed') return opening + fields + text.slice(yamlStart + yaml.length);
  done.push('the frontmatter was closed with ---');
  const closed = fields === '' || fields.endsWith(end) ? fields : fields + end;
  return `${opening}${closed}---${end}${text.slice(bodyOffset)}`;
}

function withQuotes(lines: readonly string[], done: string[]): readonly string[] {
  const fields = readYamlFields(lines.join('\n'));
  const quoted = [...lines];
  // From the last one on, because a value on several lines becomes one line.
  for (const key of [...fields.repaired].sort((a, b) => fields.lineOf(b) - fields.lineOf(a))) {
    const field = fieldAt(quoted, fields.lineOf(key) - 1);
    if (field?.key !== key) continue;
    const { at, end, value } = field;
    const inQuotes = /\p{Cc}/u.test(value) ? JSON.stringify(value) : `'${value.replaceAll("'", "''")}'`;
    quoted.splice(at, end - at, `${key}: ${inQuotes}`);
    done.push(`the value of ${key} was put in quotes`);
  }
  return quoted;
}

function withName(lines: readonly string[], directory: string, end: string, done: string[]): readonly string[] {
  if (!isName(directory)) return lines;
  const text = `---${end}${lines.join(end)}${end}---${end}x`;
  const problem = parseSkill(text, '', directory).problems.find(({ code }) => NAME_CODES.has(code));
  if (!problem) return lines;
  done.push(`the name was set to that of the directory, ${directory}`);
  const line = `name: ${nameValue(directory)}`;
  const at = readYamlFields(lines.join('\n')).lineOf('name') - 1;
  const field = fieldAt(lines, at);
  return field?.key === 'name' ? lines.toSpliced(field.at, field.end - field.at, line) : [line, ...lines];
}

const NAME_CODES: ReadonlySet<string> = new Set(['NAME_MISSING', 'NAME_INVALID', 'NAME_MISMATCH']);

function isSame(before: string, after: string, directory: string): boolean {
  const [was, is] = [parseSkill(before, '', directory), parseSkill(after, '', directory)];
  if (!was.header || !is.header || bodyOf(before) !== bodyOf(after)) return false;
  const known = new Set(was.problems.map(({ code }) => code));
  return (
    JSON.stringify({ ...was.header, name: '' }) === JSON.stringify({ ...is.header, name: '' }) &&
    is.problems.every(({ code }) => known.has(code)) &&
    (is.problems.length < was.problems.length || before.startsWith('\ufeff')) &&
    keepsFields(splitFrontmatter(before).yaml ?? '', splitFrontmatter(after).yaml ?? '')
  );
}

/**
 * Whether every field but the name that some YAML reader finds in `before` has the same value in `after`. Text that
 * YAML refuses is read in several ways, each after a small correction: a field in one may be text in another.
 */
function keepsFields(before: string, after: string): boolean {
  const given = new Map<string, unknown>();
  const first = readWithPackage(before);
  const corrected = first.repaired.length === 0 ? [] : CORRECTIONS.map((correct) => inRepaired(before, first, correct));
  for (const text of new Set([before, ...corrected])) {
    const { data, repaired, error } = readWithPackage(text);
    if (error) continue;
    const read = Object.entries(data).filter(([key]) => key !== 'name' && !repaired.includes(key) && !given.has(key));
    for (const [key, value] of read) given.set(key, value);
  }
  const { data } = readWithPackage(after);
  return [...given].every(([key, value]) => JSON.stringify(value) === JSON.stringify(data[key]));
}

/** Of an indented line that YAML refuses or takes as a part of the value above. */
const CORRECTIONS: readonly ((line: string) => string)[] = [
  (line) => line.replace(/^[ \t]+/, (blanks) => blanks.replaceAll('\t', '  ')),
  (line) => line.replace(/^[ \t]*\t[ \t]*/, ''),
  (line) => line.replace(/^[ \t]+(?=([\w-]+):(?:\s|$))/, (blanks, key) => (OWN_FIELDS.has(key) ? '' : blanks)),
];

function inRepaired(yaml: string, { repaired, lineOf }: YamlFields, correct: (line: string) => string): string {
  const lines = yaml.split(/\r\n|\n|\r/);
  for (const key of repaired) {
    const field = fieldAt(lines, lineOf(key) - 1);
    for (let at = (field?.at ?? 0) + 1; at < (field?.end ?? 0); at++) lines[at] = correct(lines[at] ?? '');
  }
  return lines.join('\n');
}
