import { hiddenCharacters, tagText } from '../../../../../../lib/text/index.ts';
import { splitFrontmatter } from '../../../../core/skill/frontmatter.ts';
import type { InspectedFile } from '../../../../core/skill/guard.ts';
import { isSkillFileName } from '../../../../core/sources/walk/names.ts';
import { rawLines } from '../lines.ts';
import type { ClassifiedFile, FileMatch, Match, Rule } from '../rule.ts';

const SEARCHED_BYTES = 1024 * 1024;

/** SKILL.md is given as a whole. */
export function searchedOf({ path, bytes }: InspectedFile): Uint8Array {
  return path === 'SKILL.md' ? bytes : bytes.subarray(0, SEARCHED_BYTES);
}

export const FILES: readonly Rule[] = [
  {
    id: 'hidden-text',
    level: 'warn',
    family: 'characters',
    message: 'Invisible characters that spell a text for models',
    why: 'Models read them and people cannot see them.',
    mend: 'Remove them.',
    find: (file) => matchesInParts(file, HAS_TAGS, hiddenText),
  },
  {
    id: 'hidden-characters',
    level: 'warn',
    family: 'characters',
    message: 'Characters that cannot be seen, or that turn the text around them',
    why: 'What a person reads is not what a model reads.',
    mend: 'Remove them.',
    find: (file) => matchesInParts(file, MAY_HIDE, hiddenOnes),
  },
  {
    id: 'look-alike-letters',
    level: 'warn',
    family: 'characters',
    message: 'A word with letters of two scripts that look alike',
    why: 'A name that only looks right leads somewhere else.',
    mend: 'Write it with the letters of one script.',
    find: (file) => matchesInParts(file, GREEK_OR_CYRILLIC, lookAlikes),
  },
  {
    id: 'program-in-folder',
    level: 'warn',
    family: 'files',
    message: 'A program that nobody can read',
    why: 'What it does cannot be seen before it runs.',
    mend: 'Ship its source, or name a package and a version.',
    find: (file) => fileIf(isProgram(file)),
  },
  {
    id: 'archive-in-folder',
    level: 'warn',
    family: 'files',
    message: 'An archive, whose files are not inspected',
    why: 'What is in it cannot be seen before it is unpacked.',
    mend: 'Put its files into the folder.',
    find: (file) => fileIf(isArchive(file)),
  },
  {
    id: 'longer-than-searched',
    level: 'info',
    family: 'files',
    message: 'Only the first 1 MiB of the file was searched',
    why: 'What stands behind it is not known.',
    mend: 'Split the file.',
    find: (file) => fileIf(file.kind === 'text' && file.bytes.length > searchedOf(file).length),
  },
  {
    id: 'permission-wider-than-use',
    level: 'warn',
    family: 'permissions',
    message: 'Asks permission for every command, and uses none',
    why: 'With the permission, whatever the model is led to run is run without a question.',
    mend: 'Name the commands that the skill uses: Bash(git log *).',
    whole: (skill) => skill.flatMap((file) => [...widePermission(file, skill)]),
  },
];

// --- internal ---

function fileIf(isFound: boolean): readonly Match[] {
  return isFound ? [{ words: '' }] : [];
}

/** What a file begins with, in hexadecimal digits. */
const PROGRAM = /^(?:7f454c46|feedface|feedfacf|cefaedfe|cffaedfe|cafebabe|0061736d)/;
const ARCHIVE = /^(?:504b0304|1f8b|377abcaf|52617221|fd377a58|425a68)/;

function beginningOf({ bytes }: ClassifiedFile): string {
  return Buffer.from(bytes.subarray(0, 4)).toString('hex');
}

function isProgram(file: ClassifiedFile): boolean {
  const beginning = beginningOf(file);
  return (
    PROGRAM.test(beginning) ||
    (beginning.startsWith('4d5a') && file.bytes.subarray(0, 8).some((byte) => byte < 9 || byte > 126)) ||
    /\.(?:exe|dll|msi|scr|dmg|pkg|deb|rpm|appimage|dylib|so|pyc|pyd|class|jar|apk|lnk)$/i.test(file.path)
  );
}

/** Documents that are archives inside. */
const DOCUMENT = /\.(?:docx|xlsx|pptx|odt|ods|odp|epub|jar|apk|vsix|whl|kmz|xmind|sketch|dotx|potx|xltx|xlsm)$/i;

