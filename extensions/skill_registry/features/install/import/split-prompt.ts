import { splitFrontmatter } from '../../../core/skill/frontmatter.ts';
import { slugOf } from '../../../core/skill/skill.ts';

/** Each line of the prompt is in one of the parts. Line ends are LF. */
export interface SplitPrompt {
  /** The text before the first section, and the sections about the agent itself. */
  readonly prompt: string;
  /** The other sections in order; a section moved to `references` is a heading and a link here. */
  readonly body: string;
  readonly references: ReadonlyMap<string, string>;
  /** Headings of the sections that move to the skill. */
  readonly titles: readonly string[];
}

/** Ignores headings in code blocks, comments and Jinja blocks. @returns undefined when all sections stay. */
export function splitPrompt(text: string): SplitPrompt | undefined {
  const head = splitFrontmatter(text);
  const start = head.yaml === undefined || head.oddity ? 0 : text.slice(0, head.bodyOffset).split('\n').length - 1;
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const { headings, fenced } = headingsIn(lines, start);
  const sections = sectionsOf(lines, start, headings);
  const kept = lines.slice(0, sections[0]?.line);
  const moved = { body: [] as string[], titles: [] as string[], references: new Map<string, string>() };
  let keptLevel = Number.POSITIVE_INFINITY;
  for (const { level, title, line: from, to } of sections) {
    const part = lines.slice(from, to);
    if (level <= keptLevel) keptLevel = STAYS.test(title) ? level : Number.POSITIVE_INFINITY;
    if (level >= keptLevel) {
      kept.push(...part);
      continue;
    }
    moved.titles.push(title);
    if (moved.references.size < MOST && isReference(title, part, fenced.slice(from, to))) {
      const path = newPath(title, moved.references);
      moved.references.set(path, ended(part));
      moved.body.push(part[0] as string, '', `See [${path}](${path}).`, '');
    } else moved.body.push(...part);
  }
  if (moved.titles.length === 0) return undefined;
  return { prompt: ended(kept), ...moved, body: ended(moved.body) };
}

// --- internal ---

const STAYS = /^(your |the )?(role|role definition|identity|goals?|mission|working directory|workflow|constraints)$/i;
const EXAMPLES = /\b(examples?|samples?|templates?|patterns?|references?|appendix)\b/i;
/** Lines. An agent reads a shorter section faster in place than with another call. */
const SHORT = 20;
const LONG = 200;
const MOST = 200;

interface Heading {
  readonly line: number;
  readonly level: number;
  readonly title: string;
}

function sectionsOf(lines: readonly string[], start: number, headings: readonly Heading[]) {
  const [first] = headings;
  const isTitle =
    first && !STAYS.test(first.title) && lines.slice(start, first.line).every((line) => line.trim() === '');
  const rest = isTitle ? headings.slice(1) : headings;
  const begins = rest.filter(({ level }) => level <= (rest[0]?.level ?? 0));
  return begins.map((heading, at) => ({ ...heading, to: begins[at + 1]?.line ?? lines.length }));
}

function isReference(title: string, part: readonly string[], fenced: readonly boolean[]): boolean {
  const code = fenced.filter(Boolean).length;
  return part.length > LONG || (part.length >= SHORT && (EXAMPLES.test(title) || code * 2 >= part.length));
}

function newPath(title: string, taken: ReadonlyMap<string, string>): string {
  const slug =
    slugOf(title)
      .replace(/[^a-z0-9-]/g, '')
      .replace(/^-+|-+$/g, '') || 'section';
  for (let number = 1; ; number += 1) {
    const path = `references/${slug}${number === 1 ? '' : `-${number}`}.md`;
    if (!taken.has(path)) return path;
  }
}

function ended(lines: readonly string[]): string {
  return lines.length === 0 || lines.at(-1) === '' ? lines.join('\n') : `${lines.join('\n')}\n`;
}

const MARK = /\{#|#\}|<!--|-->|\{%[-+]?\s*(end)?(if|for|macro|call|filter|block|raw|verbatim|with|autoescape|trans)\b/g;
const ENDS = new Map([
  ['{#', '#}'],
  ['<!--', '-->'],
]);

function headingsIn(lines: readonly string[], start: number) {
  const headings: Heading[] = [];
  const fenced = lines.map(() => false);
  const last = new Map([...ENDS.values()].map((end) => [end, lines.findLastIndex((line) => line.includes(end))]));
  let [fence, comment, depth, isRaw] = ['', '', 0, false];
  for (const [at, line] of lines.entries()) {
    if (at < start) continue;
    const [, marks = ''] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence) {
      fenced[at] = true;
      if (marks[0] === fence[0] && marks.length >= fence.length && line.trim() === marks) fence = '';
      continue;
    }
    if (comment === '' && marks !== '' && !(marks[0] === '`' && line.trim().slice(marks.length).includes('`'))) {
      [fence, fenced[at]] = [marks, true];
      continue;
    }
    const [before] = /^ {0,3}#{1,6}(?=[ \t]|$)/.exec(line) ?? [];
    if (before !== undefined && comment === '' && depth === 0)
      headings.push({ line: at, level: before.trim().length, title: titleOf(line.slice(before.length)) });
    for (const [mark, end, word] of line.replace(/`[^`]*`/g, '').matchAll(MARK)) {
      if (comment) comment = mark === comment ? '' : comment;
      else if (isRaw && !(end && /^(raw|verbatim)$/.test(word ?? ''))) continue;
      else if (word) [depth, isRaw] = [Math.max(0, depth + (end ? -1 : 1)), !end && /^(raw|verbatim)$/.test(word)];
      // `{#` also begins an anchor (`## Title {#anchor}`), so it is a comment only if something closes it.
      else if ((last.get(ENDS.get(mark) ?? '') ?? -1) >= at) comment = ENDS.get(mark) ?? '';
    }
  }
  return { headings, fenced };
}

function titleOf(text: string): string {
  const title = text.trim();
  let end = title.length;
  while (title[end - 1] === '#') end -= 1;
  return end < title.length && (end === 0 || /\s/.test(title[end - 1] ?? '')) ? title.slice(0, end).trim() : title;
}
