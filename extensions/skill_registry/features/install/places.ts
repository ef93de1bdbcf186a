import { existsSync, lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { withFallback } from '../../../../lib/errors/index.ts';
import { futureRealPath, linkContained, unlinkContained } from '../../../../lib/files/index.ts';
import { ownerFile } from '../../core/config/owner-file.ts';
import { PRESET_NAMES, PRESETS, type PresetName } from '../../core/config/preset-table.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import { createLooksHere, foundAgents } from '../../core/sources/agent-folders.ts';
import { type LockScope, lockScopes } from '../guard/installed.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { folderOf, type SkillLocation } from '../history/skill-location.ts';
import type { InstallPlace, LockEntry, SkillToAdd } from './types.ts';

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

type Links = Pick<SkillToAdd, 'links' | 'notLinked'> & { readonly agents: readonly PresetName[] };

/** The links for agents that do not look at the folder of the skill. */
export function planLinks(scope: LockScope, location: SkillLocation, agents: readonly PresetName[]): Links {
  const folder = folderOf(location);
  const home = futureRealPath(homedir());
  const looks = createLooksHere(scope.ofPerson ? home : futureRealPath(scope.folder), home)(`${folder}/SKILL.md`);
  const planned: { agent: PresetName; link: string }[] = [];
  const notLinked: string[] = [];
  for (const agent of new Set(agents)) {
    const { base, path } = linkOf(scope, agent, location);
    const link = join(base, path);
    const [real, above] = [futureRealPath(link), dirname(link)];
    const stats = lstatSync(link, { throwIfNoEntry: false });
    const isBehindLink = futureRealPath(above) !== above;
    const isOurs = real === folder && !isBehindLink && stats?.isSymbolicLink() === true;
    if (looks.includes(agent) || (real === folder && !isOurs)) continue;
    if (isBehindLink) notLinked.push(`no link for ${agent}: ${above} is reached through a link`);
    else if (stats && !isOurs) notLinked.push(`no link for ${agent}, which sees what is there already: ${link}`);
    else planned.push({ agent, link });
  }
  return { agents: planned.map(({ agent }) => agent), links: planned.map(({ link }) => link), notLinked };
}

/** A lock names agents, never paths. */
export function knownAgents({ registry }: LockEntry): readonly PresetName[] {
  return (registry?.links ?? []).filter((name): name is PresetName => Object.hasOwn(PRESETS, name));
}

/** Links of the lock that do not lead to the skill, each with what is there. */
export function brokenLinks(scope: LockScope, location: SkillLocation, entry: LockEntry): readonly string[] {
  return linksOf(scope, location, entry).flatMap(({ base, path }) => {
    const link = join(base, path);
    if (futureRealPath(link) === folderOf(location)) return [];
    return [`${link} ${lstatSync(link, { throwIfNoEntry: false }) ? 'does not lead to it' : 'is missing'}`];
  });
}

/** Links of the lock to a skill whose files are gone. */
export function deadLinks(scope: LockScope, id: string, entry: LockEntry): readonly DeadLink[] {
  return linksOf(scope, { skillId: id }, entry).flatMap(({ base, path }) => {
    const link = join(base, path);
    const target = futureRealPath(link);
    const isDead = !existsSync(link) && lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return isDead && basename(target) === id && scope.covers(target) ? [{ base, path, target }] : [];
  });
}

export interface DeadLink {
  readonly base: string;
  readonly path: string;
  /** Where it leads, and where nothing is. */
  readonly target: string;
}

/** Leaves what is in the place of a link. */
export function makeLinks(scope: LockScope, location: SkillLocation, entry: LockEntry): void {
  for (const { base, path } of linksOf(scope, location, entry))
    withFallback(() => linkContained(base, path, folderOf(location)));
}

export function takeLinks(scope: LockScope, location: SkillLocation, entry: LockEntry | undefined): void {
  for (const { base, path } of entry ? linksOf(scope, location, entry) : [])
    unlinkContained(base, path, folderOf(location));
}

// --- internal ---

function isPreset(name: string): name is PresetName {
  return Object.hasOwn(PRESETS, name);
}

function linkOf({ ofPerson, folder }: LockScope, agent: PresetName, { skillId }: Pick<SkillLocation, 'skillId'>) {
  const { home, project } = PRESETS[agent];
  return { base: futureRealPath(ofPerson ? homedir() : folder), path: `${ofPerson ? home : project}/${skillId}` };
}

function linksOf(scope: LockScope, skill: Pick<SkillLocation, 'skillId'>, entry: LockEntry) {
  return knownAgents(entry).map((agent) => linkOf(scope, agent, skill));
}
