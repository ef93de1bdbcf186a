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
import { ownSkill, type SkillSource, type SourceScan } from '../../../core/sources/source.ts';
import { MAX_LISTED_FILES } from '../../../core/sources/walk/list-files.ts';
import type { IncomingFile } from '../../install/opened-origin.ts';
import type { HubStore } from '../store/hub-store.ts';
import { fileAt, filesOf } from '../team/team.ts';
import { areAllowed, type HubEntry } from '../wire.ts';

/** The skills of a space as they are now, with their files in memory. Only what has changed is read. */
export function spaceSource(store: HubStore, space: string): SkillSource {
  const skills = new SpaceSkills(store, space);
  const files = (skill: Skill): readonly IncomingFile[] => ownSkill(skills.own, skill).files;
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
    scan: () => skills.scan(),
    rescan: (skill) => skills.rescan(skill),
    subscribe(changed) {
      let again: NodeJS.Timeout | undefined;
      const tell = async (): Promise<void> => {
        clearTimeout(again);
        const isRead = await skills.readOn().then(
          () => true,
          () => false,
        );
        changed(isRead ? skills.changedAlone() : undefined);
        // The database is away: nothing tells of the changes that were not read.
        if (!isRead) again = setTimeout(() => void tell(), AGAIN_MS).unref();
      };
      const stop = store.onChange((of) => {
        if (of === space) void tell();
      });
      return () => {
        clearTimeout(again);
        stop();
      };
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
    allows: (skill, findings) => areAllowed(findings, skills.own.get(skill.qualifiedId)?.allowed),
    watchFolders: () => [],
    contains: () => false,
  };
}

// --- internal ---

const AGAIN_MS = 1000;

class SpaceSkills {
  /** By qualified id. */
  own = new Map<string, Kept>();
  readonly #store: HubStore;
  readonly #space: string;
  #seen = 0;
  #epoch = '';
  #last: SourceScan = { skills: [], problems: [] };
  /** Qualified ids of skills that are older in `#last`. Undefined: it has others, or something failed. */
  #older: Set<string> | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(store: HubStore, space: string) {
    this.#store = store;
    this.#space = space;
  }

  /** One after the other. */
  readOn(): Promise<void> {
    this.#reading = this.#reading.catch(() => undefined).then(() => this.#read());
    return this.#reading;
  }

  async scan(): Promise<SourceScan> {
    await this.readOn();
    if (this.#older?.size === 0) return this.#last;
    this.#older = new Set();
    const all = [...this.own.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    this.#last = { skills: all.flatMap(({ skill }) => skill ?? []), problems: all.flatMap(({ problems }) => problems) };
    return this.#last;
  }

  rescan(skill: Skill): { readonly skill: Skill; readonly scan: SourceScan } | undefined {
    const now = this.own.get(skill.qualifiedId)?.skill;
    if (!this.#older?.delete(skill.qualifiedId) || !now) return undefined;
    this.#last = { ...this.#last, skills: this.#last.skills.map((one) => (one === skill ? now : one)) };
    return { skill: now, scan: this.#last };
  }

  /** Qualified ids of the only skills that the last scan has as they were. Undefined: it has others. */
  changedAlone(): readonly string[] | undefined {
    return this.#older && [...this.#older];
  }

  async #read(): Promise<void> {
    const before = this.#older;
    // What fails is followed by a scan of all.
    this.#older = undefined;
    const state = await this.#store.state(this.#space);
    // After a restore: what was read stays until everything is read again.
    const isOther = this.#epoch !== state.epoch || this.#seen > state.head;
    const next = isOther ? new Map<string, Kept>() : this.own;
    if (isOther) this.#seen = 0;
    let isAlone = before !== undefined && !isOther;
    const older = new Set(before);
    for (;;) {
      const some = await this.#store.contents(this.#space, this.#seen, 200);
      for (const { seq, id, entry, bytes } of some) {
        await takeBreak();
        const qualifiedId = `${this.#space}:${id}`;
        const kept = entry && bytes && keep(this.#space, entry, await filesOf({ ...entry, bytes }));
        isAlone &&= isPlain(next.get(qualifiedId)) && isPlain(kept);
        if (kept) next.set(qualifiedId, kept);
        else next.delete(qualifiedId);
        older.add(qualifiedId);
        this.#seen = seq;
      }
      if (some.length === 0) break;
    }
    [this.own, this.#epoch] = [next, state.epoch];
    this.#older = isAlone ? older : undefined;
  }
}

interface Kept extends Pick<HubEntry, 'id' | 'allowed'> {
  readonly skill: Skill | undefined;
  readonly files: readonly IncomingFile[];
  readonly problems: readonly Problem[];
}

/** It can be replaced without a look at other skills. */
function isPlain(kept: Kept | null | undefined): boolean {
  return kept?.skill !== undefined && kept.problems.length === 0;
}

function keep(space: string, { id, allowed }: HubEntry, files: readonly IncomingFile[]): Kept {
  const bytes = fileAt(files, 'SKILL.md') ?? Buffer.alloc(0);
  const qualifiedId = `${space}:${id}`;
  const { header, problems } = parseSkill(bytes.toString('utf8'), qualifiedId, id);
  const identity = { id, qualifiedId, source: space, file: qualifiedId, dir: null, realFile: null };
  return { id, allowed, files, problems, skill: header && makeSkill(header, identity, digestOf(bytes), bytes.length) };
}
