import type { Problem } from 'skill-registry/kernel';
import { takeBreak } from '../../../lib/breaks/index.ts';
import { loadTokenCounter, oneLine } from '../../../lib/text/index.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import { bulletOf } from '../skill/skill.ts';
import { parsedText } from '../validate/changed-text.ts';
import { characterChecks } from './characters.ts';
import { fieldChecks } from './fields.ts';
import { type Check, type CheckInput, type Fact, LEVELS, listChecks } from './findings.ts';
import { inspectSkill, isScript, newFindings } from './inspect-skill.ts';
import { networkFacts } from './network.ts';
import { referenceFinder } from './references.ts';
import { KEY_RULE } from './rule-set.ts';
import { RULES } from './rules/index.ts';
import { safeguardChecks } from './safeguards.ts';
import { type ScannedLine, scanLines } from './scanned-line.ts';
import { secretFacts } from './secrets.ts';
import { shellFacts } from './shell.ts';
import { sizeChecks } from './size.ts';

/** Checks the texts, not what the author says. At most 20 of a kind, most important first, and the number of others. */
export async function runChecks(input: CheckInput): Promise<readonly Check[]> {
  const checks = [
    ...(await tokenChecks(input)),
    ...validationChecks(input),
    ...fieldChecks(input),
    ...(await ruleChecks(input)),
    ...(await safeguardChecks(input)),
    ...scriptChecks(input),
    ...(await surfaceChecks(input)),
    ...(input.after === null ? [] : characterChecks(input.before ?? '', input.after)),
    ...sizeChecks(input),
  ];
  return LEVELS.flatMap((level) => checks.filter((check) => check.level === level));
}

// --- internal ---

async function ruleChecks({ path, isSkillFile, before, after, files }: CheckInput): Promise<readonly Check[]> {
  if (after === null) return [];
  const name = isSkillFile ? 'SKILL.md' : path;
  const others = files.filter((file) => file !== name).map((file) => ({ path: file, bytes: new Uint8Array() }));
  const inspect = (text: string) => inspectSkill([{ path: name, bytes: Buffer.from(text) }, ...others]);
  const now = await inspect(after);
  if (now.findings.length === 0) return [];
  const found = newFindings(await inspect(before ?? ''), now)
    // `characterChecks` counts them.
    .filter(({ rule }) => rule !== 'hidden-characters')
    .map(({ rule, level, message, excerpt, line }) => {
      const fact: Fact = { key: rule, level, what: message, quoted: excerpt, ...(line === undefined ? {} : { line }) };
      return { kind: kindOfRule(rule), fact };
    });
  return (['instructions', 'secrets', 'rules'] as const).flatMap((kind) =>
    listChecks(
      kind,
      found.filter((one) => one.kind === kind).map(({ fact }) => fact),
    ),
  );
}

const INSTRUCTION_RULES = new Set(RULES.filter(({ family }) => family === 'instructions').map(({ id }) => id));

function kindOfRule(rule: string): 'instructions' | 'secrets' | 'rules' {
  if (rule === KEY_RULE) return 'secrets';
  return INSTRUCTION_RULES.has(rule) ? 'instructions' : 'rules';
}

function scriptChecks({ path, before, after }: CheckInput): readonly Check[] {
  if (after === null || !isScript(path, after) || (before !== null && isScript(path, before))) return [];
  return listChecks('script', [
    { key: path, level: 'warn', what: 'A new script, which agents may run', quoted: path, line: 1 },
  ]);
}

async function surfaceChecks({ before, after, path, files }: CheckInput): Promise<readonly Check[]> {
  if (after === null) return [];
  const finders: readonly (readonly [Check['kind'], Finder])[] = [
    ['references', referenceFinder(path, files)],
    ['shell', shellFacts],
    ['network', networkFacts],
    ['secrets', secretFacts],
  ];
  const old = await distinctLines(before ?? '', path);
  const lines = await distinctLines(after, path);
  const added = [...lines].filter(([key]) => !old.has(key)).map(([, line]) => line);
  const found = await findAll(added.slice(0, MAX_LINES), finders);
  const oldFacts = found.size === 0 ? found : await findAll(old.values(), finders);
  const checks = finders.flatMap(([kind]) => {
    const facts = [...(found.get(kind) ?? [])].filter(([key]) => !oldFacts.get(kind)?.has(key));
    return listChecks(
      kind,
      facts.map(([, fact]) => fact),
    );
  });
  const firstSkipped = added[MAX_LINES];
  if (!firstSkipped) return checks;
  const text = `${added.length} lines are new; only the first ${MAX_LINES} were searched for files, commands, hosts and secrets`;
  return [...checks, { kind: 'size', level: 'warn', text, line: firstSkipped.line }];
}

