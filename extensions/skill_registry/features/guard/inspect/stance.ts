import type { Passage, Pattern, Span, Stance } from './rule.ts';

/**
 * Only the clause around the part, the headings above it and its row of a table count, nothing in frontmatter: an
 * author can write any word near an attack. In a script only `unless` of the pattern counts.
 */
export function stanceOf(
  passage: Passage,
  span: Span,
  { unless, unlessBefore, unlessAsked, order, factWhere }: Pattern,
  isScript: boolean,
): Stance {
  if (unless?.test(sentenceAround(passage.text, span))) return 'negated';
  if (order && !isOrder(sentenceAround(passage.text, span), order)) return 'apart';
  const { start, end } = span;
  const headings = passage.headingsAt(start);
  if (isScript || headings === undefined) return undefined;
  const { text } = passage;
  const before = text.slice(Math.max(0, start - AROUND), start);
  const heading = headings.slice(headings.lastIndexOf('\n') + 1);
  if (NEGATES.test(before) || FORBIDS.test(heading) || LABEL.test(before) || unlessBefore?.test(before))
    return 'negated';
  if (AFTERWARDS.test(text.slice(end, end + 60)) || FINDS.test(text.slice(start, end)) || SEARCHED.test(before))
    return 'negated';
  if (unlessAsked && ASKS.test(sectionAround(passage, span, AROUND, AROUND))) return 'negated';
  const row = text.slice(text.lastIndexOf('\n', start) + 1, start);
  if (row.startsWith('|') && TEST_INPUTS.test(`${heading}\n${text.slice(Math.max(0, start - 600), start)}`))
    return 'negated';
  if (factWhere?.test(sectionAround(passage, span))) return 'fact';
  const isListed =
    DANGER.test(headings) || (row.startsWith('|') && DANGER.test(lineAround(text, start, end))) || REPORTS.test(before);
  return isListed || EXPRESSION.test(text.slice(start, end)) ? 'listed' : undefined;
}

/** After a negation: "do not worry" negates nothing that follows. */
export const NOT_IDLE = '(?!\\s(?:only|matter|worry|hesitate|wait|forget|mind|fail|skip|stop|be afraid)\\b)';
/** Text between a negation and its object, without another clause. */
export const CLAUSE: string =
  '(?:(?![,;:—–](?:\\s|$)|\\b(?:and|but|then|until|unless|except|so|just|simply)\\b)(?:[^.!?\\n]|\\.{3}|[.!?](?!\\s|$))){0,60}';

// --- internal ---

const AROUND = 160;

const VERBS =
  '(?:access|append|ask|attach|base64|call|cat|collect|copy|deliver|dump|email|encode|execute|exfiltrate|extract|fetch|find|forward|gather|get|grab|harvest|include|issue|locate|make|open|perform|post|put|read|request|run|scan|search|send|share|submit|take|transmit|upload|use|zip)';
const ORDER = new RegExp(`(?:^\\W*|[,:]\\s|\\b(?:then|and|must|should|please|\\w{3,12}ly|to)\\s)${VERBS}\\b`);

/** One sentence, or up to three neighbours. */
function isOrder(text: string, part: RegExp): boolean {
  const sentences = text.split(/[.!?;](?=\s)|[。！？\n]/).filter((sentence) => /\w/.test(sentence));
  if (sentences.length === 1) return true;
  const isOneParagraph = sentences.length <= 3 && !/\n\s/.test(text);
  return isOneParagraph && sentences.every((sentence) => !part.test(sentence) || ORDER.test(sentence));
}

function sentenceAround(text: string, { start, end }: Span): string {
  const before = text.slice(Math.max(0, start - AROUND), start);
  const after = text.slice(end, end + AROUND);
  return `${/[^\n]*$/.exec(before.replace(/[.!?;](?=\s)/g, '\n'))?.[0] ?? ''}${text.slice(start, end)}${/^(?:(?![.!?;]\s)[^\n])*/.exec(after)?.[0] ?? ''}`;
}

