import { isCodedError } from 'skill-registry/kernel';
import type { SkillRegistry, SkillRegistryAdmin } from '../../../core/api.ts';
import { DEFAULT_LIMITS } from '../../../core/config/config-keys.ts';
import type { Core, Feature } from '../../../core/feature.ts';
import { openRegistry } from '../../../core/registry.ts';
import type { ReviewPages } from '../../../core/review.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { guard } from '../../guard/door.ts';
import type { HeldSkills } from '../../guard/held-skills.ts';
import { inspectFiles } from '../../guard/inspect-files.ts';
import { historyPages } from '../../history/pages.ts';
import type { Actor, ChangeToApprove, History, InspectedChange, Revision } from '../../history/types.ts';
import type { IncomingFile } from '../../install/opened-origin.ts';
import { whyPlanAlone } from '../../proposals/decide/plain-change.ts';
import { proposalPages } from '../../proposals/pages/index.ts';
import { isWaiting } from '../../proposals/propose/describe.ts';
import type { HubRevision, HubStore } from '../store/hub-store.ts';
import { filesAfter, planOf, proposalNamed } from '../team/decide.ts';
import * as publishing from '../team/publish.ts';
import { assertOther, filesToInspect, knownSkill, presentSkill, type Team } from '../team/team.ts';
import { proposalsOf } from './shown-proposals.ts';
import { spaceSource } from './space-source.ts';

export interface Space {
  readonly team: Team;
  /** Its catalog, search, history and proposals are those of the store. */
  readonly registry: SkillRegistry;
  readonly allow: AllowSeen;
}

/**
 * Lets in at the hub what was found in a content and named in the decision about it. The decision was made by a person
 * who may: it compared who has a part in it. @returns why the skill is held still, if it is.
 */
type AllowSeen = (skillId: string | undefined, digest: string | null, actor: Actor) => Promise<string | null>;

export interface SpaceOptions {
  readonly space: string;
  readonly store: HubStore;
  readonly fourEyes: boolean;
  readonly root: string;
}

/** A registry of the core and the guard whose skills are in the store; nothing of it is kept in a folder. */
export async function openSpace(options: SpaceOptions): Promise<Space> {
  let opened: Omit<Space, 'registry'> | undefined;
  const feature: Feature = {
    id: 'space',
    open(core) {
      const [team, allow] = [teamOf(options, core), allowIn(core)];
      opened = { team, allow };
      return openedSpace(core, team, allow);
    },
  };
  const config = { sources: [], watch: { mode: 'off' as const } };
  const registry = await openRegistry({ root: options.root, cache: 'memory', config }, [guard, feature]);
  void registry.admin.prepareSearch().catch(() => undefined);
  return { registry, ...(opened as Omit<Space, 'registry'>) };
}

/**
 * The team without its registry, which takes minutes to open with 50,000 skills: a decision waits for that only when an
 * inspection finds something, because a person may have allowed it.
 */
export function teamBefore({ space, store, fourEyes, root }: SpaceOptions, opened: () => Promise<Space>): Team {
  return {
    space,
    store,
    fourEyes,
    root,
    limits: DEFAULT_LIMITS,
    async inspect(skillId, files) {
      const { digest, inspection } = await inspectFiles(() => filesToInspect(files));
      const isClean = inspection.findings.every(({ level }) => level !== 'block');
      return isClean ? { blocks: [], digest } : (await opened()).team.inspect(skillId, files);
    },
  };
}

// --- internal ---

function teamOf({ space, store, fourEyes, root }: SpaceOptions, core: Core): Team {
  const { heldSkills } = core.of(guard);
  const inspect = (skillId: string, files: readonly IncomingFile[]): Promise<InspectedChange> =>
    heldSkills.inspectAfter(core.catalog.snapshot().byId.get(skillId), filesToInspect(files));
  return { space, store, fourEyes, root, limits: core.config.limits, inspect };
}

