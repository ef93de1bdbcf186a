import { minimatch } from '../../../../lib/globs/index.ts';
import { type FieldSource, readListAnywhere, shown, splitOutside } from './field-values.ts';

/** Of one glob, without braces. */
export const MAX_ALTERNATIVES = 32;

/** Those that count; PATHS_IGNORED for the others. */
export function readPaths(from: FieldSource, metadata: Readonly<Record<string, unknown>>): readonly string[] {
  const given = readListAnywhere('paths', from, metadata, (text) => splitOutside('{}', /,/, text));
  if (given.length === 0) return given;
  const globs = given.map((glob) => glob.replace(/^(?:\.?\/)+/, '').replace(/\/$/, '/**'));
  const counting = globs.slice(0, MAX_GLOBS).filter(counts);
  const ignored = globs.filter((glob) => !counting.includes(glob));
  if (ignored.length > 0) {
    const rule = `Of the first ${MAX_GLOBS} those count that have a whole name or an extension (src/**, *.ts), at most ${MAX_LENGTH} characters, braces for ${MAX_ALTERNATIVES} globs, and no "!", "\\" or "..".`;
    const line = from.lineOf(from.data.paths === undefined ? 'metadata' : 'paths');
    from.add('PATHS_IGNORED', 'warning', `${shown(ignored)} in "paths" count for nothing. ${rule}`, line);
  }
  return counting;
}

// --- internal ---

const MAX_GLOBS = 20;
const MAX_LENGTH = 200;
/** A whole name, an extension, or three letters of one: with less, a glob is about almost every file. */
const FIXED = /^[^*?]+$|\.[\p{L}\p{N}]{2}|\.[\p{L}\p{N}[\]_-]+$|[\p{L}\p{N}]{3}/u;

function counts(glob: string): boolean {
  if (glob.length > MAX_LENGTH || /^!|\\/.test(glob)) return false;
  const alternatives = minimatch().braceExpand(glob, { braceExpandMax: MAX_ALTERNATIVES + 1 });
  // `[jt]` is as good as a letter; other brackets may stand for almost all.
  const isFixed = (name: string): boolean => FIXED.test(name.replace(/\[(?![\p{L}\p{N}]{1,2}\]).*\]/u, '?'));
  const isAboutSome = (names: readonly string[]): boolean =>
    names.some(isFixed) && !names.includes('.') && !names.includes('..');
  return alternatives.length <= MAX_ALTERNATIVES && alternatives.every((one) => isAboutSome(one.split('/')));
}
