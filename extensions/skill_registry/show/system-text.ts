import { countTokens, delimited, loadTokenCounter } from '../../../lib/text/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Skill } from '../skill/skill.ts';
import { type CatalogTextOptions, catalogText } from './catalog-text.ts';
import { BULLETS, type NamedTools, onceFor, XML, XML_ADDRESSES } from './formats.ts';
import { choiceToKeep, type ThreadChoice } from './thread-choices.ts';

export interface SystemTextOptions {
  readonly inject: SkillRegistryConfig['inject'];
  readonly catalog: SkillRegistryConfig['catalog'];
  readonly tools: NamedTools;
  /** The reader may be on another machine. Default: false. */
  readonly remoteClient?: boolean | undefined;
  /** Qualified ids of skills whose bodies are in messages: they are listed without bodies. */
  readonly inMessages: ReadonlySet<string>;
  /** Skills with longer bodies are only listed. Preloaded bodies together have at most four times as many tokens. */
  readonly maxBodyTokens: number;
  /** The visible skills that are most relevant to the prompt, pinned ones first. */
  readonly rank: () => Promise<readonly Skill[]>;
  /** As of `CatalogTextOptions`. */
  readonly hasPrompt: boolean;
  readonly pending: number;
  readonly unranked: () => Promise<number>;
  readonly fitting: () => Promise<readonly Skill[]>;
  readonly thread: ThreadChoice | undefined;
  /** Undefined when the file was removed, or may not be given. */
  readonly body: (skill: Skill) => Promise<string | undefined>;
}

/** Text of the Operator design for `catalog.enforcement`: about 200 tokens of the budget in every turn. */
export function enforcementOf({ load }: NamedTools): string | undefined {
  return load && ENFORCEMENT.replace('{load}', load.call);
}

export interface SystemText {
  readonly text: string | null;
  /** With the tokens of each. */
  readonly bodies: ReadonlyMap<Skill, number>;
  /** Skills that are named without bodies. */
  readonly listed: readonly Skill[];
}

/**
 * Bodies of preloaded skills, then the catalog, or bodies with `inject: bodies`. The catalog is last, because it may
 * grow in a thread, and the text before it must stay the same.
 *
 * @param skills - Visible skills whose bodies are not in the agent's instructions.
 */
export async function systemText(skills: readonly Skill[], given: SystemTextOptions): Promise<SystemText> {
  const bodyTokens = new Map<Skill, number>();
  let listed: readonly Skill[] = [];
  // The last call is for the text that is used.
  const onListed = (all: readonly Skill[]): void => {
    listed = all;
  };
  const options: Writing = { ...given, bodyTokens, onListed };
  const { active, expected } = await activeBodies(skills, options);
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

/** Of one token (a run of blanks). A body with more bytes than fit is not read. */
const TOKEN_BYTES = 128;
/** Reading stops after this many bodies that do not fit: of thousands of skills most are not relevant. */
const MAX_MISSES = 20;
const PRELOADED_BODIES = 4;
/** Of a ranking that is remembered for a thread; more bodies never fit. */
const MAX_RANKED = 200;
/** With fewer tokens for the list, the text of `catalog.enforcement` is left out. */
const MIN_CATALOG_TOKENS = 100;
/** Two texts together may have this many tokens more than one by one. */
const SEAM_TOKENS = 4;
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

/** With the text of `catalog.enforcement` when enough of the budget is left for the catalog. */
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
 * The mode of the ak-coder design: bodies of the most relevant skills, as many as fit, then catalog entries of the
 * others, for which at least a quarter of the budget is reserved.
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

/** Ranked for the first prompt of the thread. Later turns use this ranking, so that the bodies stay the same. */
async function firstRanking(
  skills: readonly Skill[],
  { rank, thread, pending, unranked, hasPrompt }: SystemTextOptions,
): Promise<readonly Skill[]> {
  // Comes first, because `unranked` knows the number only after the ranking.
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

/** For the catalog below the bodies. */
function listedAs(options: Writing, ranked: readonly Skill[]): CatalogOptions {
  return { ...options, rank: async () => ranked, fitting: async () => [], thread: undefined };
}

const HEADER = 'Available Skills:';
const HEADER_TOKENS = 4;

/** Blocks by skill, as many as fit. @param ranked - Best first. */
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
  /** In catalog order. */
  readonly active: ReadonlyMap<Skill, string>;
  readonly expected: number;
}

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