function allowIn(core: Core): AllowSeen {
  return async (skillId, digest, { by, reason }) => {
    if (!skillId || !digest) return null;
    await core.catalog.refresh();
    const skill = core.catalog.snapshot().byId.get(skillId);
    if (!skill) return null;
    try {
      return (await core.of(guard).heldSkills.decide('allow', skill, { by, reason, digest })).heldBecause;
    } catch (error) {
      if (isCodedError(error, 'INVALID_ARGUMENT')) return null;
      throw error;
    } finally {
      await core.catalog.refresh();
    }
  };
}

function openedSpace(core: Core, team: Team, allow: AllowSeen): ReturnType<NonNullable<Feature['open']>> {
  const { space, store } = team;
  const { heldSkills } = core.of(guard);
  core.catalog.addSource(spaceSource(store, space));
  const settled = () => core.catalog.refresh();
  let again: NodeJS.Timeout | undefined;
  const follow = async (): Promise<void> => {
    clearTimeout(again);
    const { problems } = await settled();
    // The database was away: nothing tells of the changes that were not read.
    if (problems.some(({ code }) => code === 'SOURCE_FAILED')) again = setTimeout(followed, AGAIN_MS).unref();
  };
  const followed = (): void => void follow().catch(() => undefined);
  const stop = store.onChange((changed) => {
    if (changed === space) followed();
  });
  return {
    registry: { proposals: proposalsOf(team, settled), history: historyOf(team, settled) },
    admin: adminOf(core, team, heldSkills, allow),
    reviewPages: async () => PAGES,
    close() {
      clearTimeout(again);
      stop();
    },
  };
}

const AGAIN_MS = 1000;

/** Those of two features, which have nothing of the same name. */
const PAGES: ReviewPages = {
  ...historyPages,
  ...proposalPages,
  get: { ...historyPages.get, ...proposalPages.get },
  post: { ...historyPages.post, ...proposalPages.post },
};

function adminOf(core: Core, team: Team, heldSkills: HeldSkills, allow: AllowSeen): Partial<SkillRegistryAdmin> {
  const after = async (change: ChangeToApprove): Promise<{ skillId: string; files?: readonly IncomingFile[] }> => {
    if ('proposalId' in change) {
      const row = await proposalNamed(team, change.proposalId);
      const present = await presentSkill(team, row.skill_id);
      const files = filesAfter(row, present, planOf(team, row, present));
      return { skillId: row.skill_id, ...(files && row.kind !== 'delete' && { files }) };
    }
    const skillId = 'restoredId' in change ? change.restoredId : change.skillId;
    const wanted = 'restoredId' in change ? await publishing.lastContent(team, skillId) : change.revision;
    const revision = await publishing.revisionNamed(team, skillId, wanted);
    return { skillId, files: await publishing.filesOfRevision(team, skillId, revision) };
  };
  const blockFindingsAfter = async (change: ChangeToApprove): Promise<InspectedChange> => {
    const { skillId, files } = await after(change);
    return files ? team.inspect(skillId, files) : { blocks: [], digest: null };
  };
  return {
    blockFindingsAfter,
    async allowShown(change, { blocks, digest }, actor) {
      if (blocks.length === 0) return null;
      return allow((await after(change).catch(() => undefined))?.skillId, digest, actor);
    },
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
    async decideTrust(action, skillId, decision) {
      const skill = core.catalog.snapshot().byId.get(skillId.replace(/^.*:/, ''));
      const { entry } = await knownSkill(team, skill?.id ?? skillId);
      const { persons } = await publishing.revisionNamed(team, entry.id, entry.revision);
      if (action === 'allow') assertOther(team, decision.by, persons);
      const { by, reason } = decision;
      const details = JSON.stringify({ digest: decision.digest, reason });
      await team.store.noteAudit({ by, space: team.space, what: `${action} findings`, subject: entry.id, details });
      const decided = await heldSkills.decide(action, skill as NonNullable<typeof skill>, decision);
      await publishing.renewAllowed(team, entry.id, { by, reason }, action === 'allow');
      await core.catalog.refresh();
      return decided;
    },
    setDisabled: async () => {
      throw invalidArgument('A skill is disabled on the machine whose agents are not to have it, and not at the hub.');
    },
  };
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
