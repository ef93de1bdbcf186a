import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { PRESET_NAMES, PRESETS, type PresetName } from '../config/presets.ts';
import { presetFolders } from './make-sources.ts';

/** An agent that is used on this machine. */
export interface FoundAgent {
  readonly preset: PresetName;
  /** Absolute: the folder that shows it. */
  readonly folder: string;
}

/**
 * The presets of the agents that have a folder for their settings in the home directory, or one for skills in the root or above it. A
 * folder `skills` in the root shows no agent.
 */
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
