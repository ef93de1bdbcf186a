import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  ALSO_READ_BY,
  isPresetGroup,
  PRESET_NAMES,
  PRESETS,
  type PresetGroup,
  type PresetName,
} from '../config/preset-table.ts';

export interface FoundAgent {
  readonly preset: PresetName;
  readonly folder: string;
}

export interface PresetFolder {
  readonly id: string;
  readonly path: string;
  /** The folder of the project; absent for one in the home directory. */
  readonly project?: string;
}

/**
 * The folders need not exist. Without a git work tree, parent folders of the root are left out. Of a group each folder
 * once, those of the project first: what a project says about itself goes before what its user says everywhere.
 */
export function presetFolders(name: PresetName | PresetGroup, root: string, home: string): readonly PresetFolder[] {
  if (isPresetGroup(name)) {
    const all = OWN_NAMES.flatMap((one) => presetFolders(one, root, home));
    const ofPerson = name === 'all' ? all.filter(({ project }) => project === undefined) : [];
    return [...all.filter(({ project }) => project !== undefined), ...ofPerson];
  }
  const { project, home: below } = PRESETS[name];
  const top = workTreeOf(root) ?? root;
  const projects = [root];
  for (let dir = root; dir !== top; projects.push(dir)) dir = dirname(dir);
  const folders = projects.map((dir, index) => {
    return { id: index === 0 ? name : `${name}-up-${index}`, path: join(dir, project), project: dir };
  });
  const own = join(home, below);
  if (!folders.some(({ path }) => path === own)) return [...folders, { id: `${name}-home`, path: own }];
  return folders.map(({ project: of, ...one }) => (one.path === own ? one : { ...one, project: of }));
}

/** The agents whose documentation says that they read the folder of this file. Their own settings are not read. */
export function createLooksHere(root: string, home: string = homedir()): (file: string) => readonly PresetName[] {
  const folders = OWN_NAMES.flatMap((name) => {
    const readers = [...(name === 'agents' ? [] : [name]), ...(ALSO_READ_BY[name] ?? [])];
    const paths = presetFolders(name, root, home).map(({ path }) => `${path}/`);
    // A folder that is called just skills is no sign of an agent.
    return paths.flatMap((path) =>
      PRESETS[name].project === 'skills' && !path.startsWith(`${home}/.`) ? [] : [{ path, readers }],
    );
  });
  return (file) => [...new Set(folders.flatMap(({ path, readers }) => (file.startsWith(path) ? readers : [])))].sort();
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
  return OWN_NAMES.flatMap((preset) => {
    const paths = PRESETS[preset];
    const ofProject = presetFolders(preset, root, home).flatMap(({ path, project }) => (project ? [path] : []));
    const signs = [dirname(join(home, paths.home)), ...(paths.project === 'skills' ? [] : ofProject)];
    const folder = signs.find((sign) => existsSync(sign));
    return folder === undefined ? [] : [{ preset, folder }];
  });
}

// --- internal ---

/** Without the older name of copilot. */
const OWN_NAMES = PRESET_NAMES.filter((name) => name !== 'github');
