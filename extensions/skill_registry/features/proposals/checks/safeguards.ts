import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { termsOf } from '../../../../../lib/text-index/index.ts';
import { bodyOf } from '../../../core/skill/frontmatter.ts';
import { type Check, type CheckInput, type Fact, listChecks } from './checks.ts';
import { isBlock, scanLines } from './scanned-line.ts';

/** Finds removed sentences that ask, test, forbid, stop or back up. One that was only reworded a little is kept. */
export async function safeguardChecks(input: CheckInput): Promise<readonly Check[]> {
  const { before, after, isSkillFile, path } = input;
  if (before === null) return [];
  const sentencesIn = (text: string) => sentencesOf(isSkillFile ? bodyOf(text) : text, path);
  const old = await sentencesIn(before);
  const now = await sentencesIn(after ?? '');
  const removed = await safeguardsIn(old, now);
  const added = removed.length === 0 ? [] : await safeguardsIn(now, old);
  const compared = added.slice(0, MAX_COMPARED);
  const facts: Fact[] = [];
  for (const [at, one] of removed.entries()) {
    await takeBreak();
    const isKept = (what: string): boolean => at < MAX_COMPARED && compared.some((other) => keeps(other, one, what));
    const gone = one.does.filter((what) => !isKept(what));
    if (gone.length === 0) continue;
    facts.push({ level: 'warn', what: `A line that ${gone.join(' and ')} is gone`, quoted: one.shown });
  }
  return listChecks('safeguards', facts);
}

// --- internal ---

const MAX_COMPARED = 300;
/** The part of its words that a slightly changed sentence keeps. */
const MOST = 0.6;
const MAX_SENTENCE = 1000;

interface Safeguard {
  readonly shown: string;
  readonly does: readonly string[];
  readonly terms: ReadonlySet<string>;
}

/** No word before the verb reverses it: `without asking`, `do not run the tests`. */
const NOT = `(?<!\\b(?:not|never|without|n['’]t|no need to|instead of|rather than|skip|avoid|stop) (?:\\w+ ){0,2})`;
/** A verb is a command at the beginning of a clause, or after a word that commands. */
const COMMAND = '(?:^|[,;:(–—] ?| - |\\b(?:and|or|but|then|always|also|please|first|must|should|immediately) )';
const PERSON = '(?:user|users|human|person|owner|customer|operator|me|them)';
const CONSENT = '(?:approval|permission|consent|confirmation|sign-?off|go-ahead)';

const ASKS = [
  `ask(?:s|ing)? (?:.{0,60} )?(?:before|first|${PERSON}|${CONSENT}|whether|if)`,
  'before (?:.{0,60}[ ,])?ask',
  `(?:check|confirm|verify|clarify)(?:s|ing)? (?:.{0,40} )?with (?:the |a |your )?${PERSON}`,
  `${PERSON} (?:\\w+ )?(?:confirms?|approves?|agrees?)`,
  `(?:before|after|only|until) (?:\\w+ )?(?:confirming|confirmation|approval)`,
  `wait(?:s|ing)? (?:for|until) (?:.{0,40} )?(?:approv\\w+|confirm\\w*|answers?|reply|replies|permission|consent|yes|ok|${PERSON})`,
  `(?:get|obtain|request|require|need|seek|with)s? (?:\\w+ ){0,4}${CONSENT}`,
];
const TESTS = [
  '(?:re-?)?(?:run|execute|pass)(?:s|es|ing)? (?!no )(?:\\w+ ){0,4}(?:tests?|test suite|checks|linter|dry[- ]run)',
  'tests? (?:must |should |have to |all )?(?:pass|be green|succeed)',
  '(?:npm|pnpm|yarn|bun|go|cargo|make|dotnet|mvn|gradle) (?:run )?test',
  'pytest',
];
const TESTED = '(?:the|that|it|this|them|all|every|each|your|both|whether|if|with|on|before|again|locally|thoroughly)';
const COPIES = '(?:backups?|snapshots?|copy of|copies of)';
const BACKS_UP = [
  'back(?:s|ing)?[- ]up (?:the|your|all|any|every|it|them|files?|data|first|before|config\\w*)',
  `(?:make|take|create|keep|save|have)s? (?!no )(?:\\w+ ){0,3}${COPIES}`,
  'backups? (?:before|first)',
];

