import { countTokens, delimited, loadTokenCounter } from '../../../lib/text/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Skill } from '../skill/skill.ts';
import { type CatalogTextOptions, catalogText } from './catalog-text.ts';
import { BULLETS, type NamedTools, onceFor, XML, XML_ADDRESSES } from './formats.ts';
import { choiceToKeep, type ThreadChoice } from './thread-choices.ts';

export interface SystemTextOptions {
  readonly inject: SkillRegistryConfig['inject'];
  readonly catalog: SkillRegistryConfig['catalog'];
  /** The tools of the agent. */
  readonly tools: NamedTools;
  /** The reader may be on another machine. Default: false. */
  readonly remoteClient?: boolean | undefined;
  /** Qualified ids of skills whose bodies are in messages of the conversation: they are listed without their bodies. */
  readonly inMessages: ReadonlySet<string>;
  /**
   * A longer body is never put into a prompt; the skill is listed instead. Preloaded bodies together have at most four times as
   * many tokens.
   */
  readonly maxBodyTokens: number;
  /** Returns the visible skills that are most relevant to the prompt, best first, with pinned skills before all others. */
  readonly rank: () => Promise<readonly Skill[]>;
  /** As of `CatalogTextOptions`. */
  readonly hasPrompt: boolean;
  readonly pending: number;
  readonly unranked: () => Promise<number>;
  /** Returns those that a later turn of a thread may add. */
  readonly fitting: () => Promise<readonly Skill[]>;
  /** The choice of earlier turns of the thread. */
  readonly thread: ThreadChoice | undefined;
  /** The body of a skill; undefined when the file was removed, or may not be given. */
  readonly body: (skill: Skill) => Promise<string | undefined>;
}

/**
 * The strong wording of the Operator design, which makes an agent check its skills first. It has about 200 tokens in every turn, so
 * it is only used with `catalog.enforcement`, and counts towards the budget. Undefined when the agent has no tool to load a skill.
 */
export function enforcementOf({ load }: NamedTools): string | undefined {
  return load && ENFORCEMENT.replace('{load}', load.call);
}

/** The part of a system prompt about skills. */
export interface SystemText {
  /** Null: there is nothing to say. */
  readonly text: string | null;
  /** The skills whose bodies are in it, with the tokens of each. */
  readonly bodies: ReadonlyMap<Skill, number>;
  /** The skills that it names without their bodies. */
  readonly listed: readonly Skill[];
}

/**
 * Writes the part of a system prompt about skills: the bodies of preloaded skills, then the catalog, or bodies with `inject: bodies`.
 * The catalog is last, because it may grow in a thread and the text before it must stay the same.
 *
 * @param skills - The visible skills whose bodies are not in the instructions of the agent.
 */
export async function systemText(skills: readonly Skill[], given: SystemTextOptions): Promise<SystemText> {
  const bodyTokens = new Map<Skill, number>();
  let listed: readonly Skill[] = [];
  // The text of the last call is the one that is used.
  const onListed = (all: readonly Skill[]): void => {
    listed = all;
  };
  const options: Writing = { ...given, bodyTokens, onListed };
  const { active, expected } = await activeBodies(skills, options);
  // A skill with its body in the text is not listed again.
  const others = active.size === 0 ? skills : skills.filter((skill) => !active.has(skill));
  const { text, given: chosen } = await listedText(others, options);
  const parts = [activeText(active, expected, options.tools), text].filter((part) => part !== null);
  const bodies = new Map([...active.keys(), ...chosen].map((skill) => [skill, bodyTokens.get(skill) ?? 0]));
  return { text: parts.length > 0 ? parts.join('\n\n') : null, bodies, listed };
}

// --- internal ---

const ENFORCEMENT = `# Skills — FIRST PRIORITY (MANDATORY)

CRITICAL: You have installed skills that provide specialized capabilities.
Before attempting ANY task — simple or complex — you MUST check if an installed skill handles it.

## Rules (MUST follow in order)
1. ALWAYS scan the skill list below BEFORE taking ANY action on a user request
2. If a skill's description matches or partially matches the task, you MUST load its full instructions with {load} BEFORE anything else
3. Follow the loaded skill instructions EXACTLY — do NOT improvise or use alternative approaches
4. NEVER use general-purpose workarounds when a skill provides the right tool
5. If multiple skills could apply, load the most specific one first
6. Even for seemingly simple tasks, CHECK SKILLS FIRST

## Enforcement
- If you skip checking skills and use a raw approach for a task that a skill handles, this is considered a FAILURE. Always check skills first.`;

