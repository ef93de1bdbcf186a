import { createBreaks } from '../../../lib/breaks/index.ts';
import { oneLine } from '../../../lib/text/index.ts';
import { withoutSecrets } from './findings.ts';
import { spansOf } from './near.ts';
import { passagesOf } from './passages.ts';
import type { Match, Passage, PassageRule, Pattern, ReadFile, Rule } from './rule.ts';
import { RULES } from './rules/index.ts';
import type { Finding, FindingLevel, InspectedFile, Inspection } from './types.ts';

/** Raised by one whenever a rule changes: a part of every key under which an inspection is kept. */
export const RULE_SET = 1;

/**
 * Looks at the files of a skill. Nothing is run, and nothing but the given bytes is looked at: the same files give the same findings.
 * Takes linear time, with breaks for other work. Of one file the first 1 MiB is searched; a finding says where more is.
 */
export async function inspectSkill(files: Iterable<InspectedFile>): Promise<Inspection> {
  const takeBreak = createBreaks();
  const found = new Map<string, Finding>();
  for (const file of files) {
    const read = readFile(file);
    for await (const [rule, match] of matchesOfFile(read, takeBreak)) addTo(found, findingOf(rule, read.path, match));
  }
  const findings = [...found.values()].sort(byImportance);
  return { verdict: findings[0]?.level ?? 'info', findings };
}

/** The findings of `after` that `before` did not have: by rule, file and excerpt. */
export function newFindings(before: Inspection, after: Inspection): readonly Finding[] {
  const old = new Set(before.findings.map(keyOf));
  return after.findings.filter((finding) => !old.has(keyOf(finding)));
}

// --- internal ---

type TakeBreak = () => Promise<void>;

/** Bytes of one file that are searched. */
const MAX_BYTES = 1024 * 1024;
const PROSE = /\.(?:md|mdx|markdown|txt|rst|adoc|html?)$/i;
const LEVELS: readonly FindingLevel[] = ['block', 'warn', 'info'];

function readFile({ path, bytes, executable = false }: InspectedFile): ReadFile {
  const searched = bytes.subarray(0, MAX_BYTES);
  const isBinary = searched.subarray(0, 8000).includes(0);
  const text = isBinary ? '' : new TextDecoder().decode(searched);
  return { path, kind: isBinary ? 'binary' : 'text', prose: PROSE.test(path), executable, bytes, text };
}

async function* matchesOfFile(file: ReadFile, takeBreak: TakeBreak): AsyncGenerator<readonly [Rule, Match]> {
  for (const rule of RULES) {
    if (!('find' in rule)) continue;
    await takeBreak();
    for (const match of rule.find(file)) yield [rule, match];
  }
  const rules = RULES.filter((rule): rule is PassageRule => 'patterns' in rule);
  for (const passage of passagesOf(file.text, file.prose)) {
    for (const rule of rules) {
      for (const pattern of rule.patterns) {
        await takeBreak();
        if (isElsewhere(pattern, file)) continue;
        for (const match of matchesIn(passage, pattern)) yield [rule, match];
      }
    }
  }
}

function isElsewhere({ where }: Pattern, { prose }: ReadFile): boolean {
  return where !== undefined && (where === 'prose') !== prose;
}

function* matchesIn(passage: Passage, pattern: Pattern): Generator<Match> {
  for (const { start, end } of spansOf(passage.text, pattern)) {
    yield { line: passage.lineAt(start), words: passage.shown.slice(start, end) };
  }
}

function findingOf(rule: Rule, file: string, { line, words, message }: Match): Finding {
  return {
    rule: rule.id,
    level: rule.level,
    file,
    ...(line === undefined ? {} : { line }),
    // Cut first, and wider than what is shown, so that no part of a secret is left.
    excerpt: oneLine(withoutSecrets(words.slice(0, 1000)), 200),
    message: message === undefined ? rule.message : oneLine(withoutSecrets(message), 300),
  };
}

/** The first of those with equal keys is kept. */
function addTo(found: Map<string, Finding>, finding: Finding): void {
  const key = keyOf(finding);
  if (!found.has(key)) found.set(key, finding);
}

function keyOf({ rule, file, excerpt }: Finding): string {
  return JSON.stringify([rule, file, excerpt]);
}

function byImportance(left: Finding, right: Finding): number {
  return (
    LEVELS.indexOf(left.level) - LEVELS.indexOf(right.level) ||
    (left.file < right.file ? -1 : left.file > right.file ? 1 : (left.line ?? 0) - (right.line ?? 0))
  );
}
