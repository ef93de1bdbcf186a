import type { SkillRegistry, SkillRegistryAdmin } from '../../../core/api.ts';
import type { Core, Feature } from '../../../core/feature.ts';
import { openRegistry } from '../../../core/registry.ts';
import type { ReviewPages } from '../../../core/review.ts';
import { invalidArgument, skillNotFound } from '../../../core/skill/errors.ts';
import { guard } from '../../guard/door.ts';
import { historyPages } from '../../history/pages.ts';
import type { ChangeToApprove, History, InspectedChange, Revision } from '../../history/types.ts';
import type { IncomingFile } from '../../install/opened-origin.ts';
import { whyPlanAlone } from '../../proposals/decide/decide.ts';
import { proposalPages } from '../../proposals/pages/index.ts';
import { isWaiting } from '../../proposals/propose/describe.ts';
import type { HubRevision } from '../store/hub-store.ts';
import { filesAfter, planOf, proposalNamed } from '../team/decide.ts';
import * as publishing from '../team/publish.ts';
import { knownSkill, presentSkill, type Team } from '../team/team.ts';
import { assertOther, assertSeen, filesToInspect } from '../team/who-may-decide.ts';
import { proposalsOf } from './shown-proposals.ts';
import { spaceSource } from './space-source.ts';

/**
 * A registry of the core and the guard whose skills, history and proposals are in the store, with what people have
 * allowed; nothing of it is kept in a folder.
 */
export async function openSpace(team: Team): Promise<SkillRegistry> {
  const feature: Feature = { id: 'space', open: (core) => openedSpace(core, team) };
  const config = { sources: [], watch: { mode: 'off' as const } };
  const registry = await openRegistry({ root: team.root, cache: 'memory', config }, [guard, feature]);
  void registry.admin.prepareSearch().catch(() => undefined);
  return registry;
}

// --- internal ---

function openedSpace(core: Core, team: Team): ReturnType<NonNullable<Feature['open']>> {
  const { space, store } = team;
  core.catalog.addSource(spaceSource(store, space));
  const settled = () => core.catalog.refresh();
  return {
    registry: { proposals: proposalsOf(team, settled), history: historyOf(team, settled) },
    admin: adminOf(core, team),
    reviewPages: async () => PAGES,
  };
}

/** Those of two features, which have nothing of the same name. */
const PAGES: ReviewPages = {
  ...historyPages,
  ...proposalPages,
  get: { ...historyPages.get, ...proposalPages.get },
  post: { ...historyPages.post, ...proposalPages.post },
};

function adminOf(core: Core, team: Team): Partial<SkillRegistryAdmin> {
  const { heldSkills } = core.of(guard);
  const skillOf = (id: string) => core.catalog.snapshot().byId.get(id.replace(/^.*:/, ''));
  const blockFindingsAfter = async (change: ChangeToApprove): Promise<InspectedChange> => {
    const { skillId, files } = await filesAfterChange(team, change);
    if (!files) return { blocks: [], digest: null };
    const read = filesToInspect(files);
    const { reaches } = await heldSkills.inspectAfter(skillOf(skillId), read);
    // Each decision looks anew at what looks like an attack, also where it was allowed before.
    return { ...(await heldSkills.inspectAfter(undefined, read)), reaches };
  };
  return {
    blockFindingsAfter,
    /** The store has it with the decision. */
    allowShown: async () => null,
    async plainChange(proposalId) {
      const row = await proposalNamed(team, proposalId);
      const present = await presentSkill(team, row.skill_id);
      const plan = planOf(team, row, present);
      const files = present?.files.map(({ path }) => path);
      const why = () => whyPlanAlone(row, 'stale' in plan ? undefined : plan, files);
      const alone = isWaiting(row) ? await why() : 'it is decided';
      if (alone !== null) return { alone };
      const { blocks, digest, reaches = '' } = await blockFindingsAfter({ proposalId });
      if (digest === null || blocks.length > 0) return { alone: 'an inspection finds something in it' };
      return reaches === '' ? { digest } : { alone: reaches };
    },
    async decideTrust(action, skillId, { by, reason, digest }) {
      const { entry, files } = await knownSkill(team, skillOf(skillId)?.id ?? skillId);
      const { id, revision } = entry;
      const { persons } = await publishing.revisionNamed(team, id, revision);
      if (action === 'allow') assertOther(team, by, persons);
      const found = await heldSkills.inspectAfter(undefined, filesToInspect(files));
      if (found.blocks.length === 0)
        throw invalidArgument(`Nothing in "${id}" holds it, so there is nothing to decide.`);
      const inspected = action === 'allow' ? (digest ?? found.digest) : undefined;
      if (inspected !== undefined) await assertSeen(id, { inspected }, files);
      const details = JSON.stringify({ digest: found.digest, reason });
      await team.store.noteAudit({ by, space: team.space, what: `${action} findings`, subject: id, details });
      await publishing.renewAllowed(team, id, { by, reason, inspected });
      await core.catalog.refresh();
      const skill = skillOf(id);
      if (skill) return heldSkills.trustOf(skill);
      throw skillNotFound(id);
    },
    setDisabled: async () => {
      throw invalidArgument('A skill is disabled on the machine whose agents are not to have it, and not at the hub.');
    },
  };
}

