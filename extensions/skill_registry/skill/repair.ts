import { isName, nameValue } from './field-values.ts';
import { bodyOf, splitFrontmatter } from './frontmatter.ts';
import { parseSkill } from './parse-skill.ts';
import { fieldAt, readYamlFields } from './yaml-fields.ts';

/** A SKILL.md with what the loader repairs whenever it reads it written down. */
export interface Repair {
  /** The whole text. */
  readonly text: string;
  /** What was done, in words. Not empty. */
  readonly done: readonly string[];
}

/**
 * Writes down what `parseSkill` repairs: a byte order mark and blank lines before the frontmatter go, a frontmatter that is not
 * closed ends where the loader ends it, values that YAML refuses stand in quotes, and the name is that of the directory when it lacks,
 * is not valid, or differs. All other lines keep their bytes.
 *
 * @returns undefined when there is nothing of it, or when another value or the body would be read differently afterwards.
 */
export function repairSkill(text: string, directory: string): Repair | undefined {
  const done: string[] = [];
  const whole = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (whole !== text) done.push('the byte order mark was removed');
  const split = splitFrontmatter(whole);
  const repaired = split.yaml === undefined ? whole : withFrontmatter(whole, split, split.yaml, directory, done);
  return done.length > 0 && isSame(text, repaired, directory) ? { text: repaired, done } : undefined;
}

// --- internal ---

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
  const fields = withName(withQuotes(yaml.split(end), done), directory, end, done).join(end);
  if (oddity !== 'unclosed') return opening + fields + text.slice(yamlStart + yaml.length);
  done.push('the frontmatter was closed with ---');
  const closed = fields === '' || fields.endsWith(end) ? fields : fields + end;
  return `${opening}${closed}---${end}${text.slice(bodyOffset)}`;
}

/** Quotes the values that were taken as plain text. */
function withQuotes(lines: readonly string[], done: string[]): readonly string[] {
  const fields = readYamlFields(lines.join('\n'));
  const quoted = [...lines];
  // From the last one on, because a value on several lines becomes one line.
  for (const key of [...fields.repaired].sort((a, b) => fields.lineOf(b) - fields.lineOf(a))) {
    const field = fieldAt(quoted, fields.lineOf(key) - 1);
    if (!field) continue;
    quoted.splice(field.at, field.end - field.at, `${key}: ${inQuotes(field.value)}`);
    done.push(`the value of ${key} was put in quotes`);
  }
  return quoted;
}

/** In double quotes only where the other ones cannot hold it. */
function inQuotes(value: string): string {
  return /\p{Cc}/u.test(value) ? JSON.stringify(value) : `'${value.replaceAll("'", "''")}'`;
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

/** Whether both are the same skill, but for its name, and the second has no problem that the first has not. */
function isSame(before: string, after: string, directory: string): boolean {
  const [was, is] = [parseSkill(before, '', directory), parseSkill(after, '', directory)];
  if (!was.header || !is.header || bodyOf(before) !== bodyOf(after)) return false;
  const known = new Set(was.problems.map(({ code }) => code));
  return (
    JSON.stringify({ ...was.header, name: '' }) === JSON.stringify({ ...is.header, name: '' }) &&
    is.problems.every(({ code }) => known.has(code)) &&
    (is.problems.length < was.problems.length || before.startsWith('\ufeff'))
  );
}
