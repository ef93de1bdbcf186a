import { relative, resolve } from 'node:path';
import type { TurnContext } from 'skill-registry/kernel';
import { schema } from '../../lib/arguments/index.ts';
import { futureRealPath } from '../../lib/files/index.ts';
import { countTokens } from '../../lib/text/index.ts';
import type { SkillRegistry, SkillRegistryAdmin } from './api.ts';
import { aFunction, type CheckedCalls, ofTurn, text, texts, turn, words } from './checked-calls.ts';
import { readPoliciesOf } from './core/read/read-policy.ts';
import { namedTools } from './core/show/formats.ts';
import { decisionFunctions } from './decisions.ts';
import { writePolicyOf } from './features/history/write-policy.ts';
import type { Workflows } from './features/packs/workflow/types.ts';
import { assertOpen, type Parts } from './parts.ts';

export function createAdmin(
  parts: Parts,
  call: CheckedCalls,
  given: Pick<SkillRegistry, 'context' | 'read'> & Pick<SkillRegistryAdmin, 'watchMode' | 'workflows'>,
): Omit<SkillRegistryAdmin, 'management' | 'evidence' | 'evaluate' | 'proposalEvidence'> {
  return {
    instanceId: parts.instance,
    watchMode: given.watchMode,
    workflows: workflowFunctions(given.workflows, call),
    ...readingFunctions(parts, call, given),
    ...decisionFunctions(parts, call),
    ...searchFunctions(parts, call),
  };
}

// --- internal ---

const readOptions = schema((z) => {
  const judge = aFunction<(bytes: Uint8Array) => boolean>()();
  const countsAsLoad = z.union([z.boolean(), judge], { error: 'true, false or a function' }).optional();
  const onHeld = aFunction<(because: string) => void>()().optional();
  return z.object({ path: words(), countsAsLoad, onHeld }).optional();
});
const bytes = schema((z) => z.instanceof(Uint8Array, { error: 'bytes' }));
const roleOptions = schema((z) =>
  z.object({ templates: words(), variables: z.object({}).catchall(z.unknown()).optional() }).optional(),
);
const countOptions = schema((z) => {
  const atMost = z.union([z.int(), z.literal(Number.POSITIVE_INFINITY)], { error: 'a number' }).optional();
  return z.strictObject({ bodies: z.boolean().optional(), atMost }).optional();
});

/** About the conversation itself: its workflow is not filled in. */
function workflowFunctions(
  { at, position, enter, leave, follow, hasEvents }: Workflows,
  { now }: CheckedCalls,
): Workflows {
  const checked = now('workflows.at(turn)', [ofTurn], (turn: TurnContext) => turn);
  return {
    at(turn) {
      const given = checked(turn);
      const found = at(given);
      return found === given ? ((turn as TurnContext | undefined) ?? found) : found;
    },
    position: now('workflows.position(turn)', [ofTurn], position),
    enter: now('workflows.enter(turn, pack, state)', [ofTurn, text, words], enter),
    leave: now('workflows.leave(turn)', [ofTurn], leave),
    follow: now('workflows.follow(turn, event)', [ofTurn, text], follow),
    hasEvents: now('workflows.hasEvents(turn)', [ofTurn], hasEvents),
  };
}

function readingFunctions(
  parts: Parts,
  { now, later }: CheckedCalls,
  { context, read }: Pick<SkillRegistry, 'context' | 'read'>,
) {
  const { catalog, config, grants, heldSkills, reading, root, usage } = parts;
  const snapshot = () => catalog.snapshot();
  return {
    readBytes: later('admin.readBytes(skillId, options, turn)', [text, readOptions, turn], (...given) =>
      reading.readBytes(...given),
    ),
    resources: now('admin.resources(skillId, turn)', [text, turn], (...given) => reading.resources(...given)),
    leftOutCount: now('admin.leftOutCount(skillId)', [text], (skillId) => reading.leftOutCount(skillId)),
    async hiddenTextProblems() {
      assertOpen(parts);
      const { hiddenTextOf } = await import('./features/validate/hidden-text.ts');
      return hiddenTextOf(snapshot(), reading);
    },
    resolveRolePrompt: later(
      'admin.resolveRolePrompt(role, options)',
      [text, roleOptions],
      async (role, { templates = 'templates/roles', variables = {} } = {}) => {
        assertOpen(parts);
        const { rolePrompt } = await import('./features/dialects/roles.ts');
        return rolePrompt({ read, config, snapshot }, role, futureRealPath(resolve(root, templates)), variables);
      },
    ),
    readPolicies: later('admin.readPolicies(paths, turn)', [texts, turn], (paths, turn = {}) =>
      readPoliciesOf(paths, turn, {
        snapshot,
        granted: grants.of,
        sources: () => catalog.sources(),
        refresh: () => catalog.refresh(),
      }),
    ),
    mayGivePlainFile: later('admin.mayGivePlainFile(path, bytes)', [text, bytes], async (path, bytes) => {
      const source = catalog.sources().find((one) => one.contains(path));
      if (!source) return true;
      const file = { path: relative(source.location, path), bytes };
      return (await heldSkills.inspectAfter(undefined, [file])).blocks.length === 0;
    }),
    writePolicy: now('admin.writePolicy(path)', [text], (path) =>
      writePolicyOf(path, snapshot(), catalog.sources(), config.writes),
    ),
    prepareMessage: later('admin.prepareMessage(skillId, args, turn)', [text, text, turn], (...given) =>
      reading.prepareMessage(...given),
    ),
    recordOffers: now('admin.recordOffers(skillIds, turn)', [texts, turn], (skillIds, turn = {}) =>
      usage.recorder.offered(skillIds, turn),
    ),
    async contextCost() {
      const text = await context('', { preview: true });
      const { enforcementOf } = await import('./core/show/turn-text.ts');
      const emphasis = enforcementOf(namedTools(config.tools));
      const enforcement = emphasis !== undefined && text?.includes(emphasis) ? await countTokens(emphasis) : 0;
      return { tokens: text === null ? 0 : await countTokens(text), enforcement };
    },
    tokenCounts: later(
      'admin.tokenCounts(options)',
      [countOptions],
      async ({ bodies = true, atMost = Number.POSITIVE_INFINITY } = {}) => {
        assertOpen(parts);
        return parts.tokens.count(snapshot(), { bodies, atMost });
      },
    ),
  } satisfies Partial<SkillRegistryAdmin>;
}

function searchFunctions(parts: Parts, { later }: CheckedCalls) {
  const { catalog, closing, meaning, overlap, searcher, visible } = parts;
  return {
    overlap: overlap.overlap,
    prepareSearch: later('admin.prepareSearch(query)', [words], async (query = '') => {
      assertOpen(parts);
      await Promise.all([searcher.prepare(visible({})), meaning?.ready(query)]);
    }),
    async embedSkills() {
      assertOpen(parts);
      const { skills } = catalog.snapshot();
      await meaning?.embed(skills, closing.signal);
      return { embedded: meaning?.embedded(skills) ?? 0, total: skills.length };
    },
  } satisfies Partial<SkillRegistryAdmin>;
}
