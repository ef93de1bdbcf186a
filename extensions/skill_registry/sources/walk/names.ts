/** Never searched: large folders that belong to tools. */
export const SKIPPED: ReadonlySet<string> = new Set([
  'node_modules',
  'bower_components',
  'site-packages',
  '__pycache__',
  '__MACOSX',
]);

/** Folders that tools fill: searched only where a person has put a SKILL.md directly into one. */
export const GENERATED: ReadonlySet<string> = new Set(['build', 'dist', 'out', 'target', 'venv']);

/** Files that tools write into folders that are theirs, whatever these are called: Python environments and caches. */
export const TOOL_MARKS: ReadonlySet<string> = new Set(['pyvenv.cfg', 'CACHEDIR.TAG']);

export function isSkillFileName(name: string): boolean {
  return name.toLowerCase() === 'skill.md';
}

/** The name of a file that may be a skill by itself, without `.md`; undefined for any other file. */
export function bareNameOf(fileName: string): string | undefined {
  return /^(?!(?:readme|skill)\.md$)[^.].*\.md$/i.test(fileName) ? fileName.slice(0, -'.md'.length) : undefined;
}
