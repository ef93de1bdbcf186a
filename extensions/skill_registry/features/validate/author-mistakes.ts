import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { withFallback } from '../../../../lib/errors/index.ts';
import { decodedAddress, shorten } from '../../../../lib/text/index.ts';
import { bodyOf, splitFrontmatter } from '../../core/skill/frontmatter.ts';
import type { SkillHeader } from '../../core/skill/parse-skill.ts';

export interface AuthorMistake {
  readonly code: 'BODY_EMPTY' | 'DESCRIPTION_THIN' | 'FENCE_UNCLOSED' | 'FILE_MISSING' | 'HOME_PATH';
  readonly message: string;
  /** 1-based. */
  readonly line?: number;
}

/** `header`: of the text. `directory`: real path of the skill, where files that it names are looked for. */
export function* authorMistakes(
  text: string,
  header: SkillHeader | undefined,
  directory: string,
): Generator<AuthorMistake> {
  const { lines, unclosed } = bodyLines(text);
  yield* descriptionMistakes(header);
  if (bodyOf(text) === '') {
    const message =
      'There is no text below the frontmatter, so an agent that loads the skill is told nothing. Write it.';
    yield { code: 'BODY_EMPTY', message };
  }
  if (unclosed !== undefined) {
    const message = 'The block of code that begins here is not closed, so all text below it is code. Close it.';
    yield { code: 'FENCE_UNCLOSED', message, line: unclosed };
  }
  yield* lineMistakes(lines, directory);
}

// --- internal ---

interface BodyLine {
  readonly text: string;
  readonly line: number;
  /** The language of the block of code around it, perhaps empty; undefined: prose. */
  readonly code: string | undefined;
}

