import { matchesOf } from '../../../../../lib/text/index.ts';
import { isSkillFileName } from '../../../core/sources/walk/names.ts';
import { namesIn } from './flow.ts';
import { passagesOf } from './passages.ts';
import type { ClassifiedFile, FileMatch, Passage } from './rule.ts';
import { OFFICIAL } from './rules/official-installers.ts';
import { ENVIRONMENT, FETCH, re, SECRET_STORE, SEND } from './rules/words.ts';
import { stanceOf } from './stance.ts';

/**
 * What is fetched and kept under a name that a later step runs, or read where secrets are kept and kept under a name
 * that a later step sends: over sections and files, in the order in which an agent comes to them. `undefined` is a
 * break.
 */
export function* stepsOf(skill: readonly ClassifiedFile[]): Iterable<FileMatch | undefined> {
  const read = skill.filter(({ prose, script }) => prose || script);
  if (!(yield* mayBegin(read))) return;
  const kept: ReturnType<typeof keptAs>[] = [];
  for (const { file, text, passage, start } of linesInOrder(read)) {
    yield undefined;
    const span = { start, end: start + text.length };
    const isExcused = () => stanceOf(passage, span, { match: [] }, file.script) !== undefined;
    const isCode = passage.isCodeAt(start);
    const begins = (one: typeof FETCHES) => one.from.test(text) && !(one === FETCHES && OFFICIAL.test(text));
    let step = MAY_BEGIN.test(text) ? STEPS.find(begins) : undefined;
    for (const one of kept) {
      if ((one.onlyIn ?? file) !== file || !text.includes(one.name)) continue;
      if (!one.isFound && one.ends.test(text) && !isExcused()) {
        one.isFound = true;
        const stance = one.step === SECRETS && one.isCode && isCode && !one.onlyIn ? undefined : 'apart';
        const words = passage.shown.slice(span.start, span.end);
        yield { file: file.path, line: passage.lineAt(start), words, message: one.step.message, stance };
      } else if (one.moves.test(text)) step ??= one.step;
    }
    if (!step || kept.length >= MAX_KEPT || isExcused()) continue;
    for (const [name, isLocal] of namesKept(text, file.prose, isCode)) {
      const onlyIn = isLocal ? file : undefined;
      if (kept.some((one) => one.name === name && one.onlyIn === onlyIn)) continue;
      kept.push(keptAs(name, step, isCode, onlyIn));
    }
  }
}

// --- internal ---

const MAX_KEPT = 50;
const RUNS = String.raw`(?:(?:^|[;&]\s?|\b(?:sudo|nohup|exec|then|do)\s)["']?(?:\./|~/|/|\$)|(?<![\w.-])(?:(?:ba|z|da)?sh|source|python[\d.]{0,4}|node|perl|ruby|deno run|bun run|chmod\s(?:[augo]{0,3}\+x|[0-7]{3,4})|start|run|execute|launch|invoke)\s(?:-\w{1,8}\s){0,3}(?:(?:the|it|file|script|program|downloaded)\s){0,3})["']?[\w$./{}~-]{0,80}?`;
const CALLS = String.raw`\b(?:run|call|popen|system|exec\w*|eval|spawn\w*|fork|check_\w+|startfile|import_module|run_path|require|import|chmod\w*|compile|function)\(\s?(?:["'\`(\[]{0,3}[\w$./{}~-]{0,80}?|["'\`][^"'\`\n]{0,60}\$\{)`;
const HANDS = String.raw`(?:${SEND}|\b(?:send|post|upload|attach|submit|transmit|include|forward|share|deliver)\b)`;

