import { hiddenCharacters, tagText } from '../../../../lib/text/index.ts';
import type { ClassifiedFile, Match, Rule } from '../rule.ts';
import { rawLines } from '../scanned-line.ts';

export const SEARCHED_BYTES: number = 1024 * 1024;

export const FILES: readonly Rule[] = [
  {
    id: 'program-in-folder',
    level: 'warn',
    family: 'files',
    message: 'A program that nobody can read',
    why: 'What it does cannot be seen before it runs.',
    mend: 'Ship its source, or name a package and a version.',
    find: (file) => fileOf(isProgram(file)),
  },
  {
    id: 'archive-in-folder',
    level: 'warn',
    family: 'files',
    message: 'An archive, whose files are not inspected',
    why: 'What is in it cannot be seen before it is unpacked.',
    mend: 'Put its files into the folder.',
    find: (file) => fileOf(isArchive(file)),
  },
  {
    id: 'longer-than-searched',
    level: 'info',
    family: 'files',
    message: 'Only the first 1 MiB of the file was searched',
    why: 'What stands behind it is not known.',
    mend: 'Split the file.',
    find: ({ bytes, kind }) => fileOf(kind === 'text' && bytes.length > SEARCHED_BYTES),
  },
];

export const CHARACTERS: readonly Rule[] = [
  {
    id: 'hidden-text',
    level: 'warn',
    family: 'characters',
    message: 'Invisible characters that spell a text for models',
    why: 'Models read them and people cannot see them.',
    mend: 'Remove them.',
    find: hiddenText,
  },
  {
    id: 'hidden-characters',
    level: 'warn',
    family: 'characters',
    message: 'Characters that cannot be seen, or that turn the text around them',
    why: 'What a person reads is not what a model reads.',
    mend: 'Remove them.',
    find: hiddenOnes,
  },
  {
    id: 'look-alike-letters',
    level: 'warn',
    family: 'characters',
    message: 'A word with letters of two scripts that look alike',
    why: 'A name that only looks right leads somewhere else.',
    mend: 'Write it with the letters of one script.',
    find: lookAlikes,
  },
];

// --- internal ---

function* fileOf(is: boolean): Generator<Match> {
  if (is) yield { words: '' };
}

function startsWith(bytes: Uint8Array, ...magic: readonly number[]): boolean {
  return magic.every((byte, at) => bytes[at] === byte);
}

function isProgram({ bytes, path }: ClassifiedFile): boolean {
  return (
    startsWith(bytes, 0x7f, 0x45, 0x4c, 0x46) ||
    (startsWith(bytes, 0x4d, 0x5a) && bytes.subarray(0, 8).some((byte) => byte < 9 || byte > 126)) ||
    [0xfeedface, 0xfeedfacf, 0xcefaedfe, 0xcffaedfe, 0xcafebabe].includes(magicOf(bytes)) ||
    startsWith(bytes, 0, 0x61, 0x73, 0x6d) ||
    /\.(?:exe|dll|msi|scr|dmg|pkg|deb|rpm|appimage|dylib|so|pyc|pyd|class|jar|apk|lnk)$/i.test(path)
  );
}

function magicOf(bytes: Uint8Array): number {
  return bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
}

/** Documents that are archives inside. */
const DOCUMENT = /\.(?:docx|xlsx|pptx|odt|ods|odp|epub|jar|apk|vsix|whl|kmz|xmind|sketch|dotx|potx|xltx|xlsm)$/i;

function isArchive({ bytes, path }: ClassifiedFile): boolean {
  if (DOCUMENT.test(path)) return false;
  return (
    startsWith(bytes, 0x50, 0x4b, 3, 4) ||
    startsWith(bytes, 0x1f, 0x8b) ||
    startsWith(bytes, 0x37, 0x7a, 0xbc, 0xaf) ||
    startsWith(bytes, 0x52, 0x61, 0x72, 0x21) ||
    startsWith(bytes, 0xfd, 0x37, 0x7a, 0x58) ||
    startsWith(bytes, 0x42, 0x5a, 0x68) ||
    /\.(?:zip|rar|7z|tar|tgz|gz|bz2|xz)$/i.test(path)
  );
}

function* hiddenText({ text }: ClassifiedFile): Generator<Match | undefined> {
  if (!/[\u{e0000}-\u{e007f}]/u.test(text)) return;
  for (const { part, line } of parts(text)) {
    yield undefined;
    if (!/[\u{e0000}-\u{e007f}]/u.test(part)) continue;
    const says = tagText(part.replace(/\u{1f3f4}[\u{e0061}-\u{e007a}]{4,6}\u{e007f}/gu, ''));
    if (says.replace(/\s/g, '').length >= 8) yield { line, words: says };
  }
}

/** Text from a web page always has a few: soft hyphens, marks at the beginning, zero-width spaces between words. */
const MAY_HIDE = /[\p{Default_Ignorable_Code_Point}\p{Surrogate}]|(?![\t\n\r])\p{Cc}/u;
/** A fast test first: most texts are printable ASCII. */
const NO_ASCII = /[^\t\n\r -~]/;
const TURNS = /[\u202a-\u202e\u2066-\u2069]/;

function* hiddenOnes({ text }: ClassifiedFile): Generator<Match | undefined> {
  if (!NO_ASCII.test(text)) return;
  for (const { part, line } of parts(text)) {
    yield undefined;
    if (!NO_ASCII.test(part) || !MAY_HIDE.test(part)) continue;
    for (const { char, at } of hiddenCharacters(part)) {
      if ((char === '\ufeff' && line === 1 && at === 0) || char === '\r') continue;
      const isInWord = /\w/.test(part[at - 1] ?? '') && /\w/.test(part[at + 1] ?? '');
      const isTag = (char.codePointAt(0) ?? 0) >= 0xe0000;
      if (!TURNS.test(char) && !isTag && !(isInWord && char !== '\u00ad') && char !== '\u001b') continue;
      yield { line, words: part.slice(Math.max(0, at - 30), at + 30) };
      break;
    }
  }
}

const WORD = /[\p{L}\d_.-]{3,200}/gu;
const IS_MIXED = /[A-Za-z]{2}[аеорсухіјѕһԁӏοανρικ]|[аеорсухіјѕһԁӏοανρικ][A-Za-z]{2}/;

function* lookAlikes({ text }: ClassifiedFile): Generator<Match | undefined> {
  if (!/[\u0370-\u052f]/.test(text)) return;
  for (const { part, line } of parts(text)) {
    yield undefined;
    if (!IS_MIXED.test(part)) continue;
    for (const [word] of part.matchAll(WORD)) {
      const others = word.match(/[\u0370-\u052f]/g)?.length ?? 0;
      const latin = word.match(/[A-Za-z]/g)?.length ?? 0;
      if (IS_MIXED.test(word) && latin > others && !/^[α-ωΑ-Ω]-|-[α-ωΑ-Ω]$/u.test(word)) yield { line, words: word };
    }
  }
}

function* parts(text: string): Generator<{ readonly part: string; readonly line: number }> {
  for (const { raw, line } of rawLines(text)) {
    for (let from = 0; from < raw.length; from += 4000) yield { part: raw.slice(from, from + 4000), line };
  }
}
