import { matchesOf } from '../../../../../lib/text/index.ts';

/** A text in which what its programs put together from constant pieces is written as one: `"." + "ssh"` as `".ssh"`. */
export interface Folded {
  /** Lines keep their numbers. */
  readonly text: string;
  /** What matters to an inspection and stands in no piece. */
  readonly assembled: readonly { readonly line: number; readonly words: string }[];
}

/** Undefined when nothing that matters is put together. Runs nothing; each step is a break. Linear time. */
export function* foldConstants(text: string): Generator<undefined, Folded | undefined> {
  if (!mayFold(text)) return undefined;
  const known: Known = { constants: new Map(), found: [] };
  let folded = '';
  for (let [from, line] = [0, 1]; from < text.length; ) {
    yield undefined;
    const end = text.indexOf('\n', from + PART) + 1 || text.length;
    // A very long line is cut.
    const part = text.slice(from, Math.min(end, from + 2 * PART));
    folded += mayFold(part) ? foldPart(part, line, known) : part;
    line += part.split('\n').length - 1;
    from += part.length;
  }
  const { found } = known;
  return found.length > 0 ? { text: folded, assembled: found.filter(({ isNew }) => isNew) } : undefined;
}

// --- internal ---

interface Known {
  /** Of names that were set to one: its source text. */
  readonly constants: Map<string, string>;
  readonly found: { readonly line: number; readonly words: string; readonly isNew: boolean }[];
}

const PART = 8000;
const ROUNDS = 4;
const MAX_CONSTANTS = 200;

