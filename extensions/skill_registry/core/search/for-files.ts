import { type Schema, schema } from '../../../../lib/arguments/index.ts';
import { minimatch } from '../../../../lib/globs/index.ts';
import { MAX_ALTERNATIVES } from '../skill/paths.ts';
import type { Skill } from '../skill/skill.ts';

/** Of files that a turn or a call names. */
export const MAX_FILES = 100;
export const MAX_FILE_CHARACTERS = 1000;
export const namedFiles: Schema<readonly string[] | undefined> = schema((z) =>
  z.array(z.string().max(MAX_FILE_CHARACTERS)).max(MAX_FILES).optional(),
);

/** The first of `skills` whose `paths` match a named file, at most five. Globs and names may be hostile. */
export function skillsForFiles(skills: Iterable<Skill>, named: readonly string[], root: string): readonly Skill[] {
  const found = new Set<Skill>();
  const files = filesBelow(root, named);
  let steps = 0;
  for (const skill of files.length > 0 ? skills : []) {
    let own = 0;
    const isForFile = skill.paths.some((glob) => {
      // Almost all files differ in how the glob begins or ends.
      const fixed = glob.split(/[*?[\]{}]/);
      const [start = '', end = ''] = [glob.includes('/') ? fixed[0] : '', fixed.at(-1)];
      const near = files.filter((file) => file.startsWith(start) && file.endsWith(end));
      own += files.length * COMPARING;
      if (near.length === 0 || own > MAX_OWN_STEPS) return false;
      const compiled = new (minimatch().Minimatch)(glob, OPTIONS);
      own += compiled.globSet.join('').length * (COMPILING + near.join('').length);
      return own <= MAX_OWN_STEPS && near.some((file) => compiled.match(file));
    });
    if (isForFile) found.add(skill);
    steps += Math.min(own, MAX_OWN_STEPS);
    if (found.size === MAX_SKILLS || steps > MAX_STEPS) break;
  }
  return [...found];
}

// --- internal ---

const MAX_SKILLS = 5;
/** Characters of globs times characters of files: each takes at most 3 ns. */
const MAX_STEPS = 100_000_000;
/** So that a hostile skill leaves steps for others. */
const MAX_OWN_STEPS = 5_000_000;
const COMPILING = 300;
const COMPARING = 20;
/** `matchBase`: a glob without `/` is about names in any folder. */
const OPTIONS = { braceExpandMax: MAX_ALTERNATIVES, dot: true, matchBase: true, noext: true } as const;

/** With `/` between names; without what lies outside the root. */
function filesBelow(root: string, named: readonly string[]): readonly string[] {
  const base = `${root}/`.replaceAll('\\', '/');
  return named.flatMap((file) => {
    const path = file.replaceAll('\\', '/');
    const name = path.startsWith(base) ? path.slice(base.length) : path;
    const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
    return /^(?:\/|[A-Za-z]:)|\0/.test(name) || segments.includes('..') ? [] : [segments.join('/')];
  });
}
