import { resolve } from 'node:path';
import { assertDataInRoot } from '../../kernel/host.ts';
import { futureRealPath } from '../../lib/files/index.ts';
import { countTokens, nearestIds } from '../../lib/text/index.ts';
import { openTrust } from '../../lib/trust/index.ts';
import type { SkillRegistry, SkillRegistryAdmin } from './api.ts';
import { skillNamed } from './catalog/snapshot.ts';
import { writePolicyOf } from './history/write-policy.ts';
import { assertOpen, type Parts } from './parts.ts';
import { readPoliciesOf } from './read/read-policy.ts';
import type { RoleResolver } from './read/roles.ts';
import { namedTools } from './show/formats.ts';
import { skillNotFound } from './skill/errors.ts';
import type { Skill } from './skill/skill.ts';
import type { Watching } from './watching.ts';
import type { Workflows } from './workflow/types.ts';

/** Makes `registry.admin`. */
export function createAdmin(
  parts: Parts,
  workflows: Workflows,
  { context, read }: Pick<SkillRegistry, 'context' | 'read'>,
  { watching }: Pick<Watching, 'watching'>,
): SkillRegistryAdmin {
  const { catalog, changes, config, grants, holds, meaning, overlap, reading, root, searcher, tokens, visible } = parts;
  const snapshot = () => catalog.snapshot();
  const known = (skillId: string): Skill => {
    assertOpen(parts);
    const skill = skillNamed(snapshot(), skillId);
    if (skill) return skill;
    throw skillNotFound(skillId, nearestIds(snapshot().byId.keys(), skillId));
  };
  let roles: RoleResolver | undefined;
  return {
    instance: parts.instance,
    readBytes: reading.readBytes,
    resources: reading.resources,
    leftOut: reading.leftOut,
    offered: (skillIds, turn = {}) => parts.usage.recorder.offered(skillIds, turn),
    async hiddenText() {
      assertOpen(parts);
      const { hiddenTextOf } = await import('./read/hidden-text.ts');
      return hiddenTextOf(snapshot(), reading);
    },
    overlap: overlap.overlap,
    workflows,
    trustOf: (skillId) => holds.trustOf(known(skillId)),
    async decideTrust(action, skillId, decision) {
      const decided = await holds.decide(action, known(skillId), decision);
      await catalog.refresh();
      return decided;
    },
    async blocksAfter(change) {
      assertOpen(parts);
      return (await import('./blocks-after.ts')).blocksAfter(parts, change);
    },
    async allowShown(skillId, shown, actor) {
      assertOpen(parts);
      return (await import('./blocks-after.ts')).allowShown(parts, skillId, shown, actor);
    },
    async whoSees(agents) {
      const { whoSees } = await import('./show/who-sees.ts');
      return whoSees(snapshot(), agents);
    },
    async setDisabled(disabling, isDisabled, actor) {
      const { skill, agent = null } = disabling;
      const isListed = parts.disabled.now.some((one) => (typeof one === 'string' ? one : one.skill) === skill);
      // A skill that was removed can still be enabled.
      if (isDisabled || !isListed) known(skill);
      assertOpen(parts);
      if (!parts.trusted) assertDataInRoot(root, 'data/skill_registry/config.yaml');
      const { nowDisabled, setDisabled } = await import('./config/set-disabled.ts');
      const done = setDisabled(root, disabling, isDisabled);
      parts.disabled.now = nowDisabled(parts.disabled.now, disabling, isDisabled);
      await catalog.refresh();
      const action = isDisabled ? 'revoke' : 'allow';
      if (done.changed) openTrust().decide({ kind: 'switch', path: root, skill, agent, action, ...actor });
      return done;
    },
    async waiting() {
      assertOpen(parts);
      const { waitingFor } = await import('./waiting.ts');
      const trustOf = (skillId: string) => holds.trustOf(known(skillId));
      return waitingFor({ proposals: changes.proposals, snapshot, trustOf });
    },
    async inspectSkills() {
      assertOpen(parts);
      while (await holds.checkAll([...snapshot().byQualifiedId.values()], parts.closing.signal))
        await catalog.refresh();
    },
    ...changes.evaluation,
    management: changes.management,
    watching,
    async searchReady(query = '') {
      assertOpen(parts);
      await Promise.all([searcher.prepare(visible({})), meaning?.ready(query)]);
    },
    async embedSkills() {
      assertOpen(parts);
      const { skills } = snapshot();
      await meaning?.embed(skills, parts.closing.signal);
      return { embedded: meaning?.embedded(skills) ?? 0, total: skills.length };
    },
    async contextCost() {
      const text = await context('', { preview: true });
      const { enforcementOf } = await import('./show/system-text.ts');
      const emphasis = enforcementOf(namedTools(config.tools));
      const enforcement = emphasis !== undefined && text?.includes(emphasis) ? await countTokens(emphasis) : 0;
      return { tokens: text === null ? 0 : await countTokens(text), enforcement };
    },
    async tokenCounts({ bodies = true, atMost = Number.POSITIVE_INFINITY } = {}) {
      assertOpen(parts);
      return tokens.count(snapshot(), { bodies, atMost });
    },
    async resolveRolePrompt(role, { templates = 'templates/roles', variables = {} } = {}) {
      assertOpen(parts);
      const { createRoleResolver } = await import('./read/roles.ts');
      const onGiven = (skill: Skill, count: number): void => parts.usage.recorder.given(skill, count, {});
      roles ??= createRoleResolver({ read, config, snapshot, onGiven });
      return roles.resolve(role, futureRealPath(resolve(root, templates)), variables);
    },
    readPolicies: (paths, turn) =>
      readPoliciesOf(paths, turn, {
        snapshot,
        granted: (of) => grants.of(of),
        sources: () => catalog.sources(),
        refresh: () => catalog.refresh(),
      }),
    writePolicy: (path) => writePolicyOf(path, snapshot(), catalog.sources(), config.writes),
  };
}