/** Maximum bytes of one token (a run of blanks). A body with more bytes than fit is not read. */
const TOKEN_BYTES = 128;
/** Reading stops after this many bodies that do not fit: with thousands of skills most are not relevant. */
const MAX_MISSES = 20;
/** Preloaded bodies together may have this many times `maxBodyTokens`. */
const PRELOADED_BODIES = 4;
/** Number of skills of a ranking that are remembered for a thread; more bodies never fit. */
const MAX_RANKED = 200;
/** The strong wording is left out where fewer tokens are left for the list. */
const MIN_CATALOG_TOKENS = 100;
/** Two texts together may have this many tokens more than one by one. */
const SEAM_TOKENS = 4;
/** Every block has at least this many tokens. */
const MIN_BLOCK_TOKENS = 12;

const setOf = onceFor((skills): ReadonlySet<Skill> => new Set(skills));
const preloadedOf = onceFor((skills) => skills.filter(({ preload }) => preload));

interface Writing extends SystemTextOptions, Pick<CatalogTextOptions, 'onListed'> {
  readonly bodyTokens: Map<Skill, number>;
}

interface Listed {
  readonly text: string | null;
  readonly given: Iterable<Skill>;
}

async function listedText(skills: readonly Skill[], options: Writing): Promise<Listed> {
  if (options.inject === 'off') return { text: null, given: [] };
  if (options.inject === 'bodies') return bodiesText(skills, options);
  return { text: await enforcedCatalog(skills, options, options.catalog.budget_tokens), given: [] };
}

/** The catalog, with the strong wording before it where that leaves the catalog enough of the budget. */
async function enforcedCatalog(
  skills: readonly Skill[],
  options: CatalogOptions,
  budgetTokens: number,
): Promise<string | null> {
  const enforcement = options.catalog.enforcement ? enforcementOf(options.tools) : undefined;
  if (enforcement === undefined) return catalogOf(skills, options, budgetTokens);
  const room = budgetTokens - (await countTokens(`${enforcement}\n\n`)) - SEAM_TOKENS;
  if (room < MIN_CATALOG_TOKENS) return catalogOf(skills, options, budgetTokens);
  const text = await catalogOf(skills, options, room);
  return text === null ? null : `${enforcement}\n\n${text}`;
}

function catalogOf(skills: readonly Skill[], options: CatalogOptions, budgetTokens: number): Promise<string | null> {
  const { catalog, rank, fitting, thread, tools, onListed, hasPrompt, pending, unranked } = options;
  const isListed = setOf(skills);
  const pinned = catalog.pinned.length === 0 ? 0 : skills.filter((skill) => catalog.pinned.includes(skill.id)).length;
  const only = async (ranked: Promise<readonly Skill[]>): Promise<readonly Skill[]> =>
    (await ranked).filter((skill) => isListed.has(skill));
  return catalogText(skills, {
    budgetTokens,
    thread,
    pinned,
    tools,
    onListed,
    hasPrompt,
    pending,
    unranked,
    rank: () => only(rank()),
    fitting: () => only(fitting()),
    format: catalog.format === 'bullets' ? BULLETS : options.remoteClient ? XML_ADDRESSES : XML,
  });
}

/**
 * The mode of the ak-coder design: every prompt contains the bodies of the most relevant skills, as many as fit. The other skills
 * follow as catalog entries, for which at least a quarter of the budget is reserved.
 */
async function bodiesText(skills: readonly Skill[], options: Writing): Promise<Listed> {
  const { budget_tokens: budget } = options.catalog;
  if (skills.length === 0) return { text: await enforcedCatalog(skills, options, budget), given: [] };
  const count = await loadTokenCounter();
  const ranked = await firstRanking(skills, options);
  const all = await chooseBodies(ranked, options, budget - HEADER_TOKENS, count);
  if (all.size === skills.length && options.pending === 0) return { text: layOut(skills, all), given: skills };
  for (let share = 0.75; share > 0; share -= 0.25) {
    const chosen = await chooseBodies(ranked, options, budget * share - HEADER_TOKENS, count);
    if (chosen.size === 0) break;
    const note = `Instructions of ${chosen.size} of ${skills.length + options.pending} skills are given; the others are listed.`;
    const bodies = `${layOut(skills, chosen)}\n\n${note}\n\n`;
    const rest = skills.filter((skill) => !chosen.has(skill));
    const catalog = await enforcedCatalog(rest, listedAs(options, ranked), Math.max(budget - count(bodies), 0));
    if (count(bodies + catalog) <= budget) return { text: `${bodies}${catalog}`, given: chosen.keys() };
  }
  return { text: await enforcedCatalog(skills, listedAs(options, ranked), budget), given: [] };
}

