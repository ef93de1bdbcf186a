import { relative, resolve } from 'node:path';
import { assertDataInRoot } from '../../kernel/host.ts';
import { futureRealPath } from '../../lib/files/index.ts';
import { countTokens, nearestIds } from '../../lib/text/index.ts';
import { openTrust } from '../../lib/trust/index.ts';
import type { SkillRegistry, SkillRegistryAdmin } from './api.ts';
import type { Watching } from './background-work.ts';
import { skillNamed } from './catalog/snapshot.ts';
import { writePolicyOf } from './history/write-policy.ts';
import { assertOpen, type Parts } from './parts.ts';
import { readPoliciesOf } from './read/read-policy.ts';
import type { RoleResolver } from './read/roles.ts';
import { namedTools } from './show/formats.ts';
import { skillNotFound } from './skill/errors.ts';
import type { Skill } from './skill/skill.ts';
import type { Workflows } from './workflow/types.ts';

/** Makes `registry.admin`. */
export function createAdmin(
  parts: Parts,
  workflows: Workflows,
  { context, read }: Pick<SkillRegistry, 'context' | 'read'>,
  { watchMode }: Pick<Watching, 'watchMode'>,
): SkillRegistryAdmin {
  const { changes, config, instance, usage } = parts;
  return {
    ...{ instanceId: instance, workflows, watchMode },
    ...readingFor(parts, read),
    ...decisionsFor(parts),
    ...searchFor(parts),
    ...changes.evaluation,
    management: changes.management,
    async prepareMessage(...given) {
      const { prepareMessage } = await import('./read/prepare-message.ts');
      return prepareMessage(parts, ...given);
    },
    recordOffers: (skillIds, turn = {}) => usage.recorder.offered(skillIds, turn),
    async contextCost() {
      const text = await context('', { preview: true });
      const { enforcementOf } = await import('./show/system-text.ts');
      const emphasis = enforcementOf(namedTools(config.tools));
      const enforcement = emphasis !== undefined && text?.includes(emphasis) ? await countTokens(emphasis) : 0;
      return { tokens: text === null ? 0 : await countTokens(text), enforcement };
    },
    async tokenCounts({ bodies = true, atMost = Number.POSITIVE_INFINITY } = {}) {
      assertOpen(parts);
      return parts.tokens.count(parts.catalog.snapshot(), { bodies, atMost });
    },
  };
}

// --- internal ---

type Member<Name extends keyof SkillRegistryAdmin> = Pick<SkillRegistryAdmin, Name>;

/** @throws SKILL_NOT_FOUND, REGISTRY_CLOSED. */
function knownSkill(parts: Parts, skillId: string): Skill {
  assertOpen(parts);
  const snapshot = parts.catalog.snapshot();
  const skill = skillNamed(snapshot, skillId);
  if (skill) return skill;
  throw skillNotFound(skillId, nearestIds(snapshot.byId.keys(), skillId));
}

function readingFor(
  parts: Parts,
  read: SkillRegistry['read'],
): Member<
  | 'readBytes'
  | 'resources'
  | 'leftOutCount'
  | 'hiddenTextProblems'
  | 'resolveRolePrompt'
  | 'readPolicies'
  | 'mayGivePlainFile'
  | 'writePolicy'
> {
  const { catalog, config, grants, heldSkills, reading, root } = parts;
  const snapshot = () => catalog.snapshot();
  let roles: RoleResolver | undefined;
  return {
    readBytes: (...given) => reading.readBytes(...given),
    resources: (...given) => reading.resources(...given),
    leftOutCount: (skillId) => reading.leftOutCount(skillId),
    async hiddenTextProblems() {
      assertOpen(parts);
      const { hiddenTextOf } = await import('./read/hidden-text.ts');
      return hiddenTextOf(snapshot(), reading);
    },
    async resolveRolePrompt(role, { templates = 'templates/roles', variables = {} } = {}) {
      assertOpen(parts);
      const { createRoleResolver } = await import('./read/roles.ts');
      roles ??= createRoleResolver({ read, config, snapshot });
      return roles.resolve(role, futureRealPath(resolve(root, templates)), variables);
    },
    readPolicies: (paths, turn) =>
      readPoliciesOf(paths, turn, {
        snapshot,
        granted: grants.of,
        sources: () => catalog.sources(),
        refresh: () => catalog.refresh(),
      }),
    async mayGivePlainFile(path, bytes) {
      const source = catalog.sources().find((one) => one.contains(path));
      if (!source) return true;
      const findings = await heldSkills.blocksIn(undefined, [{ path: relative(source.location, path), bytes }]);
      return findings.length === 0;
    },
    writePolicy: (path) => writePolicyOf(path, snapshot(), catalog.sources(), config.writes),
  };
}

/** What a person decides about skills, and what waits for a decision. */
function decisionsFor(
  parts: Parts,
): Member<
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
  const trustOf = (skillId: string) => heldSkills.trustOf(knownSkill(parts, skillId));
  return {
    trustOf,
    async decideTrust(action, skillId, decision) {
      const decided = await heldSkills.decide(action, knownSkill(parts, skillId), decision);
      await catalog.refresh();
      return decided;
    },
    async blockFindingsAfter(change) {
      assertOpen(parts);
      return (await import('./block-findings-after.ts')).blockFindingsAfter(parts, change);
    },
    async allowShown(skillId, shown, actor) {
      assertOpen(parts);
      return (await import('./block-findings-after.ts')).allowShown(parts, skillId, shown, actor);
    },
    async whoSees(agents) {
      const { whoSees } = await import('./show/who-sees.ts');
      return whoSees(catalog.snapshot(), agents);
    },
    setDisabled: (disabling, isDisabled, actor) => setDisabled(parts, disabling, isDisabled, actor),
    async waiting() {
      assertOpen(parts);
      const { waitingFor } = await import('./waiting-for-person.ts');
      return waitingFor({ proposals: changes.proposals, snapshot: () => catalog.snapshot(), trustOf });
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

async function setDisabled(
  parts: Parts,
  ...[disabling, isDisabled, actor]: Parameters<SkillRegistryAdmin['setDisabled']>
): ReturnType<SkillRegistryAdmin['setDisabled']> {
  const { catalog, disabled, root } = parts;
  const { skill, agent = null } = disabling;
  const isListed = disabled.now.some((one) => (typeof one === 'string' ? one : one.skill) === skill);
  // A skill that was removed can still be enabled.
  if (isDisabled || !isListed) knownSkill(parts, skill);
  assertOpen(parts);
  if (!parts.trusted) assertDataInRoot(root, 'data/skill_registry/config.yaml');
  const config = await import('./config/set-disabled.ts');
  const done = config.setDisabled(root, disabling, isDisabled);
  disabled.now = config.disabledAfter(disabled.now, disabling, isDisabled);
  await catalog.refresh();
  const action = isDisabled ? 'revoke' : 'allow';
  if (done.changed) openTrust().decide({ kind: 'switch', path: root, skill, agent, action, ...actor });
  return done;
}

function searchFor(parts: Parts): Member<'overlap' | 'prepareSearch' | 'embedSkills'> {
  const { catalog, closing, meaning, overlap, searcher, visible } = parts;
  return {
    overlap: overlap.overlap,
    async prepareSearch(query = '') {
      assertOpen(parts);
      await Promise.all([searcher.prepare(visible({})), meaning?.ready(query)]);
    },
    async embedSkills() {
      assertOpen(parts);
      const { skills } = catalog.snapshot();
      await meaning?.embed(skills, closing.signal);
      return { embedded: meaning?.embedded(skills) ?? 0, total: skills.length };
    },
  };
}
