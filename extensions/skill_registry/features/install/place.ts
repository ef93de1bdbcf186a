import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { futureRealPath } from '../../../../lib/files/index.ts';
import { ownerFile } from '../../core/config/owner-file.ts';
import { PRESET_NAMES, PRESETS, type PresetName } from '../../core/config/presets.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import { foundAgents } from '../../core/sources/agent-folders.ts';
import { type LockScope, lockScopes } from '../guard/installed.ts';
import type { ChangeContext } from '../history/change-context.ts';
import type { InstallPlace } from './types.ts';

/** The folder of an agent by its name (`claude`, `claude-home`), or the folder as it is given. */
export function folderNamed(to: string | undefined, root: string): string | undefined {
  const preset = to?.replace(/-home$/, '') ?? '';
  if (!isPreset(preset)) return to;
  return to === preset ? join(futureRealPath(root), PRESETS[preset].project) : join(homedir(), PRESETS[preset].home);
}

/** @throws INVALID_ARGUMENT for an unknown agent. */
export function agentsFor(
  scope: LockScope,
  folder: string | undefined,
  given: readonly string[] | undefined,
): readonly PresetName[] {
  const wrong = given?.find((name) => !isPreset(name));
  if (wrong !== undefined)
    throw invalidArgument(`An agent is one of ${PRESET_NAMES.join(', ')}, got ${JSON.stringify(wrong.slice(0, 80))}.`);
  if (given) return given.filter(isPreset);
  const shared = folderNamed(scope.ofPerson ? 'agents-home' : 'agents', scope.folder) ?? '';
  const isShared = folder !== undefined && futureRealPath(folder) === futureRealPath(shared);
  return isShared ? foundAgents(scope.ofPerson ? homedir() : scope.folder).map(({ preset }) => preset) : [];
}

/** A root that has a config, or a folder that may be written, keeps its folder. */
export function placeOf({ root, sources }: Pick<ChangeContext, 'root' | 'sources'>): InstallPlace {
  const [project] = lockScopes(root);
  const folders = sources().flatMap(({ writing }) => writing?.folder ?? []);
  const there = folders.find((folder) => existsSync(folder) && project.covers(futureRealPath(folder)));
  const shared = folderNamed('agents', root);
  const isSource = sources().some(({ location }) => futureRealPath(location) === shared);
  if (existsSync(ownerFile(root)) || !isSource) return { to: undefined, choices: [] };
  if (there !== undefined) return { to: there, choices: [] };
  const found = foundAgents(root).map(({ preset }) => preset);
  const names = [...new Set<string>(['agents', ...found])];
  return { to: 'agents', choices: [...names, ...names.map((name) => `${name}-home`)] };
}

// --- internal ---

function isPreset(name: string): name is PresetName {
  return Object.hasOwn(PRESETS, name);
}