/** All skills, ranked for the first prompt of the thread. Later turns use the same ranking, so that the bodies stay the same. */
async function firstRanking(
  skills: readonly Skill[],
  { rank, thread, pending, unranked, hasPrompt }: SystemTextOptions,
): Promise<readonly Skill[]> {
  // What is missing is known after the ranking.
  const now = thread?.get()?.provisional === false ? undefined : await rank();
  const missing = pending + (now ? await unranked() : 0);
  const before = choiceToKeep(thread, missing === 0);
  const provisional = before?.provisional ?? missing > 0;
  const byId = new Map(skills.map((skill) => [skill.id, skill]));
  const remembered =
    before?.kind === 'ranked' ? [...before.lines.keys()].flatMap((id) => byId.get(id) ?? []) : undefined;
  const ranked = remembered ?? (now ?? (await rank())).filter((skill) => byId.get(skill.id) === skill);
  if (!remembered) {
    const lines = new Map(ranked.slice(0, MAX_RANKED).map(({ id }) => [id, '']));
    thread?.set({ kind: 'ranked', lines, provisional });
  }
  const others = provisional && hasPrompt ? [] : skills;
  return [...new Set([...(remembered ?? ranked.slice(0, MAX_RANKED)), ...others])];
}

type CatalogOptions = Omit<Writing, 'bodyTokens'>;

/** Options for the catalog below the bodies, with the same ranking. */
function listedAs(options: Writing, ranked: readonly Skill[]): CatalogOptions {
  return { ...options, rank: async () => ranked, fitting: async () => [], thread: undefined };
}

const HEADER = 'Available Skills:';
const HEADER_TOKENS = 4;

/** Blocks of the most relevant skills that fit, by skill. @param ranked - All skills, best first. */
async function chooseBodies(
  ranked: readonly Skill[],
  options: Writing,
  budget: number,
  count: (text: string) => number,
): Promise<ReadonlyMap<Skill, string>> {
  let left = budget;
  const chosen = new Map<Skill, string>();
  let misses = 0;
  for (const skill of ranked) {
    if (left < MIN_BLOCK_TOKENS || misses >= MAX_MISSES) break;
    if (skill.remote || options.inMessages.has(skill.qualifiedId) || skill.bytes > left * TOKEN_BYTES) continue;
    const body = await options.body(skill);
    const block = body === undefined ? undefined : blockOf(skill, body);
    const tokens = block === undefined ? Number.POSITIVE_INFINITY : count(block);
    if (block === undefined || tokens > left) {
      misses++;
      continue;
    }
    left -= tokens;
    options.bodyTokens.set(skill, tokens);
    chosen.set(skill, block);
  }
  return chosen;
}

function layOut(skills: readonly Skill[], chosen: ReadonlyMap<Skill, string>): string {
  return `${HEADER}${skills.map((skill) => chosen.get(skill) ?? '').join('')}`.trimEnd();
}

function blockOf({ id, description }: Skill, body: string): string {
  const instructions = delimited(`Skill: ${id}`, body);
  return `\n- Skill Name: ${id}\n  Description: ${description}\n  Instructions:\n${instructions}\n`;
}

interface Active {
  /** Sections by skill, in order of the catalog. */
  readonly active: ReadonlyMap<Skill, string>;
  readonly expected: number;
}

/** The bodies of preloaded skills that are not too long and fit together. */
async function activeBodies(skills: readonly Skill[], options: Writing): Promise<Active> {
  const active = new Map<Skill, string>();
  const preloaded = preloadedOf(skills).filter(({ qualifiedId }) => !options.inMessages.has(qualifiedId));
  let expected = preloaded.length;
  let left = options.maxBodyTokens * PRELOADED_BODIES;
  let misses = 0;
  for (const skill of preloaded) {
    if (misses >= MAX_MISSES) break;
    if (skill.bytes > Math.min(options.maxBodyTokens, left) * TOKEN_BYTES) continue;
    const body = await options.body(skill);
    if (body === undefined) {
      expected--;
      continue;
    }
    const count = await loadTokenCounter();
    if (count(body) > options.maxBodyTokens) continue;
    const section = delimited(`Skill: ${skill.id}`, body);
    const tokens = count(`${section}\n\n`);
    if (tokens > left) {
      misses++;
      continue;
    }
    left -= tokens;
    options.bodyTokens.set(skill, tokens);
    active.set(skill, section);
  }
  return { active, expected };
}

function activeText(active: ReadonlyMap<Skill, string>, expected: number, { load }: NamedTools): string | null {
  if (active.size === 0) return null;
  const others = load ? `; load the others with ${load.call}` : '';
  const notes =
    active.size < expected ? [`${active.size} of ${expected} preloaded skills are given in full${others}.`] : [];
  return ['# Active Skills\n\nFollow their instructions.', ...notes, ...active.values()].join('\n\n');
}
