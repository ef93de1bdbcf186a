import type { Problem } from 'skill-registry/kernel';
import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { loadTokenCounter, oneLine } from '../../../../../lib/text/index.ts';
import { bodyOf } from '../../../core/skill/frontmatter.ts';
import { bulletOf } from '../../../core/skill/skill.ts';
import { inspectSkill, isScript, newFindings } from '../../guard/inspect/inspect-skill.ts';
import { compareLevels, KEY_RULE } from '../../guard/inspect/rule-set.ts';
import { RULES } from '../../guard/inspect/rules/index.ts';
import { parsedText } from '../../history/changed-text.ts';
import { characterChecks } from './characters.ts';
import { type Check, type CheckInput, type Fact, listChecks, notIn } from './checks.ts';
import { fieldChecks } from './fields.ts';
import { networkFacts, secretFacts, shellFacts } from './line-facts.ts';
import { referenceFinder } from './references.ts';
import { safeguardChecks } from './safeguards.ts';
import { isBlock, type ScannedLine, scanLines } from './scanned-line.ts';
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
  return checks.sort((left, right) => compareLevels(left.level, right.level));
}

// --- internal ---

async function ruleChecks({ path, isSkillFile, before, after, files }: CheckInput): Promise<readonly Check[]> {
  if (after === null) return [];
  const name = isSkillFile ? 'SKILL.md' : path;
  const others = files.filter((file) => file !== name).map((file) => ({ path: file, bytes: new Uint8Array() }));
  const inspect = (text: string) => inspectSkill([{ path: name, bytes: Buffer.from(text) }, ...others]);
  const now = await inspect(after);
  if (now.findings.length === 0) return [];
  // `characterChecks` counts them.
  const found = newFindings(await inspect(before ?? ''), now).filter(({ rule }) => rule !== 'hidden-characters');
  return (['instructions', 'secrets', 'rules'] as const).flatMap((kind) => {
    const ofKind = found.filter(({ rule }) => kindOfRule(rule) === kind);
    const facts = ofKind.map(({ level, message, excerpt, line }) => ({ level, what: message, quoted: excerpt, line }));
    return listChecks(kind, facts);
  });
}

function kindOfRule(rule: string): 'instructions' | 'secrets' | 'rules' {
  if (rule === KEY_RULE) return 'secrets';
  return RULES.find(({ id }) => id === rule)?.family === 'instructions' ? 'instructions' : 'rules';
}

function scriptChecks({ path, before, after }: CheckInput): readonly Check[] {
  if (after === null || !isScript(path, after) || (before !== null && isScript(path, before))) return [];
  const what = 'A new script, which agents may run';
  return listChecks('script', [{ level: 'warn', what, quoted: path, line: 1 }]);
}

async function surfaceChecks({ before, after, path, files }: CheckInput): Promise<readonly Check[]> {
  if (after === null) return [];
  const finders: readonly KindFinder[] = [
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
  const facts = [...found].flatMap(([key, one]) => (oldFacts.has(key) ? [] : one));
  const ofKind = (kind: Check['kind']): readonly Fact[] => facts.filter((one) => one.kind === kind);
  const checks = finders.flatMap(([kind]) => listChecks(kind, ofKind(kind)));
  const firstSkipped = added[MAX_LINES];
  if (!firstSkipped) return checks;
  const text = `${added.length} lines are new; only the first ${MAX_LINES} were searched for files, commands, hosts and secrets`;
  return [...checks, { kind: 'size', level: 'warn', text, line: firstSkipped.line }];
}

/** Far more than a skill has; searching them takes a few seconds. */
const MAX_LINES = 100_000;

type KindFinder = readonly [kind: Check['kind'], find: (line: ScannedLine) => Iterable<Fact>];

async function distinctLines(text: string, path: string): Promise<ReadonlyMap<string, ScannedLine>> {
  const lines = new Map<string, ScannedLine>();
  for (const line of scanLines(text, path)) {
    await takeBreak();
    const key = `${line.kind} ${line.text}`;
    if (!lines.has(key)) lines.set(key, line);
  }
  return lines;
}

type FoundFact = Fact & Pick<Check, 'kind'>;

/** By kind and key: the first one. */
async function findAll(
  lines: Iterable<ScannedLine>,
  finders: readonly KindFinder[],
): Promise<ReadonlyMap<string, FoundFact>> {
  const all = new Map<string, FoundFact>();
  for (const line of lines) {
    await takeBreak();
    for (const [kind, find] of finders) {
      // The lines of a block were searched for the others.
      if (isBlock(line) && kind !== 'shell') continue;
      for (const fact of find(line)) {
        const key = `${kind} ${fact.key ?? `${fact.what} ${fact.quoted}`}`;
        if (!all.has(key)) all.set(key, { ...fact, kind, line: line.line });
      }
    }
  }
  return all;
}

function validationChecks({ before, after, isSkillFile, problemsOf }: CheckInput): readonly Check[] {
  if (!isSkillFile || after === null) return [];
  const old = before === null ? [] : problemsOf(before);
  const now = problemsOf(after);
  return listChecks('validation', [
    ...notIn(now, old, problemKey).map((problem): Fact => {
      return { level: 'warn', what: `New ${problemText(problem)}`, line: problem.line };
    }),
    ...notIn(old, now, problemKey).map((problem): Fact => ({ what: `No longer there: ${problemText(problem)}` })),
  ]);
}

/** Line and message can change while the problem stays the same. */
function problemKey({ code, severity, details }: Problem): string {
  return JSON.stringify([code, severity, details?.field ?? null]);
}

function problemText({ severity, code, message }: Problem): string {
  return `${severity} ${code}: ${oneLine(message, 300)}`;
}

/** For SKILL.md its catalog line and its body, for another file its text. */
async function tokenChecks({ before, after, isSkillFile, skillId }: CheckInput): Promise<readonly Check[]> {
  const count = await loadTokenCounter();
  const difference = (what: string, partOf: (text: string) => string): Check => {
    const [old, now] = [before, after].map((text) => (text === null ? undefined : count(partOf(text))));
    return { kind: 'tokens', level: 'info', text: `${what}: ${fromTo(old, now)}` };
  };
  if (!isSkillFile) return [difference('Text of the file', (text) => text)];
  const lineOf = (text: string): string => {
    const { header } = parsedText(text, skillId);
    return header ? `${bulletOf({ id: skillId, description: header.description })}\n` : '';
  };
  return [difference('Catalog line', lineOf), difference('Body', bodyOf)];
}

function fromTo(before: number | undefined, after: number | undefined): string {
  if (before === undefined || after === undefined) return `${before ?? 0} -> ${after ?? 0} tokens`;
  if (before === after) return `${after} tokens, unchanged`;
  return `${before} -> ${after} tokens (${after > before ? '+' : ''}${after - before})`;
}
