import { isUtf8 } from 'node:buffer';
import { CodedError } from 'skill-registry/kernel';
import { unifiedDiff } from '../../../../../lib/diff/index.ts';
import { DEFAULT_LIMITS } from '../../../core/config/config-keys.ts';
import { skillNotFound } from '../../../core/skill/errors.ts';
import { noChange, skillExists } from '../../history/errors.ts';
import { checkSize, checkValid } from '../../history/skill-location.ts';
import type { Decider } from '../../history/types.ts';
import type { IncomingFile } from '../../install/opened-origin.ts';
import type { HubRevision, RevisionKind } from '../store/hub-store.ts';
import { lastNumber } from './decide.ts';
import { artifactOf, fileAt, filesOf, knownSkill, locationOf, presentSkill, type Team } from './team.ts';
import { assertOther, assertSeen } from './who-may-decide.ts';

/** Without a proposal. @throws FOUR_EYES where `four_eyes` is set, SKILL_INVALID, PROPOSAL_NO_CHANGE. */
export async function publish(
  team: Team,
  skillId: string,
  files: readonly IncomingFile[],
  actor: Decider,
): Promise<number> {
  assertMayPublish(team);
  const location = locationOf(team, skillId);
  for (const { path, bytes } of files) {
    checkSize(location, path, bytes, DEFAULT_LIMITS);
    // No person reviews it.
    if (path === location.skillFile) checkValid(location, path, null, bytes, true);
  }
  const artifact = artifactOf(skillId, files);
  for (;;) {
    const after = await lastNumber(team, skillId);
    if ((await team.store.skill(team.space, skillId))?.entry?.digest === artifact.entry.digest) throw noChange(skillId);
    const allowed = await assertSeen(skillId, actor, files);
    const made = await team.store.commit(team.space, {
      ...byOf(actor),
      skillId,
      kind: 'published',
      artifact,
      allowed,
      after,
    });
    if (made !== undefined) return made;
  }
}

/** @throws SKILL_NOT_FOUND; FOUR_EYES where `four_eyes` is set. */
export async function withdraw(team: Team, skillId: string, actor: Decider): Promise<number> {
  assertMayPublish(team);
  for (;;) {
    const after = await lastNumber(team, skillId);
    if (!(await team.store.skill(team.space, skillId))?.entry) throw skillNotFound(skillId);
    const change = { ...byOf(actor), skillId, kind: 'removed', artifact: null, after } as const;
    const made = await team.store.commit(team.space, change);
    if (made !== undefined) return made;
  }
}

/**
 * An earlier content as the next revision; also of a withdrawn skill. It is an approval of that content.
 * @throws REVISION_NOT_FOUND, FOUR_EYES, as `assertSeen`.
 */
export async function rollback(team: Team, skillId: string, revision: number, actor: Decider): Promise<HubRevision> {
  for (;;) {
    const after = await lastNumber(team, skillId);
    const isThere = (await presentSkill(team, skillId)) !== undefined;
    const target = await revisionNamed(team, skillId, revision);
    assertOther(team, actor.by, target.persons);
    const files = await filesOfRevision(team, skillId, target);
    const artifact = artifactOf(skillId, files);
    if ((await team.store.skill(team.space, skillId))?.entry?.digest === artifact.entry.digest) throw noChange(skillId);
    const allowed = await assertSeen(skillId, actor, files);
    const kind: RevisionKind = isThere ? 'rollback' : 'restored';
    const change = { ...byOf(actor), persons: target.persons, skillId, kind, artifact, allowed, after };
    const made = await team.store.commit(team.space, change);
    if (made !== undefined) return revisionNamed(team, skillId, made);
  }
}

/**
 * The same content once more, so that hubs and machines hear what is allowed in it now. @param actor - Where it is
 * revoked, without what was inspected. @throws SKILL_NOT_FOUND, as `assertSeen`.
 */
export async function renewAllowed(team: Team, skillId: string, actor: Decider): Promise<void> {
  for (;;) {
    const { entry, files } = await knownSkill(team, skillId);
    const { persons } = await revisionNamed(team, skillId, entry.revision);
    const allowed = actor.inspected === undefined ? [] : await assertSeen(skillId, actor, files);
    const artifact = artifactOf(skillId, files);
    const change = { ...byOf(actor), persons, skillId, kind: 'published', artifact, allowed } as const;
    if ((await team.store.commit(team.space, { ...change, after: entry.revision })) !== undefined) return;
  }
}

/** The last content of a withdrawn skill. @throws SKILL_EXISTS, SKILL_NOT_FOUND, as `rollback`. */
export async function restore(team: Team, skillId: string, actor: Decider): Promise<HubRevision> {
  if (await presentSkill(team, skillId)) throw skillExists(skillId, 'this space', 'Nothing was withdrawn.');
  return rollback(team, skillId, await lastContent(team, skillId), actor);
}

/** @throws SKILL_NOT_FOUND. */
export async function lastContent(team: Team, skillId: string): Promise<number> {
  const last = (await team.store.revisions(team.space, skillId)).findLast(({ digest }) => digest !== null);
  if (!last) throw skillNotFound(skillId);
  return last.number;
}

/** @throws REVISION_NOT_FOUND, also for one without a content. */
export async function revisionNamed(team: Team, skillId: string, wanted: number | string): Promise<HubRevision> {
  const all = await team.store.revisions(team.space, skillId);
  const found = wanted === 'present' ? all.at(-1) : all.find(({ number }) => String(number) === String(wanted));
  if (found?.digest) return found;
  const message = `"${skillId.slice(0, 100)}" has no content of a revision ${JSON.stringify(String(wanted).slice(0, 40))} here.`;
  throw new CodedError('REVISION_NOT_FOUND', message);
}

export async function filesOfRevision(
  { store, space }: Team,
  skillId: string,
  { digest }: Pick<HubRevision, 'digest'>,
): Promise<readonly IncomingFile[]> {
  const artifact = digest === null ? undefined : await store.artifact(space, digest, { skillId });
  return artifact ? filesOf(artifact) : [];
}

/** Of all files, by path. */
export function diffOfFiles(before: readonly IncomingFile[], after: readonly IncomingFile[]): string {
  const paths = [...new Set([...before, ...after].map(({ path }) => path))].sort();
  return paths
    .map((path) => {
      const [old, now] = [fileAt(before, path), fileAt(after, path)];
      if (old && now?.equals(old)) return '';
      if ((old && !isUtf8(old)) || (now && !isUtf8(now))) return `Binary files a/${path} and b/${path} differ\n`;
      return unifiedDiff(path, old?.toString('utf8') ?? null, now?.toString('utf8') ?? null);
    })
    .join('');
}

/** Not where `four_eyes` is set. @throws FOUR_EYES. */
export function assertMayPublish({ fourEyes }: Team): void {
  if (!fourEyes) return;
  const message =
    'Nobody publishes or withdraws here alone (four_eyes). Propose the change; somebody else approves it.';
  throw new CodedError('FOUR_EYES', message);
}

// --- internal ---

function byOf({ by, reason }: Decider) {
  return { by, reason: reason ?? null, persons: [by] };
}