/** One of these is in all that is folded. They are searched one by one, because that is faster than one expression. */
const MARKS = ['.join(', 'fromC', 'chr(', `' / '`, `" / "`];
const PLUS = /["'`]\s?\+|\+\s?["'`]/;
const ESCAPE = /\\(?:x[0-9a-fA-F]|u\{?00|[01][0-7]{2})/;
const S = String.raw`\s{0,9}`;
const TEXT = String.raw`(?:"(?:[^"\\\n]|\\.){0,300}"|'(?:[^'\\\n]|\\.){0,300}'|\x60[^\x60\\$\n]{0,300}\x60)`;
const TEXTS = `${TEXT}(?:${S},${S}${TEXT}){0,60}(?:${S},)?`;
const NUMBER = '(?:0x[0-9a-fA-F]{1,4}|\\d{1,3})';
const NUMBERS = `${NUMBER}(?:${S},${S}${NUMBER}){0,300}(?:${S},)?`;
const EMPTY = `(?:""|'')`;

/** Expressions that give a text. */
const FOLD = new RegExp(
  Object.entries({
    codes: `(?:\\bString\\.fromC(?:harCode|odePoint)\\(|\\bchr\\()${S}(?:\\.\\.\\.)?\\[?${NUMBERS}${S}\\]?\\)|${EMPTY}\\.join\\(${S}(?:map\\(${S}chr${S},|[[(]?${S}chr\\(${S}\\w{1,20}${S}\\)\\s{1,9}for\\s\\w{1,20}\\sin)${S}[[(]${S}${NUMBERS}${S}[\\])]${S}\\]?\\)?\\)|\\[${S}${NUMBERS}${S}\\]\\.map\\([^\\n]{0,80}?fromCharCode[^\\n]{0,40}?\\)\\.join\\(${TEXT}?\\)`,
    joined: `\\[${S}${TEXTS}${S}\\]${S}\\.join\\(${S}${TEXT}${S}\\)`,
    joining: `${TEXT}\\.join\\(${S}[[(]${S}${TEXTS}${S}[\\])]${S}\\)`,
    added: `${TEXT}(?:${S}\\+${S}${TEXT}){1,60}`,
    path: `(?<=\\b(?:path\\.(?:join|resolve)|joinpath)\\((?:[\\w.\\s]{1,40}(?:\\([^()\\n]{0,40}\\))?,)?${S})${TEXT}(?:${S},${S}${TEXT}){1,20}|${TEXT}(?:${S}/${S}${TEXT}){1,20}`,
    escaped: String.raw`["'](?:[^"'\\\n]|\\[^xu01\n]){0,100}\\(?:x|u\{?00|[01][0-7])[^"'\n]{1,300}["']`,
  })
    .map(([kind, source]) => `(?<${kind}>${source})`)
    .join('|'),
  'g',
);
const PIECES = new RegExp(TEXT, 'g');
type Kinds = Readonly<Record<string, string | undefined>>;

/** In lower case: names that an inspection looks for. */
const MATTERS =
  /^(?:iex|invoke-expression|(?:exec|spawn)(?:file)?(?:sync)?|eval|system|popen|child_process|subprocess|__import__|environ)$|\.(?:ssh|aws|gnupg|netrc|npmrc|pypirc|git-credentials|clawdbot|openclaw)\b|\bid_(?:rsa|ed25519)\b|\/etc\/(?:passwd|shadow)|\.kube\/|\.config\/(?:gcloud|gh|solana)|\blogin data\b|wallet\.dat|(?:^|[;&|]\s?)(?:curl|wget)(?=\s|$)|\/bin\/(?:ba)?sh\b|^powershell|^data:(?:text|application)\/javascript|https?:\/\/./;

function mayFold(part: string): boolean {
  if (part.includes('+') && PLUS.test(part)) return true;
  return (part.includes('\\') && ESCAPE.test(part)) || MARKS.some((mark) => part.includes(mark));
}

/** Stands for an end of line in a list or between two pieces until all is folded. */
const INNER = '\u2028';

function foldPart(part: string, firstLine: number, { constants, found }: Known): string {
  const joined = part.replace(/\r?\n(?=[ \t]{0,99}["'`\d\])+])/g, (end, at: number) =>
    /[[(,+"'`\d][ \t]{0,9}$/.test(part.slice(Math.max(0, at - 10), at)) ? INNER : end,
  );
  let line = firstLine;
  const lines = joined.split('\n').map((written) => {
    let text = withConstants(written, constants);
    for (let round = 0, before = ''; round < ROUNDS && text !== before && mayFold(text); round++) {
      before = text;
      text = text.replace(FOLD, (whole: string, ...more: unknown[]) => {
        const pieces = whole.match(PIECES)?.map((piece) => piece.slice(1, -1)) ?? [];
        const { path, ...kinds } = more.at(-1) as Kinds;
        const words = path ? pieces.join('/') : madeOf(kinds, pieces);
        if (!/^[ -!#-~]{1,2000}$/.test(words) || words === pieces[0]) return whole;
        const [matching] = MATTERS.exec(words.toLowerCase()) ?? [];
        // The pieces of a path are no disguise.
        const isNew = !path && !pieces.some((piece) => piece.toLowerCase().includes(matching ?? ''));
        if (matching) found.push({ line, words, isNew });
        return `"${words}"${INNER.repeat(whole.split(INNER).length - 1)}`;
      });
    }
    line += written.split(INNER).length;
    return text;
  });
  return lines.join('\n').replaceAll(INNER, '\n');
}

function madeOf({ codes, joined, joining, escaped }: Kinds, pieces: readonly string[]): string {
  const [first = '', ...others] = pieces;
  const numbers = codes?.replace(/\b[a-z_]\w*/gi, '').match(/0x[\da-f]+|\d+/gi);
  if (numbers) return String.fromCharCode(...numbers.map(Number));
  if (joined) return pieces.slice(0, -1).join(pieces.at(-1));
  if (joining) return others.join(first);
  if (!escaped) return pieces.join('');
  return escaped
    .slice(1, -1)
    .replace(/\\(?:x|u\{?00)([\da-f]{2})\}?/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\([01][0-7]{2})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

const SETS = new RegExp(
  `(?:^\\s*|[;,{]\\s?|\\b(?:const|let|var|local|export)\\s)\\$?([A-Za-z_]\\w{0,40})\\s?=\\s?(${TEXT}|\\[${S}(?:${TEXTS}|${NUMBERS})${S}\\])(?=\\s*(?:[;,)]|$))`,
  'g',
);
const NAME = /\$\{([A-Za-z_]\w{0,40})\}|(?<![\w.$"'`])([A-Za-z_]\w{0,40})\b(?!\s?=[^=])/g;
const BEFORE_PIECE = /(?:\+\s?|join\(\s?|,\s?chr,\s?|\bin\s|[,/]\s?)$/;
const BEHIND_PIECE = /^\s?(?:\+|\.join\(|\.map\(|\.split\(|,|\/)/;

/** Puts the constant for a name where texts are put together. */
function withConstants(text: string, constants: Map<string, string>): string {
  if (text.includes('=')) {
    for (const [, name = '', value = ''] of matchesOf(text, SETS))
      if (constants.size < MAX_CONSTANTS) constants.set(name, value);
  }
  if (constants.size === 0 || !/\+|join\(|chr|\$\{|\s\/\s/.test(text)) return text;
  return text.replace(NAME, (whole, inTemplate: string | undefined, name: string, at: number) => {
    const value = constants.get(inTemplate ?? name);
    if (value === undefined || (inTemplate && value.startsWith('['))) return whole;
    if (inTemplate) return value.slice(1, -1);
    const [before, behind] = [text.slice(Math.max(0, at - 12), at), text.slice(at + whole.length).slice(0, 8)];
    return BEFORE_PIECE.test(before) || BEHIND_PIECE.test(behind) ? value : whole;
  });
}
