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
  const constants = new Map<string, string>();
  const found: { line: number; words: string; isNew: boolean }[] = [];
  let folded = '';
  for (const [at, raw] of text.split('\n').entries()) {
    for (const part of raw.length > 8000 ? (raw.match(PARTS) ?? []) : [raw]) {
      const written = withConstants(part, constants);
      if (mayFold(written)) yield undefined;
      folded += foldPart(written, (words, isNew) => found.push({ line: at + 1, words, isNew }));
    }
    folded += '\n';
  }
  return found.length > 0 ? { text: folded, assembled: found.filter(({ isNew }) => isNew) } : undefined;
}

// --- internal ---

const PARTS = /.{1,8000}/gs;
/** One of these is in all that is folded. They are searched one by one, because that is faster than one expression. */
const MARKS = ['.join(', 'fromC', 'chr(', `' / '`, `" / "`];
const PLUS = /["'`]\s?\+|\+\s?["'`]/;
const ESCAPE = /\\(?:x[0-9a-fA-F]|u\{?00|[01][0-7]{2})/;
const S = String.raw`\s{0,9}`;
const TEXT = String.raw`(?:"(?:[^"\\]|\\.){0,300}"|'(?:[^'\\]|\\.){0,300}'|\x60[^\x60\\$]{0,300}\x60)`;
const TEXTS = `${TEXT}(?:${S},${S}${TEXT}){0,60}(?:${S},)?`;
const NUMBERS = `(?:(?:0x[0-9a-fA-F]{1,4}|\\d{1,3})(?:${S},${S}|(?=[\\s\\])]))){1,300}`;
const EMPTY = `(?:""|'')`;
const PIECES = new RegExp(TEXT, 'g');
/** Expressions that give a text. */
const FOLD = new RegExp(
  [
    `(?:\\bString\\.fromC(?:harCode|odePoint)\\(|\\bchr\\()${S}(?:\\.\\.\\.)?\\[?${NUMBERS}${S}\\]?\\)|${EMPTY}\\.join\\(${S}(?:map\\(${S}chr${S},|[[(]?${S}chr\\(${S}\\w{1,20}${S}\\)\\s{1,9}for\\s\\w{1,20}\\sin)${S}[[(]${S}${NUMBERS}${S}[\\])]${S}\\]?\\)?\\)|\\[${S}${NUMBERS}${S}\\]\\.map\\([^\\n]{0,80}?fromCharCode[^\\n]{0,40}?\\)\\.join\\(${EMPTY}?\\)`,
    `\\[${S}${TEXTS}${S}\\]${S}\\.join\\(${S}${TEXT}${S}\\)|${TEXT}\\.join\\(${S}[[(]${S}${TEXTS}${S}[\\])]${S}\\)`,
    `${TEXT}(?:${S}\\+${S}${TEXT}){1,60}|${TEXT}(?:${S}/${S}${TEXT}){1,20}`,
    `(?<=\\b(?:[pP]ath\\.(?:join|resolve|Combine)|joinpath|(?:File|filepath)\\.[jJ]oin)\\((?:[\\w.\\s]{1,40}(?:\\([^()]{0,40}\\))?,)?${S})${TEXT}(?:${S},${S}${TEXT}){1,20}`,
    String.raw`["'](?:[^"'\\]|\\[^xu01]){0,100}\\(?:x|u\{?00|[01][0-7])[^"']{1,300}["']`,
  ].join('|'),
  'g',
);
/** In lower case: names that an inspection looks for. */
const MATTERS =
  /^(?:iex|invoke-expression|(?:exec|spawn)(?:file)?(?:sync)?|eval|system|popen|child_process|subprocess|__import__|environ)$|\.(?:ssh|aws|gnupg|netrc|npmrc|pypirc|git-credentials|clawdbot|openclaw)\b|\bid_(?:rsa|ed25519)\b|\/etc\/(?:passwd|shadow)|\.kube\/|\.(?:claude|cursor|codex|gemini|vscode)\/|\.git\/hooks|launchagents|autostart|\.config\/(?:gcloud|gh|solana)|\blogin data\b|wallet\.dat|(?:^|[;&|]\s?)(?:curl|wget)(?=\s|$)|\/bin\/(?:ba)?sh\b|^powershell|^data:(?:text|application)\/javascript|https?:\/\/.|^[\w.+-]+@[\w-]+\.[a-z.]{2,20}$/;

function mayFold(part: string): boolean {
  if (part.includes('+') && PLUS.test(part)) return true;
  return (part.includes('\\') && ESCAPE.test(part)) || MARKS.some((mark) => part.includes(mark));
}

function foldPart(part: string, noteMade: (words: string, isNew: boolean) => void): string {
  let text = part;
  for (let round = 0, before = ''; round < 4 && text !== before && mayFold(text); round++) {
    before = text;
    text = text.replace(FOLD, (whole: string) => {
      const pieces = whole.match(PIECES)?.map((piece) => piece.slice(1, -1)) ?? [];
      const between = whole.replace(PIECES, '');
      const words = madeOf(pieces, between);
      if (!/^[ -!#-~]{1,2000}$/.test(words) || words === pieces[0]) return whole;
      const [matching] = MATTERS.exec(words.toLowerCase()) ?? [];
      // The pieces of a path are no disguise.
      const isPath = /^[\s,/]+$/.test(between);
      // A word of letters by their numbers has no other reason.
      if (matching === undefined && /chr|fromC/.test(between) && /^[a-z_]{4,}$/i.test(words)) noteMade(words, true);
      if (matching) noteMade(words, !isPath && !pieces.some((piece) => piece.toLowerCase().includes(matching)));
      return `"${words}"`;
    });
  }
  return text;
}

function madeOf(pieces: readonly string[], between: string): string {
  if (/chr|fromC/.test(between)) {
    const codes = between.replace(/\b[a-z_]\w*/gi, '').match(/0x[\da-f]+|\d+/gi);
    return String.fromCharCode(...(codes ?? []).map(Number));
  }
  if (between.startsWith('[')) return pieces.slice(0, -1).join(pieces.at(-1));
  if (between.startsWith('.join')) return pieces.slice(1).join(pieces[0]);
  if (between !== '') return pieces.join(between.includes('+') ? '' : '/');
  return (pieces[0] ?? '').replace(
    /\\(?:(?:x|u\{?00)([\da-f]{2})\}?|([01][0-7]{2}))/gi,
    (_, hex?: string, octal?: string) => String.fromCharCode(Number.parseInt(hex ?? octal ?? '', hex ? 16 : 8)),
  );
}

const SETS = new RegExp(
  `(?:^\\s*|[;,{]\\s?|\\b(?:const|let|var|local|export)\\s)\\$?([A-Za-z_]\\w{0,40})\\s?=\\s?(${TEXT}|\\[${S}(?:${TEXTS}|${NUMBERS})${S}\\])(?=\\s*(?:[;,)]|$))`,
  'g',
);
const NAME = /\$\{([A-Za-z_]\w{0,40})\}|(?<![\w.$"'`])([A-Za-z_]\w{0,40})\b(?!\s?=[^=])/g;
const BEFORE_PIECE = /(?:\+\s?|join\(\s?|,\s?chr,\s?|\bin\s|[,/]\s?)$/;
const BEHIND_PIECE = /^\s?(?:\+|\.join\(|\.map\(|,|\/)/;

/** Puts the constant for a name where texts are put together. */
function withConstants(text: string, constants: Map<string, string>): string {
  for (const [, name = '', value = ''] of text.includes('=') ? matchesOf(text, SETS) : []) constants.set(name, value);
  if (constants.size === 0 || !/\+|join\(|chr|\$\{|\s\/\s/.test(text)) return text;
  return text.replace(NAME, (whole, inTemplate: string | undefined, name: string, at: number) => {
    const value = constants.get(inTemplate ?? name);
    if (value === undefined || (inTemplate && value.startsWith('['))) return whole;
    if (inTemplate) return value.slice(1, -1);
    const [before, behind] = [text.slice(Math.max(0, at - 12), at), text.slice(at + whole.length).slice(0, 8)];
    return BEFORE_PIECE.test(before) || BEHIND_PIECE.test(behind) ? value : whole;
  });
}
