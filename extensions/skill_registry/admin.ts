import { resolve } from 'node:path';
import { futureRealPath } from '../../lib/files/index.ts';
import { countTokens } from '../../lib/text/index.ts';
import type { SkillRegistry, SkillRegistryAdmin } from './api.ts';
import { writePolicyOf } from './history/write-policy.ts';
import { assertOpen, type Parts } from './parts.ts';
import { readPoliciesOf } from './read/read-policy.ts';
import type { RoleResolver } from './read/roles.ts';
import { namedTools } from './show/formats.ts';
import type { Watching } from './watching.ts';

/** Makes `registry.admin`. */
export function createAdmin(
  parts: Parts,
  { context, read }: Pick<SkillRegistry, 'context' | 'read'>,
  { watching }: Pick<Watching, 'watching'>,
): SkillRegistryAdmin {
  const { catalog, changes, config, grants, meaning, overlap, reading, root, searcher, tokens, visible } = parts;
  const snapshot = () => catalog.snapshot();
  let roles: RoleResolver | undefined;
  return {
    readBytes: reading.readBytes,
    resources: reading.resources,
    leftOut: reading.leftOut,
    async hiddenText() {
      assertOpen(parts);
      const { hiddenTextOf } = await import('./read/hidden-text.ts');
      return hiddenTextOf(snapshot(), reading);
    },
    overlap: overlap.overlap,
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
      const text = await context('');
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
      roles ??= createRoleResolver({ read, config, snapshot });
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