/** Only the beginning of a longer line is searched: patterns take longer than linear time. */
const MAX_LINE = 2_000;
const FENCE = /^[\s>]*(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*$/;

function bodyLines(text: string) {
  const { bodyOffset } = splitFrontmatter(text);
  const first = text.slice(0, bodyOffset).split(/\r\n|\n|\r/).length;
  const body = text.slice(bodyOffset).replace(/<!--[\s\S]*?(?:-->|$)/g, (comment) => comment.replace(/[^\r\n]/g, ''));
  const lines: BodyLine[] = [];
  let open: { readonly mark: string; readonly code: string; readonly line: number } | undefined;
  for (const [index, raw] of body.split(/\r\n|\n|\r/).entries()) {
    const line = first + index;
    const [, mark = '', code = ''] = FENCE.exec(raw.slice(0, MAX_LINE)) ?? [];
    if (mark === '') lines.push({ text: raw.slice(0, MAX_LINE), line, code: open?.code });
    else if (!open) open = { mark, code: code.toLowerCase(), line };
    else if (code === '' && mark.startsWith(open.mark)) open = undefined;
  }
  return { lines, unclosed: open?.line };
}

function descriptionMistakes({ description = '', fillsLeft }: Partial<SkillHeader> = {}): readonly AuthorMistake[] {
  // In a draft each FILL is reported elsewhere.
  const isFill = fillsLeft === undefined && /\bFILL\b/.test(description);
  // A text without blanks may be a sentence in a language that writes none.
  const isShort = /^[\p{Script=Latin}\p{N}\p{P}\s]+$/u.test(description) && description.split(' ').length <= 2;
  if (!isFill && !isShort) return [];
  const why = isFill ? 'still has a FILL of the template' : `has only the words ${JSON.stringify(description)}`;
  const message = `The description ${why}. Write what the skill does and when to use it: agents choose by it.`;
  return [{ code: 'DESCRIPTION_THIN', message }];
}

const MAX_FILES = 200;

function* lineMistakes(lines: readonly BodyLine[], directory: string): Generator<AuthorMistake> {
  const named = new Map<string, number>();
  const homes = new Map<string, number>();
  for (const one of lines) {
    for (const path of filesIn(one)) if (!named.has(path) && named.size < MAX_FILES) named.set(path, one.line);
    const home = one.code === undefined || SHELL.has(one.code) ? HOME.exec(one.text) : null;
    if (home && !NO_PERSON.test(home[1] ?? '') && !EXAMPLE.test(one.text) && homes.size < MAX_FILES)
      homes.set(home[0], one.line);
  }
  const shown = (path: string): string => JSON.stringify(shorten(path, 200));
  for (const [path, line] of named) {
    // It counts as there, too, when that is unknown.
    const isThere = withFallback(() => lstatSync(join(directory, path), { throwIfNoEntry: false }) !== undefined, true);
    // A FILL of the template is still to be written.
    if (path.includes('FILL') || isThere) continue;
    const message = `The skill names ${shown(path)}, which is not there. Add the file, or correct the path.`;
    yield { code: 'FILE_MISSING', message, line };
  }
  for (const [path, line] of homes) {
    const message = `${shown(path)} is a folder of one person, which nobody else has. Name a path relative to the skill.`;
    yield { code: 'HOME_PATH', message, line };
  }
}

const SHELL: ReadonlySet<string> = new Set(['bash', 'sh', 'shell', 'zsh', 'console']);
const LINK = /(?<!!)\[[^\]]*\]\(\s*<?([^\s()<>]+)>?(?:\s+"[^"]*")?\s*\)/g;
const NAMED = /(?<![\w./~$@}:*-])(?:\.\/)?((?:references|scripts)\/[\w./-]*\w\.[A-Za-z]\w{0,5})(?![\w/*<{[-])/g;
/** In a block of commands: what is run, not its arguments. */
const RUN =
  /^\s*(?:\$ )?(?:(?:uv run|python3?|bash|sh|node|npx tsx|bun) )?(?:\.\/)?(scripts\/[\w./-]*\w\.[A-Za-z]\w{0,5})(?=\s|$)/;
const HOME = /(?<![\w.~:/-])(?:\/(?:home|Users)|[A-Z]:\\Users)[/\\]([\w.-]+)(?:[/\\][\w./\\-]*)?/;
/** No person: placeholders, machines, examples. */
const NO_PERSON =
  /^(?:(?:your?|my|the|some|an?)?[-_.]?(?:user|username|name|home|me|you|myuser|account|login)s?\d*|alice|bob|(?:john|jane)(?:[-_.]?doe)?|jdoe|shared|public|all|default|runner|agent|ubuntu|debian|node|app|appuser|vscode|codespace|linuxbrew|coder|dev|developer|sandbox|admin|root|pi|git|claude|openclaw|clawd(?:bot)?|x+|foo|test|example|\.+)$/i;
const EXAMPLE = /\be\.g\b|\bexample|hard-?coded/i;
/** The skill creates the file, it is an example, or it may be missing. */
const NOT_MEANT =
  /\b(?:creat|writ|sav|generat|output|produc|stor|export|add|mak|mkdir|touch|copy|copie|renam|new|draft|append|move|put|split|extract|into|if (?:it|they|present|exists?|available)|optional|e\.g|example|such as|like|would|could|may|might|instead|no|not|never|without|don'?t|avoid|missing|✅|❌|your (?:repo|project)|the (?:repo|project|target)|(?:of|in) the skill|hard-?coded)\w*/i;

function* filesIn({ text, code }: BodyLine): Generator<string> {
  if (code !== undefined) {
    const run = SHELL.has(code) ? RUN.exec(text)?.[1] : undefined;
    if (run) yield run;
    return;
  }
  const prose = text.replace(/(`+)(?:(?!\1).)*\1/g, (span) => ' '.repeat(span.length));
  for (const [, target = ''] of prose.matchAll(LINK)) {
    const path = target.replace(/[?#].*$/, '');
    const isFile = /^(?:\.{0,2}\/)?[\w./%-]*[\w-]\.[A-Za-z]\w{0,5}$/.test(path) && !path.startsWith('/');
    if (isFile && !path.includes('...')) yield decodedAddress(path);
  }
  if (NOT_MEANT.test(text.replaceAll(NAMED, ''))) return;
  for (const [, path = ''] of text
    .replaceAll(LINK, '')
    .replace(/"[^"]*"|“[^”]*”/g, '')
    .matchAll(NAMED))
    yield path;
}