/** `ends` is for a line with the name, `isLocal` for a variable. */
const FETCHES = {
  from: re`\b${FETCH}\b(?:[^\n]{0,200}?https?://(?!localhost|127\.)|\()|\b(?:download|fetch|get|retrieve|grab|pull|save)\b[^\n]{0,120}?https?://(?!localhost|127\.)`,
  ends: (name: string, isLocal: boolean) =>
    re`(?:${RUNS}${isLocal ? String.raw`(?<=\$\{?)` : ''}|${CALLS})(?<![\w-])${name}(?![\w-]|\.\w{1,4}\b(?!\())`,
  message: 'Fetches a file that a later step runs',
};
const SECRETS: typeof FETCHES = {
  from: re`${SECRET_STORE}|${ENVIRONMENT}`,
  ends: (name) =>
    re`${HANDS}[^\n]{0,200}(?<![\w-])${name}(?![\w-]|\.\w)|(?<![\w-])${name}(?![\w-]|\.\w)[^\n]{0,120}?(?:\b(?:to|at)\b[^\n]{0,20}https?://|${SEND})`,
  message: 'What is read where secrets are kept is sent by a later step',
};
const STEPS = [FETCHES, SECRETS];
const STORE = re`${SECRET_STORE}`;
const KEEPS =
  /(?:>>?|\btee(?: -a)?|\s--?o(?:ut(?:put|file)?(?:-document|-file)?)?[= ]|\b(?:cp|mv|ln|base64|gzip)\s(?:-\w{1,5}\s){0,2}\S{1,120}|\btar\s-?(?:c\w{0,3}f|\w{1,3}cf)|\bzip\s(?:-\w{1,5}\s)?|(\bopen\(|\bwritefile\w*\(|\burlretrieve\([^\n,]{1,200},)|\b(?:save|store|write|keep|download|put|place|copy|saved|stored|written|kept|downloaded)\b[^.\n]{0,80}?\b(?:as|to|in|into|at|under)|\bwget\s(?:-\w{1,5}\s){0,3}(?=["']?https?:))\s?["'(]{0,2}([\w$./{}~@%:-]{2,200})/g;

/** Each with whether it is a variable. */
function* namesKept(text: string, isProse: boolean, isCode: boolean): Generator<readonly [string, boolean]> {
  for (const [, call, to = ''] of matchesOf(text, KEEPS)) {
    const name = /([^/\\${}]{3,80}?)["'.,:;)}]{0,3}$/.exec(to)?.[1] ?? '';
    if (/^(?:[^a-z]*|null|stdout|stderr)$/.test(name) || STORE.test(to) || !(isCode || /[./]/.test(to))) continue;
    yield [name, to.startsWith('$') || (call !== undefined && !/[./]/.test(to))];
  }
  for (const name of isProse ? [] : namesIn(text)) if (name.length > 1) yield [name, true];
}

function keptAs(name: string, step: typeof FETCHES, isCode: boolean, onlyIn: ClassifiedFile | undefined) {
  const written = name.replace(/[^\w\s]/g, '\\$&');
  const moves = onlyIn
    ? re`(?:=\s?(?:await\s)?|\bwrite\w*\([^\n]{0,80}?)(?<![\w.])${written}\b`
    : re`(?<![\w-])${written}(?![\w-])[^\n]{0,80}(?:>|\s-o|\b(?:as|to|into)\b)|\b(?:cp|mv|base64|gzip|tar|zip)\s[^\n]{0,80}(?<![\w-])${written}(?![\w-])`;
  return { name, step, isCode, onlyIn, ends: step.ends(written, onlyIn !== undefined), moves, isFound: false };
}

const MAY_BEGIN =
  /https?:\/\/|\.(?:ssh|aws|kube|config|docker|netrc|openclaw|claude|codex|clawdbot|gnupg)\b|\b(?:id_(?:rsa|ed25519)|(?:print)?env|environ|urlopen|urlretrieve|fetch|keychain|login data)\b|\b(?:requests|axios|httpx)\.get/i;
const BEGINS = new RegExp(MAY_BEGIN, 'gi');

/** A fast test. It cuts the text before it looks for the ends of a line: a line may be as long as the file. */
function* mayBegin(files: readonly ClassifiedFile[]): Generator<undefined, boolean> {
  for (const { text, prose } of files) {
    for (const { index } of matchesOf(text, BEGINS)) {
      yield undefined;
      const before = text.slice(Math.max(0, index - 500), index);
      const after = text.slice(index, index + 500);
      const line = `${before.slice(before.lastIndexOf('\n') + 1)}${after.split('\n', 1)[0]}`.toLowerCase();
      if (STEPS.some(({ from }) => from.test(line)) && !namesKept(line, prose, true).next().done) return true;
    }
  }
  return false;
}

/** SKILL.md, each file where a line leads to it, and at last what no line leads to. */
function* linesInOrder(files: readonly ClassifiedFile[]): Generator<Line> {
  const byName = new Map(files.map((file) => [file.path.toLowerCase().split('/').at(-1), file]));
  const left = new Set([...files.filter(({ path }) => isSkillFileName(path)), ...files]);
  const walks: Generator<Line>[] = [];
  const begin = (file: ClassifiedFile | undefined) => file && left.delete(file) && walks.push(linesOf(file));
  while (walks.length > 0 || begin([...left][0])) {
    const { value: line } = walks.at(-1)?.next() ?? {};
    if (line) {
      yield line;
      const names = line.text.match(/[\w-][\w.-]*\.\w{1,5}\b/g) ?? [];
      for (const name of names.reverse()) begin(byName.get(name));
    } else walks.pop();
  }
}

interface Line {
  readonly file: ClassifiedFile;
  readonly passage: Passage;
  readonly start: number;
  readonly text: string;
}

function* linesOf(file: ClassifiedFile): Generator<Line> {
  for (const passage of passagesOf(file.text, file.prose)) {
    let start = 0;
    for (const text of passage?.text.split('\n') ?? []) {
      if (passage) yield { file, passage, start, text };
      start += text.length + 1;
    }
  }
}
