import type { Problem } from 'skill-registry/kernel';
import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../../lib/digest/index.ts';
import {
  assertReadable,
  relativeSegments,
  resourceNotFound,
  resourceTooLarge,
} from '../../../../../lib/files/index.ts';
import { parseSkill } from '../../../core/skill/parse-skill.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import { makeSkill } from '../../../core/sources/make-skill.ts';
import { ownSkill, type SkillSource } from '../../../core/sources/source.ts';
import { MAX_LISTED_FILES } from '../../../core/sources/walk/list-files.ts';
import type { IncomingFile } from '../../install/opened-origin.ts';
import type { HubStore } from '../store/hub-store.ts';
import { fileAt, filesOf } from '../team/team.ts';
import { areAllowed, type HubEntry } from '../wire.ts';

/** The skills of a space as they are now, with their files in memory. A scan reads what has changed since the last. */
export function spaceSource(store: HubStore, space: string): SkillSource {
  let own = new Map<string, Kept>();
  let [seen, epoch] = [0, ''];
  const files = (skill: Skill): readonly IncomingFile[] => ownSkill(own, skill).files;
  const fileOf = (skill: Skill, path: string, most: number): Buffer => {
    const bytes = fileAt(files(skill), path);
    if (bytes === null) throw resourceNotFound(path);
    if (bytes.length > most) throw resourceTooLarge(path, bytes.length, most);
    return Buffer.from(bytes);
  };
  return {
    id: space,
    kind: 'hub',
    location: `the space ${space}`,
    broughtIn: true,
    async scan() {
      const state = await store.state(space);
      // After a restore: what was read stays until everything is read again.
      const isOther = epoch !== state.epoch || seen > state.head;
      const next = isOther ? new Map<string, Kept>() : own;
      if (isOther) seen = 0;
      for (;;) {
        const some = await store.contents(space, seen, 200);
        for (const { seq, id, entry, bytes } of some) {
          await takeBreak();
          const kept = entry && bytes && keep(space, entry, await filesOf({ ...entry, bytes }));
          if (kept) next.set(kept.skill?.qualifiedId ?? id, kept);
          else next.delete(`${space}:${id}`);
          seen = seq;
        }
        if (some.length === 0) break;
      }
      [own, epoch] = [next, state.epoch];
      const all = [...own.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
      return { skills: all.flatMap(({ skill }) => skill ?? []), problems: all.flatMap(({ problems }) => problems) };
    },
    readSkill: (skill, most) => fileOf(skill, 'SKILL.md', most),
    listing(skill) {
      const others = files(skill).filter(({ path }) => path !== 'SKILL.md');
      const sorted = others.map(({ path, bytes }) => ({ path, size: bytes.length }));
      return {
        files: sorted.sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, MAX_LISTED_FILES),
        leftOut: 0,
      };
    },
    readResource(skill, path, most) {
      const segments = relativeSegments(path);
      assertReadable(segments, path);
      return fileOf(skill, segments.join('/'), most);
    },
    allows: (skill, findings) => areAllowed(findings, own.get(skill.qualifiedId)?.allowed),
    watchFolders: () => [],
    contains: () => false,
  };
}

// --- internal ---

interface Kept extends Pick<HubEntry, 'id' | 'allowed'> {
  readonly skill: Skill | undefined;
  readonly files: readonly IncomingFile[];
  readonly problems: readonly Problem[];
}

function keep(space: string, { id, allowed }: HubEntry, files: readonly IncomingFile[]): Kept {
  const bytes = fileAt(files, 'SKILL.md') ?? Buffer.alloc(0);
  const qualifiedId = `${space}:${id}`;
  const { header, problems } = parseSkill(bytes.toString('utf8'), qualifiedId, id);
  const identity = { id, qualifiedId, source: space, file: qualifiedId, dir: null, realFile: null };
  return { id, allowed, files, problems, skill: header && makeSkill(header, identity, digestOf(bytes), bytes.length) };
}
