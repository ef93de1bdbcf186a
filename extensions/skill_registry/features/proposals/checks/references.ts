import { posix } from 'node:path';
import { foldersAbove } from '../../../../../lib/files/index.ts';
import { decodedAddress, matchesOf } from '../../../../../lib/text/index.ts';
import type { Fact } from './checks.ts';
import type { ScannedLine } from './scanned-line.ts';

export function referenceFinder(path: string, files: readonly string[]): (line: ScannedLine) => Generator<Fact> {
  const skillFiles = new Set(['SKILL.md', path, ...files]);
  const folders = new Set([...skillFiles].flatMap(foldersAbove));
  const isThere = (name: string): boolean => skillFiles.has(name) || folders.has(name);

  /** Against the folder of the file, then against the skill. Undefined: outside the skill. */
  function locate(target: string): string | undefined {
    const inside = [posix.join(posix.dirname(path), target), posix.normalize(target)]
      .map((candidate) => candidate.replace(/\/$/, ''))
      .filter((candidate) => candidate !== '..' && !candidate.startsWith('../'));
    return inside.find(isThere) ?? inside[0];
  }

  function judge(target: string, certainty: Certainty): string | undefined {
    if (isOutside(target, certainty)) return OUTSIDE;
    if (!isFileName(target, certainty, skillFiles)) return undefined;
    const located = locate(target);
    if (located === undefined) return OUTSIDE;
    if (isThere(located)) return 'Refers to a file of the skill';
    const [first = ''] = (target.startsWith('.') ? located : target).split('/');
    if (certainty === 'link' || folders.has(first) || CONVENTIONAL.has(first)) {
      return 'Refers to a file that the skill does not have';
    }
    return certainty === 'span' ? 'Names a file that is not in the skill' : undefined;
  }

  return function* referenceFacts(line) {
    for (const [quoted, certainty] of targetsIn(line)) {
      const what = judge(quoted, certainty);
      if (what !== undefined) yield { what, quoted };
    }
  };
}

// --- internal ---

/** From most to least certain: the target of a link, text between backticks, any word of code. */
type Certainty = 'link' | 'span' | 'word';

const OUTSIDE = 'Points outside the skill';
const CONVENTIONAL = new Set(['references', 'reference', 'scripts', 'assets', 'templates', 'examples', 'resources']);

const INLINE_LINK = /\]\( ?(?:<([^<>]{1,500})>|([^\s()<>]{1,500}))/g;
const LINK_DEFINITION = /^(?:> ?)*\[[^\]]{1,200}\]: ?<?([^\s<>]{1,500})/;
const HTML_LINK = /\b(?:href|src) ?= ?["']?([^\s"'<>]{1,500})/gi;
/** `@references/style.md`: some clients insert the file here. */
const IMPORT = /(?:^|[ (])@((?:~|\.{1,2})?[\w./-]{1,200})/g;
const SCHEME = /^[a-z][a-z0-9+.-]{1,30}:/i;
const DRIVE = /^[a-z]:[\\/]/i;
/** Top folders of a file system; `/api/users` is not such a path. */
const ROOT_FOLDER =
  /^\/(?:etc|usr|var|home|root|tmp|opt|s?bin|dev|proc|sys|mnt|media|boot|lib|run|srv|users|library|applications|private|volumes)(?:\/|$)/i;
const OWN_FOLDER = /(?:\{baseDir\}|\$\{?(?:CLAUDE_SKILL_DIR|SKILL_DIR)\}?)\/?/g;
const HOME = /\$(?:\{HOME\}|HOME\b)/g;

function* targetsIn({ text, kind, code }: ScannedLine): Generator<readonly [string, Certainty]> {
  if (kind === 'prose') {
    for (const target of linkTargets(text)) yield [target, 'link'];
    for (const [, target = ''] of matchesOf(text, IMPORT)) yield [target, 'span'];
  }
  for (const word of code.flatMap(wordsOf)) yield [word, kind === 'prose' ? 'span' : 'word'];
}

function linkTargets(text: string): readonly string[] {
  const definition = LINK_DEFINITION.exec(text)?.[1];
  const links = matchesOf(text, INLINE_LINK).map(([, quoted, plain]) => quoted ?? plain ?? '');
  const html = matchesOf(text, HTML_LINK).map(([, target = '']) => target);
  return (
    [...(definition === undefined ? [] : [definition]), ...links, ...html]
      .map((target) => decodedAddress(plainPath(target.replace(/[?#].*$/, ''))))
      // `networkFacts` finds other addresses.
      .filter((path) => path !== '' && !path.startsWith('//') && !isPlaceholder(path))
      .filter((path) => !SCHEME.test(path) || /^file:/i.test(path))
  );
}

function wordsOf(code: string): readonly string[] {
  if (!/[/\\~.]/.test(code)) return [];
  return plainPath(code)
    .split(/[\s"'`=,;()|&]+/)
    .map((piece) =>
      piece
        .slice(0, 500)
        .replace(/(?::\d{1,9}){1,2}$/, '')
        .replace(/[.:]{1,3}$/, ''),
    )
    .filter((word) => word !== '' && !word.includes('://') && !isPlaceholder(word));
}

function plainPath(text: string): string {
  return text.replace(OWN_FOLDER, './').replace(HOME, '~');
}

function isPlaceholder(path: string): boolean {
  return /[<>{}$*…\0]|\.\.\./.test(path);
}

/** A link is a path. A word may also be a number (`~10`) or the address of a page (`/api/users`). */
function isOutside(target: string, certainty: Certainty): boolean {
  if (/^(?:file:|~[\w.-]{0,40}\/)/i.test(target) || DRIVE.test(target)) return true;
  if (certainty === 'link') return target.startsWith('/') || target.startsWith('~');
  return ROOT_FOLDER.test(target);
}

function isFileName(target: string, certainty: Certainty, skillFiles: ReadonlySet<string>): boolean {
  if (target.startsWith('/') || target.startsWith('~')) return false;
  if (certainty === 'link' || skillFiles.has(target) || target.startsWith('../')) return true;
  const segments = target.split('/');
  return (
    segments.length > 1 &&
    /\.[A-Za-z][A-Za-z0-9]{0,7}$/.test(segments.at(-1) ?? '') &&
    /^[\p{L}\p{N}_.@+/-]{3,300}$/u.test(target)
  );
}
