import { relative } from 'node:path';
import type { TurnContext } from 'skill-registry/kernel';
import { assertDataInRoot } from '../../../kernel/host.ts';
import { schema } from '../../../lib/arguments/index.ts';
import { countTokens, withNote } from '../../../lib/text/index.ts';
import { openTrust } from '../../../lib/trust/index.ts';
import type { SkillRegistry, SkillRegistryAdmin } from './api.ts';
import { skillNamed } from './catalog/snapshot.ts';
import { actor, aFunction, type CheckedCalls, ofTurn, text, texts, turn, words } from './checked-calls.ts';
import { isPresetGroup } from './config/preset-table.ts';
import { assertOpen, moreSearch, type Parts } from './parts.ts';
import { readPoliciesOf } from './read/skill-of-path.ts';
import { namedTools } from './show/formats.ts';
import { boundSkill, heldOrDisabled, whoSees } from './show/visible.ts';
import { skillNotFound } from './skill/errors.ts';
import type { Skill } from './skill/skill.ts';
import { instanceOf } from './sources/instance.ts';
import { CORE_TOOLS } from './tools/index.ts';

interface Given extends Pick<SkillRegistry, 'context'>, Pick<SkillRegistryAdmin, 'watchMode'> {
  readonly at: (turn: TurnContext) => TurnContext;
  readonly registry: () => SkillRegistry;
}

export function createAdmin(parts: Parts, call: CheckedCalls, given: Given): Partial<SkillRegistryAdmin> {
  return {
    instanceId: () => instanceOf(parts.root, parts.config.sources),
    watchMode: given.watchMode,
    ...fileFunctions(parts, call),
    ...accessFunctions(parts, call),
    ...searchFunctions(parts, call, given),
    ...kernelFunctions(parts, call, given),
  };
}

/** @throws SKILL_NOT_FOUND, REGISTRY_CLOSED. */
export function knownSkill(parts: Pick<Parts, 'catalog' | 'closing'>, skillId: string): Skill {
  assertOpen(parts);
  const snapshot = parts.catalog.snapshot();
  const skill = skillNamed(snapshot, skillId);
  if (skill) return skill;
  throw skillNotFound(skillId, snapshot.byId.keys());
}

// --- internal ---

const readOptions = schema((z) => {
  const judge = aFunction<(bytes: Uint8Array) => boolean>()();
  const countsAsLoad = z.union([z.boolean(), judge], { error: 'true, false or a function' }).optional();
  const onHeld = aFunction<(because: string) => void>()().optional();
  return z.object({ path: words(), countsAsLoad, onHeld, wait: z.boolean().optional() }).optional();
});
const bytes = schema((z) => z.instanceof(Uint8Array, { error: 'bytes' }));
const countOptions = schema((z) => {
  const atMost = z.union([z.int(), z.literal(Number.POSITIVE_INFINITY)], { error: 'a number' }).optional();
  return z.strictObject({ bodies: z.boolean().optional(), atMost }).optional();
});
const turns = schema((z) => z.array(ofTurn()));
const disabledSkill = schema((z) => z.object({ skill: z.string(), agent: words() }));
const flag = schema((z) => z.boolean());
type KernelPart = Parameters<SkillRegistryAdmin['connect']>[0];
const kernelPart = schema((z) =>
  z.custom<KernelPart>((value) => {
    const { events, notifyUser } = Object(value) as Partial<KernelPart>;
    return typeof events?.emit === 'function' && typeof notifyUser === 'function';
  }, 'the context of an extension'),
);

function fileFunctions(parts: Parts, { now, later }: CheckedCalls) {
  const { events, reading } = parts;
  return {
    readBytes: later('admin.readBytes(skillId, options, turn)', [text, readOptions, turn], reading.readBytes),
    resources: now('admin.resources(skillId, turn)', [text, turn], reading.resources),
    leftOutCount: now('admin.leftOutCount(skillId)', [text], reading.leftOutCount),
    prepareMessage: later('admin.prepareMessage(skillId, args, turn)', [text, text, turn], (...given) =>
      reading.prepareMessage(...given),
    ),
    recordOffers: now('admin.recordOffers(skillIds, turn)', [texts, turn], (skillIds, turn = {}) =>
      events.emit('offered', skillIds, turn),
    ),
  } satisfies Partial<SkillRegistryAdmin>;
}

