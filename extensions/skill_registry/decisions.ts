import { CodedError, isCodedError } from 'skill-registry/kernel';
import { assertDataInRoot } from '../../kernel/host.ts';
import { type Schema, schema } from '../../lib/arguments/index.ts';
import { nearestIds } from '../../lib/text/index.ts';
import { openTrust } from '../../lib/trust/index.ts';
import type { SkillRegistryAdmin, WaitingForPerson } from './api.ts';
import { type CheckedCalls, ofTurn, revision, text, words } from './checked-calls.ts';
import { skillNamed } from './core/catalog/snapshot.ts';
import { skillNotFound } from './core/skill/errors.ts';
import type { Skill } from './core/skill/skill.ts';
import type {
  ChangeToApprove,
  Finding,
  FindingLevel,
  InspectedChange,
  SkillTrust,
  TrustDecision,
} from './features/guard/types.ts';
import { actor, by, storedText } from './features/history/arguments.ts';
import type { Proposal } from './features/proposals/propose/types.ts';
import { assertOpen, type Parts } from './parts.ts';

export function decisionFunctions(
  parts: Parts,
  { later }: CheckedCalls,
): Pick<
  SkillRegistryAdmin,
  | 'trustOf'
  | 'decideTrust'
  | 'blockFindingsAfter'
  | 'allowShown'
  | 'whoSees'
  | 'setDisabled'
  | 'waiting'
  | 'waitingProposals'
  | 'inspectSkills'
> {
  const { catalog, changes, heldSkills, waiting } = parts;
  return {
    trustOf: later('admin.trustOf(skillId)', [text], (skillId) => heldSkills.trustOf(knownSkill(parts, skillId))),
    decideTrust: later(
      'admin.decideTrust(action, skillId, decision)',
      [action, text, trustDecision],
      async (action, skillId, decision) => {
        const decided = await heldSkills.decide(action, knownSkill(parts, skillId), decision);
        await catalog.refresh();
        return decided;
      },
    ),
    blockFindingsAfter: later('admin.blockFindingsAfter(change)', [change], (change) => inspectAfter(parts, change)),
    allowShown: later('admin.allowShown(change, shown, actor)', [change, inspectedChange, actor], (...given) =>
      allowShown(parts, ...given),
    ),
    whoSees: later('admin.whoSees(agents)', [turns], async (agents) => {
      const { whoSees } = await import('./core/show/who-sees.ts');
      return whoSees(catalog.snapshot(), agents);
    }),
    setDisabled: later('admin.setDisabled(disabling, isDisabled, actor)', [disabledSkill, flag, actor], (...given) =>
      setDisabled(parts, ...given),
    ),
    async waiting() {
      assertOpen(parts);
      return waitingFor(parts);
    },
    async waitingProposals() {
      assertOpen(parts);
      return waiting ? waiting.waitingProposals() : changes.waitingProposals();
    },
    async inspectSkills() {
      assertOpen(parts);
      while (await heldSkills.checkAll([...catalog.snapshot().byQualifiedId.values()], parts.closing.signal))
        await catalog.refresh();
    },
  };
}

/** For a decision by anyone but a person. @returns `inspected`. @throws BLOCK_NOT_CONFIRMED when it would be held. */
export async function inspectedWithoutAttack(parts: Parts, change: ChangeToApprove): Promise<string | null> {
  const { blocks, digest } = await inspectAfter(parts, change, false);
  if (blocks.length === 0) return digest;
  const message = `A person would call this an attack (${blocks.map(({ rule }) => rule).join(', ')}), so only a person can approve it. Nothing was changed. Tell the user.`;
  throw new CodedError('BLOCK_NOT_CONFIRMED', message, { ...change });
}

// --- internal ---

const action = schema((z) => z.enum(['allow', 'revoke']));
const trustDecision: Schema<TrustDecision> = schema((z) =>
  z.object({ by: by(), reason: storedText().optional(), digest: words() }),
);
const change: Schema<ChangeToApprove> = schema((z) =>
  z.union(
    [
      z.object({ proposalId: z.string() }),
      z.object({ skillId: z.string(), revision: revision() }),
      z.object({ restoredId: z.string() }),
    ],
    { error: 'a proposal, a revision or a removed skill' },
  ),
);
const finding = schema((z) => z.custom<Finding>((value) => value instanceof Object, 'an object'));
const inspectedChange: Schema<InspectedChange> = schema((z) =>
  z.object({ blocks: z.array(finding()), digest: z.string().nullable() }),
);
const turns = schema((z) => z.array(ofTurn()));
const disabledSkill = schema((z) => z.object({ skill: z.string(), agent: words() }));
const flag = schema((z) => z.boolean());

/** @throws SKILL_NOT_FOUND, REGISTRY_CLOSED. */
function knownSkill(parts: Parts, skillId: string): Skill {
  assertOpen(parts);
  const snapshot = parts.catalog.snapshot();
  const skill = skillNamed(snapshot, skillId);
  if (skill) return skill;
  throw skillNotFound(skillId, nearestIds(snapshot.byId.keys(), skillId));
}