function isArchive(file: ClassifiedFile): boolean {
  if (DOCUMENT.test(file.path)) return false;
  return ARCHIVE.test(beginningOf(file)) || /\.(?:zip|rar|7z|tar|tgz|gz|bz2|xz)$/i.test(file.path);
}

/** `has` is a fast test: most texts are printable ASCII. */
function* matchesInParts(
  { text }: ClassifiedFile,
  has: RegExp,
  wordsIn: (part: string, line: number) => readonly string[],
): Generator<Match | undefined> {
  if (!has.test(text)) return;
  for (const { raw, line } of rawLines(text)) {
    for (let from = 0; from < raw.length; from += 4000) {
      yield undefined;
      const part = raw.slice(from, from + 4000);
      if (has.test(part)) yield* wordsIn(part, line).map((words) => ({ line, words }));
    }
  }
}

const HAS_TAGS = /[\u{e0000}-\u{e007f}]/u;

function hiddenText(part: string): readonly string[] {
  const says = tagText(part.replace(/\u{1f3f4}[\u{e0061}-\u{e007a}]{4,6}\u{e007f}/gu, ''));
  return says.replace(/\s/g, '').length >= 8 ? [says] : [];
}

/** Text from a web page always has a few: soft hyphens, marks at the beginning, zero-width spaces between words. */
const MAY_HIDE = /[\p{Default_Ignorable_Code_Point}\p{Surrogate}]|(?![\t\n\r])\p{Cc}/u;
const TURNS = /[\u202a-\u202e\u2066-\u2069]/;

/** Only the first one. */
function hiddenOnes(part: string, line: number): readonly string[] {
  for (const { char, at } of hiddenCharacters(part)) {
    if ((char === '\ufeff' && line === 1 && at === 0) || char === '\r') continue;
    const isInWord = char !== '\u00ad' && /\w/.test(part[at - 1] ?? '') && /\w/.test(part[at + 1] ?? '');
    const isTag = (char.codePointAt(0) ?? 0) >= 0xe0000;
    if (TURNS.test(char) || isTag || isInWord || char === '\u001b') return [part.slice(Math.max(0, at - 30), at + 30)];
  }
  return [];
}

const GREEK_OR_CYRILLIC = /[\u0370-\u052f]/;
const WORD = /[\p{L}\d_.-]{3,200}/gu;
const IS_MIXED = /[A-Za-z]{2}[аеорсухіјѕһԁӏοανρικ]|[аеорсухіјѕһԁӏοανρικ][A-Za-z]{2}/;

function lookAlikes(part: string): readonly string[] {
  if (!IS_MIXED.test(part)) return [];
  return (part.match(WORD) ?? []).filter((word) => {
    const others = word.match(/[\u0370-\u052f]/g)?.length ?? 0;
    const latin = word.match(/[A-Za-z]/g)?.length ?? 0;
    return IS_MIXED.test(word) && latin > others && !/^[α-ωΑ-Ω]-|-[α-ωΑ-Ω]$/u.test(word);
  });
}

const WIDE =
  /(?:^|[\s,[\-'"])(?:bash(?:\(\s?\*?(?::\*)?\s?\))?|shell(?:\(\*\))?|\*|all|execute|terminal)(?=$|[\s,\]'"])/i;
const USES_COMMANDS =
  /^\s{0,12}(?:```|~~~)|`[\w./-]{2,30} [^`]{1,200}`|\b(?:run|execute|command|cli|script|terminal|shell|bash|git|npm|python|curl|install)\b/im;

function* widePermission({ path: file, text }: ClassifiedFile, skill: readonly ClassifiedFile[]): Generator<FileMatch> {
  if (!isSkillFileName(file)) return;
  const { yaml, bodyOffset, yamlLine } = splitFrontmatter(text);
  if (yaml === undefined) return;
  const lines = yaml.slice(0, 64 * 1024).split('\n');
  const at = lines.findIndex((line) => /^["']?allowed[-_]tools["']?\s*:/i.test(line));
  if (at === -1) return;
  const end = lines.findIndex((line, other) => other > at && /^[^\s-]/.test(line));
  const value = lines
    .slice(at, end === -1 ? undefined : end)
    .join('\n')
    .replace(/^[^:]*:/, '');
  if (!WIDE.test(value.slice(0, 4000))) return;
  if (skill.some((other) => !other.prose && other.kind === 'text' && other.path !== file)) return;
  if (USES_COMMANDS.test(text.slice(bodyOffset, bodyOffset + 200_000))) return;
  yield { file, line: yamlLine + at, words: `allowed-tools: ${value.trim().replace(/\s+/g, ' ')}` };
}
