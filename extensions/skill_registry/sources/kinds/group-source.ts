import { describeError, type Problem } from 'skill-registry/kernel';
import type { SkillRegistryConfig } from '../../config/config.ts';
import type { Skill } from '../../skill/skill.ts';
import type { SkillSource } from '../source.ts';
import { createOwnSkills } from '../source.ts';
import { listingOf } from '../walk/list-files.ts';

/** What a group is made of at one moment. */
export interface GroupMembers {
  /** In order of declaration. */
  readonly members: readonly SkillSource[];
  readonly problems: readonly Problem[];
}

export interface GroupSourceOptions {
  readonly id: string;
  readonly kind: string;
  readonly location: string;
  /** Asked at every scan; a member that stays must stay the same object. */
  members(): Promise<GroupMembers>;
  /** Changes what a member found. Default: nothing but the source. */
  adapt?(skill: Skill, member: SkillSource): Skill;
  /** Of several members with one skill id. Default: `first`. */
  readonly winner?: 'first' | 'last';
  /** Folders and files that decide which members there are. */
  watch(): readonly string[];
}

/**
 * One source made of others, read through the member that found the skill. Skills that lose their id inside the group stay
 * readable by qualified id. A member that preloads a skill does so whichever member has it in the end. One that cannot be
 * scanned keeps what it had.
 */
export function createGroupSource(options: GroupSourceOptions): SkillSource {
  const { id, adapt = (skill: Skill, member: SkillSource) => underSource(skill, member.id, id) } = options;
  const own = createOwnSkills<Found>();
  const lastGood = new WeakMap<SkillSource, ScannedMember>();
  let current: readonly SkillSource[] = [];
  return {
    id,
    kind: options.kind,
    location: options.location,
    async scan(limits, takeBreak) {
      const { members, problems } = await options.members();
      const found: Found[] = [];
      const all: Problem[] = [...problems];
      for (const member of members) {
        const scan = await scanMember(member, limits, takeBreak, adapt, lastGood.get(member));
        lastGood.set(member, scan);
        all.push(...scan.problems);
        found.push(...scan.found);
      }
      const { winners, losers } = pickWinners(found, options.winner ?? 'first');
      const taken = new Map<string, Found>();
      const [skills, lost] = [winners, losers].map((some) => some.map((one) => withFreeId(one, taken)));
      current = members;
      own.replace(taken);
      return { skills: skills ?? [], losers: lost ?? [], problems: all };
    },
    readSkill: (skill, maxBytes) => {
      const { member, original } = own.get(skill);
      return member.readSkill(original, maxBytes);
    },
    resources: (skill) => {
      const found = own.find(skill);
      return found ? found.member.resources(found.original) : [];
    },
    listing: (skill) => {
      const found = own.find(skill);
      return found ? listingOf(found.original, found.member) : { files: [], leftOut: 0 };
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

/** A skill as if the source `id` had found it, not the source `before`. */
export function underSource(skill: Skill, before: string, id: string): Skill {
  const { qualifiedId } = skill;
  const below = qualifiedId.startsWith(`${before}:`) ? qualifiedId.slice(before.length + 1) : qualifiedId;
  return { ...skill, source: id, qualifiedId: `${id}:${below}` };
}

// --- internal ---

interface Found {
  /** As the group shows it. */
  readonly skill: Skill;
  /** As the member knows it. */
  readonly original: Skill;
  readonly member: SkillSource;
}

/** What one member found. */
interface ScannedMember {
  readonly found: readonly Found[];
  readonly problems: readonly Problem[];
}

/** A member that fails takes nobody with it. */
async function scanMember(
  member: SkillSource,
  limits: SkillRegistryConfig['limits'],
  takeBreak: () => Promise<void>,
  adapt: (skill: Skill, member: SkillSource) => Skill,
  before: ScannedMember | undefined,
): Promise<ScannedMember> {
  try {
    const { skills, losers = [], problems } = await member.scan(limits, takeBreak);
    const found = [...skills, ...losers].map((original) => ({ skill: adapt(original, member), original, member }));
    return { found, problems };
  } catch (error) {
    const { found = [] } = before ?? {};
    const message = `This part of the source could not be scanned (${describeError(error)}); its last ${found.length} skill(s) stay. Mend that, or remove it; the other parts are used.`;
    return { found, problems: [{ code: 'SOURCE_FAILED', severity: 'error', file: member.location, message }] };
  }
}

function pickWinners(found: readonly Found[], winner: 'first' | 'last'): { winners: Found[]; losers: Found[] } {
  const ordered = winner === 'first' ? found : [...found].reverse();
  const byId = new Map<string, Found>();
  const losers: Found[] = [];
  for (const one of ordered) {
    const known = byId.get(one.skill.id);
    if (!known) byId.set(one.skill.id, one);
    else {
      const isSameFile = known.skill.realFile !== null && known.skill.realFile === one.skill.realFile;
      if (!isSameFile) losers.push(one);
      if (one.skill.preload && (isSameFile || known.skill.digest === one.skill.digest))
        byId.set(one.skill.id, { ...known, skill: { ...known.skill, preload: true } });
    }
  }
  const kept = new Map([...byId.values()].map((one) => [one.original, one]));
  return { winners: found.flatMap(({ original }) => kept.get(original) ?? []), losers };
}

/** Two skills may have come by one qualified id, inline ones of one name for example: later ones get a number. */
function withFreeId(found: Found, taken: Map<string, Found>): Skill {
  const wanted = found.skill.qualifiedId;
  let qualifiedId = wanted;
  for (let number = 2; taken.has(qualifiedId); number++) qualifiedId = `${wanted}~${number}`;
  taken.set(qualifiedId, found);
  return { ...found.skill, qualifiedId };
}