async function setDisabled(
  parts: Parts,
  ...[disabling, isDisabled, actor]: Parameters<SkillRegistryAdmin['setDisabled']>
): ReturnType<SkillRegistryAdmin['setDisabled']> {
  const { catalog, disabled, root } = parts;
  const { skill, agent = null } = disabling;
  const isListed = disabled.now.some((one) => (typeof one === 'string' ? one : one.skill) === skill);
  // A removed skill can still be enabled.
  if (isDisabled || !isListed) knownSkill(parts, skill);
  assertOpen(parts);
  if (!parts.trusted) assertDataInRoot(root, 'data/skill_registry/config.yaml');
  const config = await import('./core/config/set-disabled.ts');
  const done = config.setDisabled(root, disabling, isDisabled);
  disabled.now = config.disabledAfter(disabled.now, disabling, isDisabled);
  await catalog.refresh();
  const action = isDisabled ? 'revoke' : 'allow';
  if (done.changed) openTrust().decide({ kind: 'switch', path: root, skill, agent, action, ...actor });
  return done;
}

/** @param mayBeAllowed - False: also what a person has allowed, because the same words may now run something else. */
async function inspectAfter(
  parts: Parts,
  change: ChangeToApprove,
  mayBeAllowed: boolean = true,
): Promise<InspectedChange> {
  assertOpen(parts);
  const after = await parts.changes.run(({ proposals, history }) => {
    if ('proposalId' in change) return proposals.filesAfter(change.proposalId);
    // Asked again, even if somebody allowed it before the removal.
    if ('restoredId' in change) return history.filesToRestore(change.restoredId);
    return history.filesOfRevision(change.skillId, change.revision);
  });
  if (!after) return { blocks: [], digest: null };
  const { blocks, digest } = await parts.heldSkills.inspectAfter(mayBeAllowed ? after.skill : undefined, after.files());
  return { blocks, digest: blocks.length === 0 && after.change !== undefined ? after.change : digest };
}

/** @returns why the skill is held; null when it is not. */
async function allowShown(
  parts: Parts,
  ...[change, { blocks, digest }, { by, reason }]: Parameters<SkillRegistryAdmin['allowShown']>
): Promise<string | null> {
  assertOpen(parts);
  const { catalog, changes, heldSkills } = parts;
  const skill = await changes.run(({ proposals, history }) => {
    if ('proposalId' in change) return proposals.skillOf(change.proposalId);
    if ('restoredId' in change) return history.restoredSkill(change.restoredId);
    return skillNamed(catalog.snapshot(), change.skillId);
  });
  if (!skill) return null;
  const { heldBecause } = await heldSkills.trustOf(skill);
  if (heldBecause === null || !by.startsWith('person:') || blocks.length === 0 || digest === null) return heldBecause;
  try {
    return (await heldSkills.decide('allow', skill, { by, reason, digest })).heldBecause;
  } catch (error) {
    // Its files are others than those that were shown.
    if (isCodedError(error, 'INVALID_ARGUMENT')) return heldBecause;
    throw error;
  } finally {
    await catalog.refresh();
  }
}

async function waitingFor({ catalog, changes, heldSkills }: Parts): Promise<WaitingForPerson> {
  const held: SkillTrust[] = [];
  for (const skill of catalog.snapshot().byQualifiedId.values()) {
    if (skill.heldBecause === undefined) continue;
    const trust = await heldSkills.trustOf(skill).catch((error: unknown) => {
      // It was removed meanwhile.
      if (!isCodedError(error, 'SKILL_NOT_FOUND') && !isCodedError(error, 'RESOURCE_NOT_FOUND')) throw error;
    });
    if (trust && trust.heldBecause !== null) held.push(trust);
  }
  // A damaged history does not hide what else waits.
  let unreadable: string | null = null;
  const waiting = await changes
    .run(({ proposals }) => proposals.list())
    .catch((error: unknown) => {
      if (!isCodedError(error)) throw error;
      unreadable = error.message;
      return [];
    });
  return {
    proposals: [...waiting].sort((one, other) => compare(riskOf(one), riskOf(other))),
    unreadable,
    held: held.sort((one, other) => compare(countsOf(one.findings), countsOf(other.findings))),
  };
}

/** Least risky first: adding or removing a whole skill counts more than a change of its words. */
const KINDS: readonly Proposal['kind'][] = ['update', 'create', 'delete'];

/** The first different number decides. Of equal ones the oldest comes first. */
function riskOf({ checks, kind, created }: Proposal): readonly number[] {
  return [...countsOf(checks), KINDS.indexOf(kind), -Date.parse(created)];
}

function countsOf(found: readonly { readonly level: FindingLevel }[]): readonly number[] {
  return (['block', 'warn'] as const).map((level) => found.filter((one) => one.level === level).length);
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at === -1 ? 0 : (other[at] ?? 0) - (one[at] ?? 0);
}
