import type { Problem } from 'skill-registry/kernel';
import type { Skill } from '../api.ts';
import { foldLine } from '../skill/text.ts';
import { underSource } from './group-source.ts';
import { createOwnSkills } from './own-skills.ts';
import { isUsableId } from './slug.ts';
import type { SkillSource } from './source.ts';

/**
 * A source of somebody else's, under an id of ours: its skills carry that id, and it is handed back what it gave. Texts that
 * reach prompts are made safe for them, and a skill without a usable id or a digest is a problem (SKILL_ID_INVALID).
 */
export function adoptSource(source: SkillSource, id: string): SkillSource {
  const own = createOwnSkills<Skill>();
  return {
    id,
    kind: source.kind,
    location: source.location,
    async scan(limits, pace) {
      const { skills, losers = [], problems } = await source.scan(limits, pace);
      const known = new Map<string, Skill>();
      const wrong: Problem[] = [];
      const adopt = (given: Skill): Skill[] => {
        const skill = adopted(given, source.id, id);
        if (!skill || known.has(skill.qualifiedId)) {
          wrong.push(unusable(given, source.location));
          return [];
        }
        known.set(skill.qualifiedId, given);
        return [skill];
      };
      const scan = { skills: skills.flatMap(adopt), losers: losers.flatMap(adopt), problems: [...problems, ...wrong] };
      own.replace(known);
      return scan;
    },
    readSkill: (skill, maxBytes) => source.readSkill(own.get(skill), maxBytes),
    resources: (skill) => {
      const found = own.find(skill);
      return found ? source.resources(found) : [];
    },
    readResource: (skill, path, maxBytes) => source.readResource(own.get(skill), path, maxBytes),
    watchFolders: () => source.watchFolders(),
    scopes: () => source.scopes?.(),
    contains: (path) => source.contains(path),
  };
}

// --- internal ---

const NOTHING: Omit<Skill, 'id' | 'qualifiedId' | 'source' | 'name' | 'description' | 'file' | 'digest'> = {
  dir: null,
  realFile: null,
  bytes: 0,
  tags: [],
  requires: [],
  modelInvocable: true,
  userInvocable: true,
  arguments: [],
  triggerKeywords: [],
  allowedTools: [],
  metadata: {},
  extra: {},
};

function adopted(given: Skill, before: string, id: string): Skill | undefined {
  const isWhole =
    typeof given === 'object' &&
    given !== null &&
    [given.id, given.qualifiedId, given.digest].every((text) => typeof text === 'string' && text !== '');
  if (!isWhole || !isUsableId(given.id)) return undefined;
  const name = foldLine(String(given.name ?? '')) || given.id;
  const description = foldLine(String(given.description ?? '')) || name;
  const file = typeof given.file === 'string' ? given.file : given.qualifiedId;
  return underSource({ ...NOTHING, ...given, name, description, file }, before, id);
}

function unusable(given: unknown, file: string): Problem {
  const id = String((given as Partial<Skill> | null | undefined)?.id).slice(0, 80);
  const message = `The source gave a skill (${JSON.stringify(id)}) without a usable id, a qualified id of its own and a digest. Mend the source.`;
  return { code: 'SKILL_ID_INVALID', severity: 'error', file, message };
}
