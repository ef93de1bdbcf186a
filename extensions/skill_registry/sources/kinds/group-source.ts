import { describeError, type Problem } from 'skill-registry/kernel';
import type { SkillRegistryConfig } from '../../config/config.ts';
import type { Skill } from '../../skill/skill.ts';
import { NO_FILES, ScannedSkills, type SkillSource } from '../source.ts';

export interface GroupMembers {
  readonly members: readonly SkillSource[];
  readonly problems: readonly Problem[];
}

export interface GroupSourceOptions {
  readonly id: string;
  readonly kind: string;
  readonly location: string;
  /** Called at every scan. Must return the same object for an unchanged member. */
  members(): Promise<GroupMembers>;
  adapt?(skill: Skill, member: SkillSource): Skill;
  /** Which member wins an id that several have. Default: `first`. */
  readonly winner?: 'first' | 'last';
  watch(): readonly string[];
}

/** Losers of an id stay readable by qualified id. A member that cannot be scanned keeps its last result. */
export function createGroupSource(options: GroupSourceOptions): SkillSource {
  const { id, adapt = (skill: Skill) => skill } = options;
  const own = new ScannedSkills<Found>();
  const lastGood = new WeakMap<SkillSource, ScannedMember>();
  let current: readonly SkillSource[] = [];
  return {
    id,
    kind: options.kind,
    location: options.location,
    broughtIn: true,
    async scan(limits) {
      const { members, problems } = await options.members();
      const found: Found[] = [];
      const all: Problem[] = [...problems];
      for (const member of members) {
        const scan = await scanMember(member, limits, adapt, lastGood.get(member));
        lastGood.set(member, scan);
        all.push(...scan.problems);
        found.push(...scan.found);
      }
      const { winners, losers } = pickWinners(found, options.winner);
      const taken = new Map<string, Found>();
      const skills = winners.map((one) => withFreeId(one, taken));
      const lost = losers.map((one) => withFreeId(one, taken));
      current = members;
      own.replace(() => taken);
      return { skills, losers: lost, problems: all };
    },
    readSkill: (skill, maxBytes) => {
      const { member, original } = own.get(skill);
      return member.readSkill(original, maxBytes);
    },
    listing(skill, present) {
      const found = own.find(skill);
      return found ? found.member.listing(found.original, present) : NO_FILES;
    },
    readResource: (skill, path, maxBytes) => {
      const { member, original } = own.get(skill);
      return member.readResource(original, path, maxBytes);
    },
    watchFolders: () => [...options.watch(), ...current.flatMap((member) => member.watchFolders())],
    contains: (path) => current.some((member) => member.contains(path)),
    isCode: (path) => current.some((member) => member.isCode?.(path)),
  };
}

// --- internal ---

interface Found {
  readonly skill: Skill;
  readonly original: Skill;
  readonly member: SkillSource;
}

interface ScannedMember {
  readonly found: readonly Found[];
  readonly problems: readonly Problem[];
}

async function scanMember(
  member: SkillSource,
  limits: SkillRegistryConfig['limits'],
  adapt: (skill: Skill, member: SkillSource) => Skill,
  before: ScannedMember | undefined,
): Promise<ScannedMember> {
  try {
    const { skills, losers = [], problems } = await member.scan(limits);
    const found = [...skills, ...losers].map((original) => ({ skill: adapt(original, member), original, member }));
    return { found, problems };
  } catch (error) {
    const { found = [] } = before ?? {};
    const message = `This part of the source could not be scanned (${describeError(error)}); its last ${found.length} skill(s) are used. Repair it or remove it; the other parts are used.`;
    return { found, problems: [{ code: 'SOURCE_FAILED', severity: 'error', file: member.location, message }] };
  }
}

function pickWinners(
  found: readonly Found[],
  winner: 'first' | 'last' = 'first',
): { winners: Found[]; losers: Found[] } {
  const ordered = winner === 'first' ? found : [...found].reverse();
  const byId = new Map<string, Found>();
  const losers: Found[] = [];
  for (const one of ordered) {
    const winning = byId.get(one.skill.id);
    if (!winning) byId.set(one.skill.id, one);
    else {
      const isSameFile = winning.skill.realFile !== null && winning.skill.realFile === one.skill.realFile;
      if (!isSameFile) losers.push(one);
      if (one.skill.preload && (isSameFile || winning.skill.digest === one.skill.digest))
        byId.set(one.skill.id, { ...winning, skill: { ...winning.skill, preload: true } });
    }
  }
  const kept = new Map([...byId.values()].map((one) => [one.original, one]));
  return { winners: found.flatMap(({ original }) => kept.get(original) ?? []), losers };
}

/** Qualified ids can repeat, for example of inline skills with one name: later ones get a number. */
function withFreeId(found: Found, taken: Map<string, Found>): Skill {
  const base = found.skill.qualifiedId;
  let qualifiedId = base;
  for (let number = 2; taken.has(qualifiedId); number++) qualifiedId = `${base}~${number}`;
  taken.set(qualifiedId, found);
  return qualifiedId === base ? found.skill : { ...found.skill, qualifiedId };
}