/** Without files: it does not apply, or removes the skill. */
async function filesAfterChange(
  team: Team,
  change: ChangeToApprove,
): Promise<{ readonly skillId: string; readonly files?: readonly IncomingFile[] | undefined }> {
  if ('proposalId' in change) {
    const row = await proposalNamed(team, change.proposalId);
    const present = await presentSkill(team, row.skill_id);
    const files = row.kind === 'delete' ? undefined : filesAfter(row, present, planOf(team, row, present));
    return { skillId: row.skill_id, files };
  }
  const skillId = 'restoredId' in change ? change.restoredId : change.skillId;
  const wanted = 'restoredId' in change ? await publishing.lastContent(team, skillId) : change.revision;
  const revision = await publishing.revisionNamed(team, skillId, wanted);
  return { skillId, files: await publishing.filesOfRevision(team, skillId, revision) };
}

const KINDS: Readonly<Record<HubRevision['kind'], Revision['kind']>> = {
  published: 'updated',
  proposal: 'proposal',
  rollback: 'rollback',
  removed: 'removed',
  restored: 'restored',
};

function historyOf(team: Team, settled: () => Promise<unknown>): History {
  const { store, space } = team;
  const shown = (skillId: string, { kind, digest, persons: _, type: _type, ...rest }: HubRevision): Revision => {
    return { ...rest, skillId, kind: KINDS[kind], digest: digest ?? '', files: [] };
  };
  const filesAt = async (skillId: string, revision: number | string) =>
    publishing.filesOfRevision(team, skillId, await publishing.revisionNamed(team, skillId, revision));
  const made = async (skillId: string, work: Promise<HubRevision>): Promise<Revision> => {
    const revision = await work;
    await settled();
    return shown(skillId, revision);
  };
  return {
    async revisions(skillId) {
      const all = await store.revisions(space, skillId);
      if (all.length === 0) await knownSkill(team, skillId);
      return all.map((one) => shown(skillId, one));
    },
    revision: async (skillId, revision) => shown(skillId, await publishing.revisionNamed(team, skillId, revision)),
    async read(skillId, revision, path = 'SKILL.md') {
      const found = (await filesAt(skillId, revision)).find((file) => file.path === path);
      if (found) return found.bytes;
      throw invalidArgument(`Revision ${revision} of "${skillId}" has no file ${JSON.stringify(path)}.`);
    },
    diff: async (skillId, a, b) => publishing.diffOfFiles(await filesAt(skillId, a), await filesAt(skillId, b)),
    rollback: (skillId, revision, actor) => made(skillId, publishing.rollback(team, skillId, Number(revision), actor)),
    restore: (skillId, actor) => made(skillId, publishing.restore(team, skillId, actor)),
  };
}