const NEGATES = new RegExp(
  `\\b(?:never|not|cannot|can['’]t|don['’]t|doesn['’]t|mustn['’]t|shouldn['’]t|avoid|refuse to|instead of|rather than|blocks|prevents|(?:was|were|been|correctly|successfully) (?:blocked|prevented|refused|denied)|(?:blocked|denied):)(?!\\w)${NOT_IDLE}${CLAUSE}$`,
);
const DANGER =
  /\b(?:malicious|malware|attack(?:s|ers?)?|dangerous|red flags?|suspicious|unsafe|threats?|injections?|exfiltration|forbidden|prohibited|never|vulnerab\w{2,10}|exploits?|detect(?:s|ed|ion)?|theft|reverse shells?|payloads?|pentest\w{0,6})\b|❌|🚫/;
const REPORTS = new RegExp(
  `\\b(?:report|flag|detect|reject|block|deny|looks? like|look for|scan for|search for|(?:instructions?|attempts?|tries) to)\\b${CLAUSE}$|(?:^|[.!?]\\s|\\n)attackers\\s(?:[^.!?\\n]|\\.{3}){0,60}$`,
);
/** Headings of lists of what is not done, and such a mark at the beginning of a line. */
const FORBIDS =
  /\b(?:must not|not to do|never do|anti-?patterns?|don['’]ts|forbidden|prohibited|(?:things|patterns|mistakes|what) to avoid)\b|❌|🚫/;
const LABEL =
  /(?:^|\n)[^\w\n]{0,8}(?:[❌🚫]|(?:must not|never|avoid|don['’]?ts?|do not|bad|wrong|fail|anti-?pattern|错误|誤り)\s?[:：—–][^\n]{0,60})(?:\n\S[^\n]{0,119}){0,4}(?:\n(?!\s))?[^\n]{0,120}$/u;
const ASKS =
  /\b(?:(?:ask|show (?:it|this|them|the \w+) to|offer (?:it|this) to|wait for|confirm with|propose (?:it|this) to) the user|only (?:if|when|after) the user (?:asks|agrees|confirms|wants)|(?:if|when|once|after) (?:they|the user) (?:agrees?|confirms?|approves?|says? yes))\b/;
/** Above a table: what stands in it is given to what is tested. */
const TEST_INPUTS =
  /\b(?:injections?|jailbreaks?|adversarial|red[- ]team\w{0,4})\b[^\n]{0,60}\b(?:checks?|tests?|inputs?|cases|samples|examples?|payloads|strings)\b|\b(?:tests?|inputs?|cases|samples|examples?) (?:for|of|with) (?:\w+ ){0,2}(?:injections?|jailbreaks?)\b/;
/** Behind the part. */
const AFTERWARDS =
  /^[^.\n]{0,30}(?:\b(?:is|are) (?:not|never) (?:an? )?(?:acceptable|allowed|permitted|okay|ok)\b|금지|禁止)/;
/** In the quotes of a search. */
const SEARCHED = /\b(?:rg|e?grep|ag|ack)\s(?:-[\w-]{1,20}\s){0,4}(?:"[^"\n]*|'[^'\n]*)$/;
/** Only a regular expression has this; a path of Windows may have the second. */
const FINDS = /\\[swd][+*{]/;
const EXPRESSION = /\\[sbwdS.|(]|\.\*|\[\^/;

/** Not beyond a heading. */
function sectionAround({ text, headingsAt }: Passage, { start, end }: Span, before = 320, after = 480): string {
  const isOut = (offset: number) => headingsAt(offset) !== headingsAt(start);
  let [from, to] = [Math.max(0, start - before), Math.min(text.length, end + after)];
  while (from < start && isOut(from)) from = Math.min(start, text.indexOf('\n', from) + 1 || start);
  while (to > end && isOut(to)) to = Math.max(end, text.lastIndexOf('\n', to - 1));
  return text.slice(from, to);
}

function lineAround(text: string, start: number, end: number): string {
  const close = text.indexOf('\n', end);
  return text.slice(text.lastIndexOf('\n', start) + 1, Math.min(close === -1 ? text.length : close, end + 1000));
}
