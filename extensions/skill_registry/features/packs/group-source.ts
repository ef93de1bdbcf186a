import { describeError, type Problem } from 'skill-registry/kernel';
import { plural } from '../../../../lib/text/index.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { freeId, NO_FILES, ownSkill, type SkillSource } from '../../core/sources/source.ts';

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
  const { id, kind, location, adapt = (skill: Skill) => skill } = options;
  let own: ReadonlyMap<string, Found> = new Map();
  const lastGood = new WeakMap<SkillSource, readonly Found[]>();
  let current: readonly SkillSource[] = [];
  return {
    id,
    kind,
    location,
    broughtIn: true,
    async scan(limits) {
      const { members, problems: ofMembers } = await options.members();
      const found: Found[] = [];
      const problems = [...ofMembers];
      for (const member of members) {
        try {
          const { skills, losers = [], problems: ofMember } = await member.scan(limits);
          const toFound = (original: Skill): Found => ({ skill: adapt(original, member), original, member });
          lastGood.set(member, [...skills, ...losers].map(toFound));
          for (const problem of ofMember) problems.push(problem);
        } catch (error) {
          problems.push(scanFailed(member, error, lastGood.get(member)?.length ?? 0));
        }
        found.push(...(lastGood.get(member) ?? []));
      }
      const { winners, losers } = pickWinners(found, options.winner);
      const taken = new Map<string, Found>();
      const withFreeId = (one: Found): Skill => {
        // Inline skills with one name have one qualified id.
        const qualifiedId = freeId(one.skill.qualifiedId, taken);
        taken.set(qualifiedId, one);
        return qualifiedId === one.skill.qualifiedId ? one.skill : { ...one.skill, qualifiedId };
      };
      const scan = { skills: winners.map(withFreeId), losers: losers.map(withFreeId), problems };
      current = members;
      own = taken;
      return scan;
    },
    readSkill: (skill, maxBytes) => {
      const { member, original } = ownSkill(own, skill);
      return member.readSkill(original, maxBytes);
    },
    listing(skill, present) {
      const found = own.get(skill.qualifiedId);
      return found ? found.member.listing(found.original, present) : NO_FILES;
    },
    readResource: (skill, path, maxBytes) => {
      const { member, original } = ownSkill(own, skill);
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

function scanFailed({ location: file }: SkillSource, error: unknown, count: number): Problem {
  const message = `This part of the source could not be scanned (${describeError(error)}); it keeps its last ${plural(count, 'skill')}. Repair it or remove it; the other parts are used.`;
  return { code: 'SOURCE_FAILED', severity: 'error', file, message };
}

function pickWinners(found: readonly Found[], winner: 'first' | 'last' = 'first') {
  const byId = new Map<string, Found>();
  const losers: Found[] = [];
  for (const one of winner === 'first' ? found : [...found].reverse()) {
    const winning = byId.get(one.skill.id);
    if (!winning) byId.set(one.skill.id, one);
    else {
      const isSameFile = winning.skill.realFile !== null && winning.skill.realFile === one.skill.realFile;
      if (!isSameFile) losers.push(one);
      if (one.skill.preload && (isSameFile || winning.skill.digest === one.skill.digest))
        byId.set(one.skill.id, { ...winning, skill: { ...winning.skill, preload: true } });
    }
  }
  const winners = [...byId.values()];
  return { winners: winner === 'first' ? winners : winners.reverse(), losers };
}
