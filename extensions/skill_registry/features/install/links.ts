import { existsSync, lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { withFallback } from '../../../../lib/errors/index.ts';
import { futureRealPath, linkContained, unlinkContained } from '../../../../lib/files/index.ts';
import { PRESETS, type PresetName } from '../../core/config/presets.ts';
import { createLooksHere } from '../../core/sources/agent-folders.ts';
import type { LockScope } from '../guard/installed.ts';
import { folderOf, type SkillLocation } from '../history/skill-location.ts';
import type { LockEntry, SkillToAdd } from './types.ts';

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

function linkOf({ ofPerson, folder }: LockScope, agent: PresetName, { skillId }: Pick<SkillLocation, 'skillId'>) {
  const { home, project } = PRESETS[agent];
  return { base: futureRealPath(ofPerson ? homedir() : folder), path: `${ofPerson ? home : project}/${skillId}` };
}

function linksOf(scope: LockScope, skill: Pick<SkillLocation, 'skillId'>, entry: LockEntry) {
  return knownAgents(entry).map((agent) => linkOf(scope, agent, skill));
}
