import { CodedError, isCodedError } from 'skill-registry/kernel';
import { skillNamed } from './catalog/snapshot.ts';
import type { InspectedFile } from './inspect/types.ts';
import type { Parts } from './parts.ts';
import type { ChangeToApprove, Finding } from './trust/types.ts';

type Given = Pick<Parts, 'catalog' | 'changes' | 'heldSkills'>;

/** The `block` findings of a skill as it would be after a change, without those that are allowed already. */
export async function blockFindingsAfter(parts: Given, change: ChangeToApprove): Promise<readonly Finding[]> {
  if ('proposalId' in change) return afterProposal(parts, change.proposalId);
  if ('revision' in change) return afterRollback(parts, change);
  // Asked again, whoever allowed it before the skill was removed.
  return parts.heldSkills.blocksIn(undefined, await parts.changes.history.filesToRestore(change.restoredId));
}

/** For an approval by somebody who is no person. @throws BLOCK_NOT_CONFIRMED when the skill would be held after it. */
export async function assertNoAttack(parts: Given, proposalId: string): Promise<void> {
  const blocks = await afterProposal(parts, proposalId);
  if (blocks.length === 0) return;
  const message = `A person would call this an attack (${blocks.map(({ rule }) => rule).join(', ')}), so only a person can approve it. Nothing was changed, and the proposal waits for one. Reject it, or tell the user.`;
  throw new CodedError('BLOCK_NOT_CONFIRMED', message, { proposal: proposalId });
}

/**
 * Allows what a person was shown before a change, if nothing else holds the skill now.
 *
 * @returns why it is held; null when it is not.
 */
export async function allowShown(
  { catalog, heldSkills }: Given,
  skillId: string,
  shown: readonly Finding[],
  { by, reason }: { readonly by: string; readonly reason?: string | undefined },
): Promise<string | null> {
  const skill = skillNamed(catalog.snapshot(), skillId);
  if (!skill) return null;
  const { heldBecause, digest } = await heldSkills.trustOf(skill);
  if (heldBecause === null || !by.startsWith('person:')) return heldBecause;
  const keys = new Set(shown.map(findingKey));
  const others = (await heldSkills.blocksIn(skill, await heldSkills.filesOf(skill))).filter(
    (one) => !keys.has(findingKey(one)),
  );
  if (others.length > 0) return heldBecause;
  const decided = await heldSkills.decide('allow', skill, { by, reason, digest });
  await catalog.refresh();
  return decided.heldBecause;
}

// --- internal ---

async function afterProposal({ catalog, changes, heldSkills }: Given, id: string): Promise<readonly Finding[]> {
  const { kind, skillId, path, state } = await changes.proposals.get(id);
  if (kind === 'delete' || state !== 'open') return [];
  const skill = kind === 'create' ? undefined : skillNamed(catalog.snapshot(), skillId);
  const name = nameOf(path);
  const others = skill ? (await heldSkills.filesOf(skill)).filter((file) => file.path !== name) : [];
  const bytes = await textAfter(changes, id);
  const changed = bytes === undefined ? [] : [{ path: name, bytes }];
  return heldSkills.blocksIn(skill, [...changed, ...others]);
}

/** Undefined for the removal of a file, and where `approve` throws the reason. */
async function textAfter({ proposals }: Given['changes'], id: string): Promise<Buffer | undefined> {
  try {
    return await proposals.textAfter(id);
  } catch (error) {
    if (isCodedError(error)) return undefined;
    throw error;
  }
}

async function afterRollback(
  { catalog, changes, heldSkills }: Given,
  { skillId, revision }: Extract<ChangeToApprove, { readonly revision: string | number }>,
): Promise<readonly Finding[]> {
  const { files } = await changes.history.revision(skillId, revision);
  const read: InspectedFile[] = [];
  for (const { path, kept, mode } of files) {
    if (!kept) continue;
    const bytes = await changes.history.read(skillId, revision, path);
    read.push({ path: nameOf(path), bytes, executable: (mode & 0o111) !== 0 });
  }
  return heldSkills.blocksIn(skillNamed(catalog.snapshot(), skillId), read);
}

/** As an inspection names it. */
function nameOf(path: string): string {
  return path.toLowerCase() === 'skill.md' ? 'SKILL.md' : path;
}

function findingKey({ rule, excerpt }: Finding): string {
  return JSON.stringify([rule, excerpt]);
}
