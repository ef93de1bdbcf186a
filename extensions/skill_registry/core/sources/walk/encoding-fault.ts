import { isUtf8 } from 'node:buffer';
import { formatNumber } from '../../../../../lib/text/index.ts';

export interface EncodingFault {
  /** True: most of it can be read. False: not text, or text in another encoding. */
  readonly isText: boolean;
  /** What was expected, what arrived and what to do. */
  readonly message: string;
  /** For profiles that accept only UTF-8; undefined when the bytes are UTF-8, but not text. */
  readonly refusal?: string;
}

/**
 * Undefined for UTF-8 text. Invalid are bytes that are not UTF-8, and control characters that text does not have; text
 * has at most eight of them, or one in ten. German or French in Latin-1 has about one in twenty-five and stays
 * readable. Other encodings, pictures and archives have far more than one in ten, random bytes two in five.
 */
export function encodingFault(bytes: Buffer): EncodingFault | undefined {
  const isEncoded = isUtf8(bytes);
  if (isEncoded && !bytes.includes(0)) return undefined;
  const marked = encodingByMark(bytes);
  if (marked) {
    const remedy = `Save it as UTF-8 in an editor, or with: iconv -f ${marked.name} -t UTF-8 OLD.md > NEW.md`;
    const message = `The file is ${marked.shown}, expected UTF-8, so it was not loaded. ${remedy}`;
    return { isText: false, message, refusal: `SKILL.md is ${marked.shown} text, not UTF-8; save it as UTF-8` };
  }
  const text = bytes.toString('utf8');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  const invalidCount = text.match(/[\ufffd\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/g)?.length ?? 0;
  if (invalidCount > MAX_INVALID && invalidCount * MAX_INVALID_ONE_IN > text.length) {
    const share = `${formatNumber(invalidCount)} of its ${formatNumber(text.length)} characters are invalid`;
    const remedy = 'If it is text in another encoding, save it as UTF-8; else remove it.';
    const message = `The file is not UTF-8 text (${share}), so it was not loaded. ${remedy}`;
    return { isText: false, message, ...(isEncoded ? {} : { refusal: NOT_UTF8 }) };
  }
  if (isEncoded) return undefined;
  const message =
    'Parts of the file are not UTF-8 text; invalid bytes are shown as U+FFFD. Save it as UTF-8 in an editor, or, if it is Windows-1252, with: iconv -f WINDOWS-1252 -t UTF-8 OLD.md > NEW.md';
  return { isText: true, message, refusal: NOT_UTF8 };
}

// --- internal ---

const MAX_INVALID = 8;
/** Above `MAX_INVALID`, at most one character in this many may be invalid. */
const MAX_INVALID_ONE_IN = 10;

const NOT_UTF8 = 'SKILL.md is not UTF-8 text; save it as UTF-8';

/** By byte order mark. Longer marks first: a UTF-32 mark begins with a UTF-16 mark. */
const MARKS: readonly (readonly [mark: readonly number[], name: string, order: string])[] = [
  [[0xff, 0xfe, 0, 0], 'UTF-32', 'little-endian'],
  [[0, 0, 0xfe, 0xff], 'UTF-32', 'big-endian'],
  [[0xff, 0xfe], 'UTF-16', 'little-endian'],
  [[0xfe, 0xff], 'UTF-16', 'big-endian'],
];

function encodingByMark(bytes: Buffer): { readonly name: string; readonly shown: string } | undefined {
  const found = MARKS.find(([mark]) => mark.every((byte, at) => bytes[at] === byte));
  return found && { name: found[1], shown: `${found[1]} (${found[2]})` };
}
