import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { PRESET_NAMES, PRESETS, type PresetName } from '../config/presets.ts';

export interface FoundAgent {
  readonly preset: PresetName;
  readonly folder: string;
}

export interface PresetFolder {
  readonly id: string;
  readonly path: string;
  /** The folder of the project; absent for a folder in the home directory. */
  readonly project?: string;
}

/** The folders need not exist. Without a git work tree, parent folders of the root are left out. */
export function presetFolders(name: PresetName, root: string, home: string): readonly PresetFolder[] {
  const { project, home: below } = PRESETS[name];
  const top = workTreeOf(root) ?? root;
  const projects = [root];
  for (let dir = root; dir !== top; projects.push(dir)) dir = dirname(dir);
  const folders = projects.map((dir, index) => {
    return { id: index === 0 ? name : `${name}-up-${index}`, path: join(dir, project), project: dir };
  });
  const own = join(home, below);
  return folders.some((folder) => folder.path === own) ? folders : [...folders, { id: `${name}-home`, path: own }];
}

export function homeFolders(home: string): readonly string[] {
  return Object.values(PRESETS).map((preset) => join(home, preset.home));
}

export function workTreeOf(folder: string): string | undefined {
  for (let dir = folder; ; dir = dirname(dir)) {
    if (existsSync(`${dir}/.git`)) return dir;
    if (dir === dirname(dir)) return undefined;
  }
}

/** A folder named `skills` in the root is no sign of an agent. */
export function foundAgents(root: string, home: string = homedir()): readonly FoundAgent[] {
  return PRESET_NAMES.flatMap((preset) => {
    if (preset === 'github') return [];
    const paths = PRESETS[preset];
    const ofProject = presetFolders(preset, root, home).flatMap(({ path, project }) => (project ? [path] : []));
    const signs = [dirname(join(home, paths.home)), ...(paths.project === 'skills' ? [] : ofProject)];
    const folder = signs.find((sign) => existsSync(sign));
    return folder === undefined ? [] : [{ preset, folder }];
  });
}
