import { isSkillFileName } from '../../../core/sources/walk/names.ts';
import type { ClassifiedFile } from './rule.ts';
import { re } from './rules/words.ts';

/**
 * Whether a file lies among samples and nothing in the rest of the skill leads to it: no name of its folder, no glob,
 * import, assembled name or test runner, and no program that walks through its own folder. In doubt something does.
 */
export function isAside(file: ClassifiedFile, skill: readonly ClassifiedFile[]): boolean {
  if (!liesAside(file)) return false;
  return !skill.some((other) => other.text !== '' && !liesAside(other) && leadsTo(file.path.toLowerCase(), other));
}

// --- internal ---

const SAMPLES = /^(?:fixtures|samples|tests?|patterns|reports)$/i;
const INSTALLS = /^(?:(?:pre|post)?install|setup|conftest|makefile|package\.json)/i;

function liesAside({ path, executable }: ClassifiedFile): boolean {
  const folders = path.split('/');
  const name = folders.pop() ?? '';
  return !executable && !isSkillFileName(name) && !INSTALLS.test(name) && folders.some((one) => SAMPLES.test(one));
}

const RUNS_TESTS =
  /\b(?:pytest|unittest|vitest|jest|mocha|bats|tox|(?:npm|pnpm|yarn|bun|go|cargo|make|deno)\s(?:run\s)?test|node\s--test)\b/;
const RUNS_ALL =
  /\b(?:run|execute|source|load|import|follow|apply)\b[^.\n]{0,30}\b(?:every|each|all|any)\b[^.\n]{0,30}\b(?:files?|scripts?)\b[^.\n]{0,20}\b(?:skill|sub)?(?:folders?|director(?:y|ies)|package|skill)\b/;
/** Runs a path that the text does not show. */
const RUNS_COMPUTED =
  /\b(?:require|import|import_module|run_path|spec_from_file_location)\(\s?(?!["'`)])|\bexec\(\s?(?:open|compile)\b|(?:^|[;&|\s])(?:source|\.|(?:ba|z|da)?sh|python3?|node)\s["']?[^\s"';|&]{0,60}\$\{?\w+\}?["']?(?=\s|$|[;&|)])/m;
const RUNS =
  /(?<![.\w])(?:(?:ba|z|da)?sh|source|python3?|node|exec|chmod|xargs)\b|\bfor \w+ in\b|\b(?:glob\w*|import|require)\(/;
const OWN_FOLDER = /__file__|__dirname|import\.meta|\bbash_source\b|\$0\b|\bskill_?(?:dir|root|path)\b/;
const WALKS = /\b(?:walk|rglob|glob|iterdir|listdir|scandir|readdir(?:sync)?)\b|\bfind\s/;
const GLOB = /[\w./-]{0,80}[*?[][\w./*?[\]-]{0,80}/g;

function leadsTo(path: string, { text }: ClassifiedFile): boolean {
  const lower = text.toLowerCase();
  // `"te" + "st"` and `["te", "st"].join("")` name it, too.
  const added = lower.replace(/["'`]\s{0,3}[+.]?\s{0,3}["'`]/g, '');
  const texts = [lower, added, added.replace(/["'`]\s{0,3},\s{0,3}["'`]/g, '')];
  const folders = path.split('/');
  const file = folders.pop() ?? '';
  const first = folders.findIndex((folder) => SAMPLES.test(folder));
  const anyOf = (names: readonly string[]) => `(?<![\\w-])(?:${names.map(escaped).join('|')})`;
  const samples = anyOf(folders.slice(first));
  const named = re`${samples}(?:[/\\"'\`]|\s(?:folder|director))|\b(?:cd|from|import|-m)\s\.?${samples}\b|${anyOf([file])}(?!\w)|\b(?:from|import|require|source|include|run)\b[\s"'(./\\\w]{0,40}${anyOf([file.replace(/\.\w+$/, '')])}\b`;
  if (texts.some((one) => named.test(one)) || RUNS_ALL.test(lower)) return true;
  if (first > 0 && re`${anyOf(folders.slice(0, first))}/(?![\w.-])`.test(lower)) return true;
  if (folders.some((folder) => /^tests?$/.test(folder)) && RUNS_TESTS.test(lower)) return true;
  return RUNS_COMPUTED.test(lower) || walksOwnFolder(lower) || hasGlobFor(path, lower);
}

function walksOwnFolder(text: string): boolean {
  if (!OWN_FOLDER.test(text) || !WALKS.test(text)) return false;
  const lines = text.split('\n');
  const names = new Set(lines.filter((line) => OWN_FOLDER.test(line)).map((line) => /(\w{1,40})\s?=/.exec(line)?.[1]));
  return lines.some(
    (line) => WALKS.test(line) && (OWN_FOLDER.test(line) || line.split(/\W+/).some((one) => names.has(one))),
  );
}

/** Its fixed beginning and end are compared. Without a beginning only where something is run. */
function hasGlobFor(path: string, text: string): boolean {
  const tails = path.split('/').map((_, at, all) => all.slice(at).join('/'));
  return text.split('\n').some((line) => {
    const found = line.length < 2000 && /[*?[]/.test(line) ? (line.match(GLOB) ?? []) : [];
    return found.some((glob) => {
      const start = /^[./]*([^*?[]*)/.exec(glob)?.[1] ?? '';
      const end = /[^*?\]]*$/.exec(glob)?.[0] ?? '';
      if (start === '' ? !RUNS.test(line) : !glob.includes('/')) return false;
      return tails.some((tail) => tail.startsWith(start) && tail.endsWith(end));
    });
  });
}

function escaped(text: string): string {
  return text.replace(/[^\w\s]/g, '\\$&');
}