/** Far more than a skill has; searching them takes a few seconds. */
const MAX_LINES = 100_000;

type Finder = (line: ScannedLine) => Iterable<Fact>;

async function distinctLines(text: string, path: string): Promise<ReadonlyMap<string, ScannedLine>> {
  const lines = new Map<string, ScannedLine>();
  for (const line of scanLines(text, path)) {
    await takeBreak();
    const key = `${line.kind} ${line.text}`;
    if (!lines.has(key)) lines.set(key, line);
  }
  return lines;
}

async function findAll(
  lines: Iterable<ScannedLine>,
  finders: readonly (readonly [Check['kind'], Finder])[],
): Promise<ReadonlyMap<Check['kind'], ReadonlyMap<string, Fact>>> {
  const all = new Map<Check['kind'], Map<string, Fact>>();
  for (const line of lines) {
    await takeBreak();
    for (const [kind, find] of finders) {
      for (const fact of find(line)) {
        const found = all.get(kind) ?? new Map<string, Fact>();
        if (!found.has(fact.key)) found.set(fact.key, fact);
        all.set(kind, found);
      }
    }
  }
  return all;
}

function validationChecks({ before, after, isSkillFile, problemsOf }: CheckInput): readonly Check[] {
  if (!isSkillFile || after === null) return [];
  const old = before === null ? [] : problemsOf(before);
  const now = problemsOf(after);
  const added = notIn(now, old).map(
    (problem): Fact => ({
      key: problemKey(problem),
      level: 'warn',
      what: `New ${problemText(problem)}`,
      ...(problem.line === undefined ? {} : { line: problem.line }),
    }),
  );
  const removed = notIn(old, now).map(
    (problem): Fact => ({
      key: problemKey(problem),
      level: 'info',
      what: `No longer there: ${problemText(problem)}`,
    }),
  );
  return listChecks('validation', [...added, ...removed]);
}

/** Line and message can change while the problem stays the same. */
function problemKey({ code, severity, details }: Problem): string {
  return JSON.stringify([code, severity, details?.field ?? null]);
}

function notIn(problems: readonly Problem[], otherProblems: readonly Problem[]): readonly Problem[] {
  const left = new Map<string, number>();
  for (const problem of otherProblems) left.set(problemKey(problem), (left.get(problemKey(problem)) ?? 0) + 1);
  return problems.filter((problem) => {
    const count = left.get(problemKey(problem)) ?? 0;
    left.set(problemKey(problem), count - 1);
    return count <= 0;
  });
}

function problemText({ severity, code, message }: Problem): string {
  return `${severity} ${code}: ${oneLine(message, 300)}`;
}

/** For SKILL.md its catalog line (L1) and its body (L2), for another file its text. */
async function tokenChecks({ before, after, isSkillFile, skillId }: CheckInput): Promise<readonly Check[]> {
  const count = await loadTokenCounter();
  const difference = (what: string, tokensOf: (text: string) => number): Check => ({
    kind: 'tokens',
    level: 'info',
    text: `${what}: ${fromTo(before === null ? null : tokensOf(before), after === null ? null : tokensOf(after))}`,
  });
  if (!isSkillFile) return [difference('Text of the file', (text) => count(text))];
  const lineOf = (text: string): string => {
    const { header } = parsedText(text, skillId);
    return header ? `${bulletOf({ id: skillId, description: header.description })}\n` : '';
  };
  return [
    difference('Catalog line (L1)', (text) => count(lineOf(text))),
    difference('Body (L2)', (text) => count(bodyOf(text))),
  ];
}

function fromTo(before: number | null, after: number | null): string {
  if (before === null || after === null) return `${before ?? 0} -> ${after ?? 0} tokens`;
  if (before === after) return `${after} tokens, unchanged`;
  return `${before} -> ${after} tokens (${after > before ? '+' : ''}${after - before})`;
}
