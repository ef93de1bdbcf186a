import { createBreaks } from '../../../lib/breaks/index.ts';
import { foldLine } from '../../../lib/text/index.ts';
import { type Check, type Finding, listChecks } from './findings.ts';
import { rawLines } from './scanned-line.ts';

/**
 * Sentences that tell a model to leave its other instructions, to hide something from the user, or to act without being allowed to.
 * Only those that are new against `before` are warned of. A sentence may go over several lines. Linear time, with breaks.
 */
export async function instructionChecks(before: string | null, after: string): Promise<readonly Check[]> {
  const found = await findInstructions(after);
  if (found.length === 0) return [];
  const old = new Set((await findInstructions(before ?? '')).map(({ key }) => key));
  return listChecks(
    'instructions',
    found.filter(({ key }) => !old.has(key)),
  );
}

/** Every such sentence of a text, with the line where it begins. */
export async function findInstructions(text: string): Promise<readonly Finding[]> {
  const takeBreak = createBreaks();
  const found = new Map<string, Finding>();
  const search = (part: Window): void => {
    for (const { what, pattern, sentence } of RULES)
      for (const match of part.text.matchAll(pattern)) {
        const before = part.text.slice(Math.max(0, match.index - 160), match.index);
        if ((sentence ? NEGATED_SENTENCE : NEGATED).test(before)) continue;
        const quoted = match[0];
        const key = `${what} ${quoted.toLowerCase()}`;
        const line = part.lineAt(match.index);
        if (!found.has(key)) found.set(key, { key, level: 'warning', what, quoted, line });
      }
  };
  for (const part of windowsOf(text)) {
    await takeBreak();
    search(part);
  }
  return [...found.values()];
}

// --- internal ---

const OTHERS =
  '(?:all|any|every|the|your|my|of|these|those|other|previous|prior|earlier|preceding|above|existing|original|former)';
const PEOPLE = '(?:the |your |any |our )?(?:user|users|human|humans|operator|developer|person|people|owner)';
const ALLOWED = '(?:confirmation|confirmations|approval|approvals|permission|permissions|consent)';

interface Rule {
  readonly what: string;
  readonly pattern: RegExp;
  /** A negation anywhere before it in its sentence makes it the opposite; else only one within the three words before it. */
  readonly sentence?: true;
}

/** Each repetition is bounded, so that no text takes more than linear time. */
const RULES: readonly Rule[] = [
  {
    what: 'Tells the model to leave other instructions',
    pattern: new RegExp(
      `\\b(?:ignore|disregard|forget|override|bypass) (?:${OTHERS} ){1,5}(?:system |user |safety )?(?:instruction|instructions|rules|prompts?|directives?|guidelines|guardrails|constraints)\\b`,
      'gi',
    ),
  },
  {
    what: 'Tells the model to leave other instructions',
    pattern:
      /\b(?:ignore|disregard|forget) (?:everything|anything|all) (?:(?:that|which) )?(?:(?:is |was |came |you (?:were|have been) )?(?:above|before|earlier|previously|told))\b/gi,
  },
  {
    what: 'Tells the model to hide something from the user',
    pattern: new RegExp(
      `\\b(?:do not|don['’]t|never|must not|should not|without) (?:ever )?(?:tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning) ${PEOPLE}\\b(?! (?:to|how)\\b)`,
      'gi',
    ),
  },
  {
    what: 'Tells the model to hide something from the user',
    pattern: new RegExp(
      `\\b(?:do not|don['’]t|never|must not|without) (?:ever )?(?:mention|mentioning|reveal|revealing|disclose|disclosing|report|reporting|show|showing) (?:this|it|that|these|them) to ${PEOPLE}\\b`,
      'gi',
    ),
  },
  {
    what: 'Tells the model to hide something from the user',
    pattern: new RegExp(
      `\\b(?:hide|conceal|keep) (?:this|it|that|these|them)(?: (?:a )?(?:secret|hidden))? from ${PEOPLE}\\b`,
      'gi',
    ),
  },
  {
    what: 'Tells the model to act without being allowed to',
    pattern: new RegExp(
      `\\b(?:skip|skipping|bypass|bypassing|omit|suppress|ignore) (?:(?:the|any|all|every|user|user['’]s|human|usual) ){0,4}${ALLOWED}\\b`,
      'gi',
    ),
  },
  {
    what: 'Tells the model to act without being allowed to',
    pattern: new RegExp(
      `\\bwithout (?:asking|waiting|prompting) (?:${PEOPLE}|(?:${PEOPLE} )?for (?:(?:the|any|explicit|user) ){0,3}${ALLOWED})\\b`,
      'gi',
    ),
    sentence: true,
  },
  {
    what: 'Tells the model to act without being allowed to',
    pattern: new RegExp(
      `\\b(?:do not|don['’]t|never) (?:ask|wait|prompt) (?:${PEOPLE} )?for (?:(?:any|the|user|explicit) ){0,3}${ALLOWED}\\b`,
      'gi',
    ),
  },
];

/** "Never skip the confirmation" says the opposite. */
const NEGATED =
  /\b(?:never|not|no|cannot|avoid|without|refuse to|don['’]t|mustn['’]t|shouldn['’]t|can['’]t)\s+(?:\w+\s+){0,3}$/i;

/** "Never send mail without asking the user" does, too. */
const NEGATED_SENTENCE = /\b(?:never|not|no|cannot|avoid|(?:do|must|should|ca)n['’]t)\b[^.!?]*$/i;

interface Window {
  /** Lines as they are read, one blank between them. */
  readonly text: string;
  /** 1-based line of an offset. */
  lineAt(offset: number): number;
}

/** Characters; a window ends at the first line end after them, and the next one begins a few lines before. */
const WINDOW = 20_000;
/** Marks at the beginning of a line that are no words of it: of quotations, lists, headings and comments. */
const MARKS = /^(?:[>*+#-]|\/\/|\d{1,9}[.)]|\s)+/;

/** A text in pieces, so that there can be breaks; a sentence of up to three lines is whole in one of them. */
function* windowsOf(text: string): Generator<Window> {
  let lines: { readonly text: string; readonly line: number }[] = [];
  let length = 0;
  for (const { raw, line } of rawLines(text)) {
    const words = foldLine(raw.slice(0, MAX_LINE))
      .replace(MARKS, '')
      .replace(/[*_`"]+/g, '');
    if (words === '') {
      // A sentence does not go on after an empty line.
      lines.push({ text: '.', line });
      length += 2;
    } else {
      lines.push({ text: words, line });
      length += words.length + 1;
    }
    if (length < WINDOW) continue;
    yield windowOf(lines);
    lines = lines.slice(-OVERLAP);
    length = 0;
  }
  if (lines.length > 0) yield windowOf(lines);
}

/** Of a longer line the rest is not searched; such a line is warned of by itself. */
const MAX_LINE = 100_000;
const OVERLAP = 3;

function windowOf(lines: readonly { readonly text: string; readonly line: number }[]): Window {
  const starts: number[] = [];
  let text = '';
  for (const { text: words } of lines) {
    starts.push(text.length);
    text += `${words} `;
  }
  return {
    text,
    lineAt: (offset) => lines[starts.findLastIndex((start) => start <= offset)]?.line ?? 1,
  };
}
