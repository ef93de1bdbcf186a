/** Never searched: large folders of tools. */
export const SKIPPED: ReadonlySet<string> = new Set(
  'node_modules bower_components site-packages __pycache__ __MACOSX'.split(' '),
);

/** Folders that tools fill: not searched, unless a SKILL.md is directly in one. */
export const GENERATED: ReadonlySet<string> = new Set(['build', 'dist', 'out', 'target', 'venv']);

/** Files that mark a folder as a Python environment or a cache, whatever its name is. */
export const TOOL_MARKS: ReadonlySet<string> = new Set(['pyvenv.cfg', 'CACHEDIR.TAG']);

export function isSkillFileName(name: string): boolean {
  return name.toLowerCase() === 'skill.md';
}

/** A bare skill file's name without `.md`; undefined for any other file. */
export function bareNameOf(fileName: string): string | undefined {
  return /^(?!(?:readme|skill)\.md$)[^.].*\.md$/i.test(fileName) ? fileName.slice(0, -'.md'.length) : undefined;
}
