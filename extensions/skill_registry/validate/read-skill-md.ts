import { isUtf8 } from 'node:buffer';
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { readContained } from '../../../lib/files/index.ts';

/** The path of `SKILL.md`, else of `skill.md`; undefined when neither is a file. */
export function findSkillMd(directory: string): string | undefined {
  return ['SKILL.md', 'skill.md'].map((name) => join(directory, name)).find((path) => isKind(path, 'file'));
}

/** As `findSkillMd`; where there is none, any spelling in other letter case, as the loader takes it. */
export function findAnySkillMd(directory: string): string | undefined {
  const exact = findSkillMd(directory);
  if (exact !== undefined) return exact;
  try {
    return readdirSync(directory)
      .filter((name) => name.toLowerCase() === 'skill.md')
      .map((name) => join(directory, name))
      .find((path) => isKind(path, 'file'));
  } catch {
    return undefined;
  }
}

/** Follows links. False also for what may not be looked at. */
export function isKind(path: string, kind: 'file' | 'directory' | 'anything'): boolean {
  try {
    const stats = statSync(path);
    return kind === 'anything' || (kind === 'file' ? stats.isFile() : stats.isDirectory());
  } catch {
    return false;
  }
}

/** The text of a SKILL.md, a byte order mark included, or why there is none. */
export type SkillMdText =
  | {
      readonly text: string;
      /** The bytes are not all UTF-8 text; `text` shows the odd ones as U+FFFD. */
      readonly fault: EncodingFault | undefined;
    }
  | { readonly unreadable: string };

/** Reads at most 4 MiB, waits for no FIFO and never throws. @param file - Absolute; links are followed. */
export function readSkillMd(file: string): SkillMdText {
  try {
    const real = realpathSync(file);
    const bytes = readContained(dirname(real), basename(real), MAX_BYTES);
    return { text: bytes.toString('utf8'), fault: encodingFault(bytes) };
  } catch (error) {
    return { unreadable: isCodedError(error) ? error.message : `SKILL.md cannot be read: ${String(error)}` };
  }
}

/** Bytes of a SKILL.md that are not all UTF-8 text. */
export interface EncodingFault {
  /** Most of it can be read: the odd bytes are shown as U+FFFD. Else it is something else than text, or text in another encoding. */
  readonly isText: boolean;
  /** What was expected, what arrived and what to do. */
  readonly message: string;
  /** What the profiles say that take UTF-8 alone; absent when it is UTF-8, only no text. */
  readonly refusal?: string;
}

/**
 * Tells text with a few odd bytes from what is no UTF-8 text. Odd is what is not UTF-8, and a control character that no text has.
 * Text has at most eight odd characters, or one in ten: German or French in Latin-1 has about one in twenty-five, and can be read
 * without them; Russian or Chinese in another encoding, UTF-16, pictures and archives have far more than one in ten, and random
 * bytes two in five.
 *
 * @returns nothing for UTF-8.
 */
export function encodingFault(bytes: Buffer): EncodingFault | undefined {
  const isEncoded = isUtf8(bytes);
  if (isEncoded && !bytes.includes(0)) return undefined;
  const other = encodingByMark(bytes);
  if (other) {
    const remedy = `Save it as UTF-8 in an editor, or with: iconv -f ${other.name} -t UTF-8 OLD.md > NEW.md`;
    const message = `The file is ${other.shown}, expected UTF-8, so it was not loaded. ${remedy}`;
    return { isText: false, message, refusal: `SKILL.md is ${other.shown} text, not UTF-8; save it as UTF-8` };
  }
  const text = bytes.toString('utf8');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  const odd = text.match(/[\ufffd\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/g)?.length ?? 0;
  if (odd > FEW && odd * ONE_IN > text.length) {
    const share = `${odd.toLocaleString('en-US')} of its ${text.length.toLocaleString('en-US')} characters are odd`;
    const remedy = 'If it is text in another encoding, save it as UTF-8; if not, remove it.';
    const message = `The file is no UTF-8 text (${share}), so it was not loaded. ${remedy}`;
    return { isText: false, message, ...(isEncoded ? {} : { refusal: NOT_UTF8 }) };
  }
  if (isEncoded) return undefined;
  const message = 'The file is not UTF-8 text throughout; the odd bytes are shown as U+FFFD. Save it as UTF-8.';
  return { isText: true, message, refusal: NOT_UTF8 };
}

// --- internal ---

const MAX_BYTES = 4 * 1024 * 1024;

/** So many odd characters are few in a file of any length. */
const FEW = 8;
/** Of more than that, no more than one character in so many may be odd. */
const ONE_IN = 10;

const NOT_UTF8 = 'SKILL.md is not UTF-8 text; save it as UTF-8';

/** By the byte order mark. The longer ones first: UTF-32 begins as UTF-16 does. */
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
