import { yamlPackage } from '../../../kernel/host.ts';
import { oneLine } from '../../../lib/text/index.ts';
import { nearestIds } from '../search/names.ts';
import { invalidArgument } from '../skill/errors.ts';
import { splitFrontmatter } from '../skill/frontmatter.ts';

/** The text of a new SKILL.md. */
export function skillText(name: string, description: string, body: string): string {
  const head = yamlPackage().stringify({ name, description }, { lineWidth: 0 });
  return `---\n${head}---\n\n${body.trim()}\n`;
}

/**
 * SKILL.md with fields of its frontmatter set or, by null, removed; all else, comments included, stays as it is written.
 *
 * @throws INVALID_ARGUMENT when its frontmatter cannot be read as a mapping.
 */
export function patchFrontmatter(text: string, fields: Readonly<Record<string, unknown>>): string {
  const { yaml, bodyOffset } = splitFrontmatter(text);
  const { isMap, parseDocument } = yamlPackage();
  const document = parseDocument(yaml ?? '', { keepSourceTokens: true });
  if (document.errors.length > 0 || (document.contents !== null && !isMap(document.contents))) {
    throw invalidArgument('The frontmatter of this skill is no mapping that could be patched; edit the whole file.');
  }
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) document.delete(name);
    else document.set(name, value);
  }
  const start = text.startsWith('\ufeff') ? '\ufeff' : '';
  return `${start}---\n${document.toString({ lineWidth: 0 }).replace(/\n?$/, '\n')}---\n${text.slice(bodyOffset)}`;
}

/**
 * A text with one part of it replaced. Models write LF, whatever ends the lines of the file: line ends are not compared, and what is
 * new gets those of the place it comes to.
 *
 * @param path - In messages.
 * @param all - Replace it wherever it occurs. Default: false.
 * @throws INVALID_ARGUMENT unless `old` occurs once (with `all`: at least once), and is not what is to take its place.
 */
export function replaceText(present: string, old: string, next: string, path: string, all = false): string {
  const [text, wanted, changed] = [present, old, next].map((one) => one.replaceAll('\r\n', '\n')) as [
    string,
    string,
    string,
  ];
  if (wanted === '')
    throw invalidArgument('old_string is empty; give a text that occurs in the file, or the whole content.');
  if (wanted === changed) throw invalidArgument('old_string and new_string are the same; there is nothing to change.');
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + (all ? wanted.length : 1)))
    found.push(at);
  if (found.length === 0) throw invalidArgument(`String not found in ${path}. ${nearestLine(text, wanted)}`);
  if (found.length > 1 && !all) {
    throw invalidArgument(
      `old_string occurs ${found.length} times in ${path}. Give more of the lines around the one that is meant, so that it occurs once.`,
    );
  }
  const offset = offsetsIn(present);
  let [result, from] = ['', 0];
  for (const at of found) {
    const [start, end] = [offset(at), offset(at + wanted.length)];
    const lineEnd = /\r?\n/.exec(present.slice(start))?.[0] ?? (present.includes('\r\n') ? '\r\n' : '\n');
    result += present.slice(from, start) + changed.replaceAll('\n', lineEnd);
    from = end;
  }
  return result + present.slice(from);
}

// --- internal ---

/** Where an offset in the text with LF alone is in the text as it is; asked in ascending order. */
function offsetsIn(text: string): (offset: number) => number {
  let [at, passed] = [0, 0];
  return (offset) => {
    for (; passed < offset; passed++) at += text.startsWith('\r\n', at) ? 2 : 1;
    return at;
  };
}

/** Which line looks most like the first one that is not there. */
function nearestLine(text: string, wanted: string): string {
  const cut = (line: string): string => line.trim().slice(0, 64);
  const lines = text.split('\n');
  const there = new Set(lines);
  const missing = wanted.split('\n').find((line) => line.trim() !== '' && !there.has(line));
  if (missing === undefined)
    return 'Its lines are there, but not one after the other. Read the file again and copy it exactly.';
  const [near] = nearestIds(new Set(lines.map(cut).filter(Boolean)), cut(missing), 1);
  const at = lines.findIndex((line) => near !== undefined && cut(line).toLowerCase() === near.toLowerCase());
  const said = JSON.stringify(oneLine(missing, 60));
  const hint =
    at === -1
      ? `No line looks like ${said}.`
      : `Nearest to ${said} is line ${at + 1}: ${JSON.stringify(oneLine(lines[at] ?? '', 80))}.`;
  return `${hint} Read the file again and copy it exactly.`;
}
