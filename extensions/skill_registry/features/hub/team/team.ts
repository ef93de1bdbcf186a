import { join } from 'node:path';
import { CodedError } from 'skill-registry/kernel';
import { unpack } from '../../../../../lib/fetch/index.ts';
import { shorten } from '../../../../../lib/text/index.ts';
import { skillNotFound } from '../../../core/skill/errors.ts';
import { parsedText } from '../../history/changed-text.ts';
import type { SkillLocation } from '../../history/skill-location.ts';
import { type IncomingFile, originSkills, readOriginSkills } from '../../install/opened-origin.ts';
import { artifactOf as pageArtifactOf } from '../../pages/publish/artifact.ts';
import type { HubArtifact, HubStore } from '../store/hub-store.ts';
import type { HubEntry } from '../wire.ts';

/** The skills of one space. */
export interface Team {
  readonly space: string;
  readonly store: HubStore;
  /** Whoever has proposed or edited a content does not approve it, and nobody publishes. */
  readonly fourEyes: boolean;
  /** Of the hub; nothing is read or written there for a skill. */
  readonly root: string;
}

export interface PresentSkill {
  readonly entry: HubEntry;
  readonly files: readonly IncomingFile[];
}

/** Undefined for one that is not there, or withdrawn. */
export async function presentSkill({ store, space }: Team, skillId: string): Promise<PresentSkill | undefined> {
  for (;;) {
    const entry = (await store.skill(space, skillId))?.entry;
    if (!entry) return undefined;
    const artifact = await store.artifact(space, entry.digest, { skillId });
    if (artifact) return { entry, files: await filesOf(artifact) };
  }
}

/** All as they are now, by id. */
export async function skillsOf(store: HubStore, space: string): Promise<readonly HubEntry[]> {
  // A skill that changes meanwhile comes once more.
  const found = new Map<string, HubEntry | null>();
  for (let after: number | undefined = 0; after !== undefined; ) {
    const some = await store.changes(space, after, CHANGES_AT_ONCE);
    for (const { id, entry } of some) found.set(id, entry);
    after = some.length < CHANGES_AT_ONCE ? undefined : some.at(-1)?.seq;
  }
  return [...found.values()].flatMap((entry) => entry ?? []).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** @throws SKILL_NOT_FOUND. */
export async function knownSkill(team: Team, skillId: string): Promise<PresentSkill> {
  const present = await presentSkill(team, skillId);
  if (present) return present;
  throw skillNotFound(skillId);
}

/** @throws ORIGIN_REFUSED for what is no skill, or leads out of it. */
export async function filesOf({
  bytes,
  type,
}: {
  readonly bytes: Buffer;
  readonly type: HubEntry['type'];
}): Promise<readonly IncomingFile[]> {
  if (type === 'skill-md') return [{ path: 'SKILL.md', bytes, executable: false }];
  const archive = await unpack(bytes, 'the artifact');
  const [skill] = originSkills(archive).filter(({ folder }) => folder === '');
  if (!skill) throw new CodedError('ORIGIN_REFUSED', 'The artifact has no SKILL.md at its top.');
  return (await readOriginSkills(archive, [skill])).flatMap(({ files }) => files);
}

/** @throws SKILL_INVALID for what no machine could list. */
export function artifactOf(skillId: string, files: readonly IncomingFile[]): HubArtifact {
  const text = fileAt(files, 'SKILL.md')?.toString('utf8') ?? '';
  const { description = '', tags = [] } = parsedText(text, skillId).header ?? {};
  const made = pageArtifactOf({ id: skillId, description }, { files, leftOut: 0, links: [] });
  if (typeof made === 'string') throw new CodedError('SKILL_INVALID', `"${skillId}" cannot be given: ${made}.`);
  const { bytes, entry } = made;
  const listed = tags.slice(0, 32).map((tag) => shorten(tag, 99));
  const { type, digest } = entry;
  return {
    bytes,
    entry: { id: skillId, description: entry.description, tags: listed, type, digest, size: bytes.length },
  };
}

export function fileAt(files: readonly IncomingFile[], path: string): Buffer | null {
  return files.find((file) => file.path === path)?.bytes ?? null;
}

/** @param after - null: without this file. */
export function withFile(files: readonly IncomingFile[], path: string, after: Buffer | null): readonly IncomingFile[] {
  const executable = files.find((file) => file.path === path)?.executable ?? false;
  const others = files.filter((file) => file.path !== path);
  return after === null ? others : [...others, { path, bytes: after, executable }];
}

/** For functions that ask where a skill lies. No folder is there. */
export function locationOf({ root, space }: Team, skillId: string): SkillLocation {
  const base = join(root, 'skills-of-the-hub');
  return { skillId, source: space, key: skillId, base, below: skillId, skillFile: 'SKILL.md', atHub: true };
}

export function textOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('utf8');
}

// --- internal ---

const CHANGES_AT_ONCE = 500;