/** Patterns are for sentences in lower case, without marks. */
const SAFEGUARDS: readonly (readonly [does: string, pattern: RegExp])[] = [
  ['asks or confirms', new RegExp(`${NOT}\\b(?:${ASKS.join('|')})\\b|${COMMAND}confirm (?!ed\\b)`)],
  [
    'tests',
    new RegExp(`${NOT}\\b(?:${TESTS.join('|')})\\b|${COMMAND}(?:test|verify|validate|double-check) ${TESTED}\\b`),
  ],
  [
    'forbids',
    new RegExp(
      `(?:${COMMAND}|\\b(?:you|we|agents?|will) )never\\b(?! mind)|${COMMAND}(?:do not|don['’]t)\\b(?! (?:worry|hesitate|forget))|\\b(?:must not|mustn['’]t|should not|shouldn['’]t|forbidden|prohibited|not allowed|not permitted|under no circumstances|refuse to)\\b`,
    ),
  ],
  [
    'stops',
    new RegExp(
      `${COMMAND}(?:stop|halt|pause|abort)(?=$|[.,;:!)]| (?:and|if|when|here|immediately|before|until|at once|work|the work|unless|rather)\\b)`,
    ),
  ],
  ['backs up', new RegExp(`${NOT}\\b(?:${BACKS_UP.join('|')})\\b`)],
];

async function safeguardsIn(
  from: ReadonlyMap<string, string>,
  others: ReadonlyMap<string, string>,
): Promise<readonly Safeguard[]> {
  const found: Safeguard[] = [];
  for (const [plain, shown] of from) {
    await takeBreak();
    if (others.has(plain)) continue;
    const does = SAFEGUARDS.filter(([, pattern]) => pattern.test(plain)).map(([what]) => what);
    if (does.length > 0) found.push({ shown, does, terms: new Set(termsOf(plain)) });
  }
  return found;
}

function keeps(other: Safeguard, { terms }: Safeguard, what: string): boolean {
  if (!other.does.includes(what)) return false;
  const kept = [...terms].filter((term) => other.terms.has(term)).length;
  return kept >= terms.size * MOST;
}

/** By their text in lower case, without marks: as they are shown. */
async function sentencesOf(text: string, path: string): Promise<ReadonlyMap<string, string>> {
  const sentences = new Map<string, string>();
  for (const paragraph of paragraphsOf(text, path)) {
    for (const sentence of paragraph.split(SENTENCE_END)) {
      await takeBreak();
      const shown = sentence.slice(0, MAX_SENTENCE).trim();
      const plain = shown.toLowerCase().replace(MARKS, '').replace(END, '').trim();
      if (plain !== '') sentences.set(plain, shown);
    }
  }
  return sentences;
}

const SENTENCE_END = /(?<=[.!?;][*_`"')\]]{0,3}) +/;
const MARKS = /[*_`#>|~]+/g;
const END = /(?<![\s.!?;:,])[\s.!?;:,]+$/;
const OPENS = /^(?:[-*+#|>]|\d{1,9}[.)] )/;
const ITEM = /^(?:(?:[-*+>]|\d{1,9}[.)]|\[[ xX]?\]|#{1,6}) )+/;

function* paragraphsOf(text: string, path: string): Generator<string> {
  let lines: string[] = [];
  let next = 0;
  for (const scanned of scanLines(text, path)) {
    if (isBlock(scanned)) continue;
    const { line, text: words, kind } = scanned;
    if (kind !== 'prose' || line !== next || OPENS.test(words)) {
      yield lines.join(' ');
      lines = [];
    }
    lines.push(words.replace(ITEM, ''));
    next = kind === 'prose' ? line + 1 : 0;
  }
  yield lines.join(' ');
}