function accessFunctions(parts: Parts, { later }: CheckedCalls) {
  const { catalog, config, guard, scopes } = parts;
  return {
    readPolicies: later('admin.readPolicies(paths, turn)', [texts, turn], (paths, turn = {}) =>
      readPoliciesOf(paths, turn, parts),
    ),
    mayGivePlainFile: later('admin.mayGivePlainFile(path, bytes)', [text, bytes], async (path, bytes) => {
      const source = catalog.sources().find((one) => one.contains(path));
      return !source || guard().mayGive({ path: relative(source.location, path), bytes });
    }),
    agents: () => Object.keys(config.agents).map((agentId) => scopes.declared({ agentId })),
    whoSees: later('admin.whoSees(agents)', [turns], async (agents) => whoSees(catalog.snapshot(), agents, scopes)),
    setDisabled: later('admin.setDisabled(disabling, isDisabled, actor)', [disabledSkill, flag, actor], (...given) =>
      setDisabled(parts, ...given),
    ),
  } satisfies Partial<SkillRegistryAdmin>;
}

function searchFunctions(parts: Parts, { later }: CheckedCalls, { context }: Given) {
  const { catalog, config, scopes, searcher, tokens } = parts;
  return {
    prepareSearch: later('admin.prepareSearch(query)', [words], async (query = '') => {
      assertOpen(parts);
      const skills = scopes.visible({});
      await Promise.all([searcher.prepare(skills), moreSearch(parts).ready(query, skills)]);
    }),
    prepareQuery: later('admin.prepareQuery(query, turn)', [text, ofTurn], async (query, turn) => {
      assertOpen(parts);
      const skills = scopes.visible(turn);
      await Promise.all([searcher.prepareHeaders(skills), moreSearch(parts).ready(query, skills)]);
    }),
    async contextCost() {
      const text = await context('', { preview: true });
      const { enforcementOf } = await import('./show/turn-text.ts');
      const emphasis = enforcementOf(namedTools(config.tools));
      const enforcement = emphasis !== undefined && text?.includes(emphasis) ? await countTokens(emphasis) : 0;
      return { tokens: text === null ? 0 : await countTokens(text), enforcement };
    },
    tokenCounts: later(
      'admin.tokenCounts(options)',
      [countOptions],
      async ({ bodies = true, atMost = Number.POSITIVE_INFINITY } = {}) => {
        assertOpen(parts);
        return tokens.count(catalog.snapshot(), { bodies, atMost });
      },
    ),
  } satisfies Partial<SkillRegistryAdmin>;
}

function kernelFunctions(parts: Parts, { later, now }: CheckedCalls, { at, registry }: Given) {
  const { catalog, config, opened, scopes } = parts;
  return {
    hasGuard: () => opened.some(({ guard }) => guard),
    notInspected: () => parts.guard().notInspected(catalog.snapshot().byQualifiedId.values()),
    boundText: later('admin.boundText(skillId, turn)', [text, ofTurn], async (skillId, turn) => {
      if (scopes.narrowed(at(turn))?.nothing) return '';
      const skill = boundSkill(catalog.snapshot(), skillId);
      if (skill && heldOrDisabled(turn, skill) === 'SKILL_DISABLED') return '';
      const id = skill?.qualifiedId ?? skillId;
      const { content, hiddenLeftOut: leftOut = 0 } = await registry().read(id, { audience: 'binding' }, turn);
      return withNote({ text: content, leftOut });
    }),
    agentTools: () => [...config.tools, ...opened.flatMap(({ agentTools = [] }) => agentTools)],
    servedTools: () => [
      ...Object.keys(CORE_TOOLS).map((name) => ({ name })),
      ...opened.flatMap(({ servedTools = [] }) => servedTools),
    ],
    servedPrompts: now('admin.servedPrompts(turn)', [ofTurn], (turn: TurnContext) =>
      opened.flatMap(({ prompts }) => prompts?.(turn) ?? []),
    ),
    commands: () => opened.flatMap(({ commands }) => commands?.(registry()) ?? []),
    news: async () => (await Promise.all(opened.map(async ({ news }) => (await news?.()) ?? []))).flat(),
    reviewPages: () => Promise.all(opened.flatMap(({ reviewPages }) => reviewPages?.() ?? [])),
    connect: now('admin.connect(kernel)', [kernelPart], (kernel: KernelPart) => {
      for (const feature of opened) feature.connect?.(kernel);
    }),
  } satisfies Partial<SkillRegistryAdmin>;
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
  const config = await import('./config/set-disabled.ts');
  const preset = parts.config.sources.flatMap((source) => source.preset ?? []).find(isPresetGroup);
  const done = config.setDisabled(root, disabling, isDisabled, preset);
  disabled.now = config.disabledAfter(disabled.now, disabling, isDisabled);
  await catalog.refresh();
  const action = isDisabled ? 'revoke' : 'allow';
  if (done.changed) openTrust().decide({ kind: 'switch', path: root, skill, agent, action, ...actor });
  return done;
}
