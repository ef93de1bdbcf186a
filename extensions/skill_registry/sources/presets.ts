import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PresetName } from '../config.ts';

/** Where other agents keep skills, below a project and below the home directory. */
const PRESETS: Readonly<Record<PresetName, { readonly project: string; readonly home: string }>> = {
  agents: { project: '.agents/skills', home: '.agents/skills' },
  claude: { project: '.claude/skills', home: '.claude/skills' },
  cursor: { project: '.cursor/skills', home: '.cursor/skills' },
  github: { project: '.github/skills', home: '.copilot/skills' },
};

/** One folder of a preset. */
export interface PresetFolder {
  readonly id: string;
  readonly path: string;
  /** The folder of the project that it belongs to; none for the home directory's. */
  readonly project?: string;
}

/**
 * The folders of a preset, nearest first: the root's, those of the folders above it up to the repository's root (the one that
 * holds `.git`; without one only the root's), then the home directory's. They need not exist.
 */
export function presetFolders(name: PresetName, root: string, home: string): readonly PresetFolder[] {
  const { project, home: below } = PRESETS[name];
  const folders = projectFolders(root).map((dir, index) => ({
    id: index === 0 ? name : `${name}-up-${index}`,
    path: join(dir, project),
    project: dir,
  }));
  const own = join(home, below);
  return folders.some((folder) => folder.path === own) ? folders : [...folders, { id: `${name}-home`, path: own }];
}

// --- internal ---

function projectFolders(root: string): readonly string[] {
  const folders = [root];
  for (let dir = root; !existsSync(join(dir, '.git')); ) {
    const parent = dirname(dir);
    if (parent === dir) return [root];
    folders.push(parent);
    dir = parent;
  }
  return folders;
}
