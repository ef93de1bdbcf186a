import type { TurnContext } from 'skill-registry/kernel';
import { onceFor, RecentMap } from '../../../../lib/recent-map/index.ts';
import { delimited } from '../../../../lib/text/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import { skillsForFiles } from '../search/for-files.ts';
import type { Searcher } from '../search/searcher.ts';
import type { Meaning } from '../search/types.ts';
import type { Skill } from '../skill/skill.ts';
import {
  type CatalogChoice,
  type CatalogTextOptions,
  catalogText,
  choiceToKeep,
  type Relevance,
  type ThreadChoice,
} from './catalog-text.ts';
import { BULLETS, type NamedTools, namedTools, type TokenCounter, XML, XML_ADDRESSES } from './formats.ts';
import type { Conversations } from './loaded-by-person.ts';
import type { SkillTokenCounts } from './token-counts.ts';

export interface TurnTextOptions {
  readonly config: Pick<SkillRegistryConfig, 'inject' | 'catalog' | 'limits' | 'tools'>;
  readonly root: string;
  readonly searcher: Searcher;
  /** Absent: search uses words only. */
  readonly meaning: Pick<Meaning, 'ready' | 'likeness'> | undefined;
  readonly conversations: Conversations;
  readonly counting: SkillTokenCounts['counting'];
  /** Gets what the text of a turn contains: named skills, and the tokens of each body. */
  readonly onShown: (
    listed: readonly Skill[],
    bodies: ReadonlyMap<Skill, number>,
    turn: TurnContext,
    prompt: string,
  ) => void;
}

export interface VisibleSkills {
  /** The same array for the same scope. */
  readonly skills: readonly Skill[];
  /** Which skills a feature leaves of them. */
  readonly narrowed: string | undefined;
  /** Qualified ids of skills whose bodies are in the agent's instructions. */
  readonly given: ReadonlySet<string>;
  /** Undefined when the file was removed, or may not be given. */
  readonly body: (skill: Skill) => Promise<string | undefined>;
}

export type TurnText = (seen: VisibleSkills, prompt: string, turn: TurnContext) => Promise<string | null>;

/**
 * Bodies of preloaded skills, then the catalog, or bodies with `inject: bodies`. The catalog is last, because it may
 * grow in a thread, and the text before it must stay the same. Searches only when not all skills fit.
 */
export function createTurnText(options: TurnTextOptions): TurnText {
  const { config, conversations, onShown } = options;
  const { catalog, tools } = config;
  const choices = new RecentMap<string, CatalogChoice>(MAX_THREADS);
  const textOf = async (...[seen, prompt, turn, count]: [...Parameters<TurnText>, TokenCounter]) => {
    const { skills, narrowed, given, body } = seen;
    let found: Promise<Relevance> | undefined;
    const shown: Shown = {
      config,
      body,
      count,
      inMessages: conversations.inMessages(turn),
      tools: namedTools(turn.tools ?? tools),
      format: catalog.format === 'bullets' ? BULLETS : turn.remoteClient ? XML_ADDRESSES : XML,
      pinned: catalog.pinned,
      thread: threadOf(turn, narrowed, choices),
      forFiles: (inOrder) => skillsForFiles(inOrder, turn.paths ?? [], options.root),
      relevance() {
        found ??= relevanceOf(skills, prompt, options);
        return found;
      },
    };
    const others = given.size === 0 ? skills : skills.filter(({ qualifiedId }) => !given.has(qualifiedId));
    const active = await activeBodies(others, shown);
    const rest = active.bodies.size === 0 ? others : others.filter((skill) => !active.bodies.has(skill));
    const { text, bodies, listed } = await listedText(rest, shown);
    const tokens = new Map([...active.bodies, ...bodies].map(([skill, one]) => [skill, one.tokens]));
    const ids = [...tokens.keys()].map(({ qualifiedId }) => qualifiedId);
    conversations.inSystemText(new Set([...given, ...ids]), turn);
    onShown(listed, tokens, turn, prompt);
    const parts = [active.text, text].filter((part) => part !== null);
    return parts.length > 0 ? parts.join('\n\n') : null;
  };
  return (...asked) => options.counting((count) => textOf(...asked, count));
}

/** Text of the Operator design for `catalog.enforcement`: about 200 tokens of the budget in every turn. */
export function enforcementOf({ load }: NamedTools): string | undefined {
  return load && ENFORCEMENT.replace('{load}', load.call);
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

/** The end of a thread is not reported: those that were not used for longest are removed. */
const MAX_THREADS = 1000;
/** Of one token (a run of blanks). A body with more bytes than fit is not read. */
const TOKEN_BYTES = 128;
/** Reading stops after this many bodies that do not fit: of thousands of skills most are not relevant. */
const MAX_MISSES = 20;
/** Preloaded bodies together have at most this many times as many tokens as one body may have. */
const PRELOADED_BODIES = 4;
/** Of a ranking that is remembered for a thread; more bodies never fit. */
const MAX_RANKED = 200;
/** With fewer tokens for the list, the text of `catalog.enforcement` is left out. */
const MIN_CATALOG_TOKENS = 100;
/** Two texts together may have this many tokens more than one by one. */
const SEAM_TOKENS = 4;
const MIN_BLOCK_TOKENS = 12;
const HEADER = 'Available Skills:';
const HEADER_TOKENS = 4;

const preloadedOf = onceFor((skills: readonly Skill[]) => skills.filter(({ preload, remote }) => preload && !remote));

interface Shown extends Omit<Required<CatalogTextOptions>, 'budgetTokens'>, Pick<VisibleSkills, 'body'> {
  readonly config: TurnTextOptions['config'];
  /** Qualified ids of skills whose bodies are in messages: they are listed without bodies. */
  readonly inMessages: ReadonlySet<string>;
}

interface Body {
  readonly text: string;
  readonly tokens: number;
}

type Bodies = ReadonlyMap<Skill, Body>;

interface Listed {
  readonly text: string | null;
  readonly bodies: Bodies;
  /** Skills that are named without bodies. */
  readonly listed: readonly Skill[];
}

const NO_BODIES: Bodies = new Map();

/** Later turns of a thread begin with the same lines, which prompt caches need. */
function threadOf(
  turn: TurnContext,
  narrowed: string | undefined,
  choices: RecentMap<string, CatalogChoice>,
): ThreadChoice | undefined {
  if (turn.threadId === undefined) return undefined;
  const key = JSON.stringify([turn.threadId, turn.agentId, narrowed]);
  return {
    get: () => choices.get(key),
    set: (choice) => void choices.set(key, choice),
  };
}

async function relevanceOf(skills: readonly Skill[], prompt: string, options: TurnTextOptions): Promise<Relevance> {
  const { searcher, meaning, config } = options;
  const { pinned } = config.catalog;
  const kept = pinned.length > 0 ? skills.filter((skill) => pinned.includes(skill.id)) : [];
  // No skill is relevant to an empty prompt, and no index is needed.
  if (prompt.trim() === '') return { ranked: kept, fitting: [], pending: 0 };
  await meaning?.ready(prompt);
  const relevant = searcher.relevant(skills, prompt, meaning?.likeness(skills, prompt));
  const pending = searcher.unindexed(skills);
  // Nothing waits for the whole index: a later turn has it.
  if (pending > 0) searcher.prepare(skills).catch(() => undefined);
  const others = relevant.filter(({ skill }) => !kept.includes(skill));
  return {
    ranked: [...kept, ...others.map(({ skill }) => skill)],
    fitting: others.filter(({ fits }) => fits).map(({ skill }) => skill),
    pending,
  };
}

async function listedText(skills: readonly Skill[], shown: Shown): Promise<Listed> {
  const { inject, catalog } = shown.config;
  if (inject === 'off') return { text: null, bodies: NO_BODIES, listed: [] };
  return inject === 'bodies' ? bodiesText(skills, shown) : enforcedCatalog(skills, shown, catalog.budget_tokens);
}

/** With the text of `catalog.enforcement` when enough of the budget is left for the catalog. */
async function enforcedCatalog(skills: readonly Skill[], shown: Shown, budgetTokens: number): Promise<Listed> {
  const enforcement = shown.config.catalog.enforcement ? enforcementOf(shown.tools) : undefined;
  const room = enforcement ? budgetTokens - shown.count(`${enforcement}\n\n`) - SEAM_TOKENS : 0;
  const isEnforced = room >= MIN_CATALOG_TOKENS;
  const { text, listed } = await catalogText(skills, { ...shown, budgetTokens: isEnforced ? room : budgetTokens });
  return { text: isEnforced && text !== null ? `${enforcement}\n\n${text}` : text, bodies: NO_BODIES, listed };
}

/**
 * The mode of the ak-coder design: bodies of the most relevant skills, as many as fit, then catalog entries of the
 * others, for which at least a quarter of the budget is reserved.
 */
async function bodiesText(skills: readonly Skill[], shown: Shown): Promise<Listed> {
  const { count } = shown;
  const { budget_tokens: budget } = shown.config.catalog;
  if (skills.length === 0) return enforcedCatalog(skills, shown, budget);
  const ranked = await firstRanking(skills, shown);
  // A skill that is found to be held now, or is gone, is not listed either.
  const refused = new Set<Skill>();
  const body = async (skill: Skill): Promise<string | undefined> => {
    const text = await shown.body(skill);
    if (text === undefined) refused.add(skill);
    return text;
  };
  const fitting = (room: number) => bodiesThatFit(ranked, { ...shown, body }, room - HEADER_TOKENS, blockOf);
  const { bodies: all } = await fitting(budget);
  if (all.size === skills.length) return { text: layOut(skills, all), bodies: all, listed: [] };
  // For the catalog below the bodies.
  const relevance = async () => ({ ...(await shown.relevance()), ranked, fitting: [] });
  const listing = { ...shown, relevance, thread: undefined };
  for (let share = 0.75; share > 0; share -= 0.25) {
    const { bodies } = await fitting(budget * share);
    if (bodies.size === 0) break;
    const note = `Instructions of ${bodies.size} of ${skills.length} skills are given; the others are listed.`;
    const above = `${layOut(skills, bodies)}\n\n${note}\n\n`;
    const rest = skills.filter((skill) => !bodies.has(skill) && !refused.has(skill));
    const { text, listed } = await enforcedCatalog(rest, listing, Math.max(budget - count(above), 0));
    if (count(above + text) <= budget) return { text: above + text, bodies, listed };
  }
  const listed = skills.filter((skill) => !refused.has(skill));
  return enforcedCatalog(listed, listing, budget);
}

/** Ranked for the first prompt of the thread. Later turns use this ranking, so that the bodies stay the same. */
async function firstRanking(skills: readonly Skill[], shown: Shown): Promise<readonly Skill[]> {
  const { relevance, thread } = shown;
  const now = thread?.get()?.provisional === false ? undefined : await relevance();
  const pending = now?.pending ?? 0;
  const before = choiceToKeep(thread, pending === 0);
  const provisional = before?.provisional ?? pending > 0;
  const byId = new Map(skills.map((skill) => [skill.id, skill]));
  let choice = before;
  if (choice?.kind !== 'ranked') {
    const all = (now ?? (await relevance())).ranked.filter((skill) => byId.get(skill.id) === skill);
    choice = { kind: 'ranked', lines: new Map(all.slice(0, MAX_RANKED).map(({ id }) => [id, ''])), provisional };
  }
  thread?.set(choice);
  const ranked = [...choice.lines.keys()].flatMap((id) => byId.get(id) ?? []);
  return [...new Set([...ranked, ...skills])];
}

/** As many as fit into `room` tokens. @param skills - Best first. @param longest - Of a preloaded body, in tokens. */
async function bodiesThatFit(
  skills: readonly Skill[],
  { body: bodyOf, count, inMessages }: Shown,
  room: number,
  textOf: (skill: Skill, body: string) => string,
  longest: number = Number.POSITIVE_INFINITY,
): Promise<{ readonly bodies: Bodies; readonly unreadable: number }> {
  const isPreloaded = longest < Number.POSITIVE_INFINITY;
  const bodies = new Map<Skill, Body>();
  let [left, misses, unreadable] = [room, 0, 0];
  for (const skill of skills) {
    if ((left < MIN_BLOCK_TOKENS && !isPreloaded) || misses >= MAX_MISSES) break;
    const isTooLong = skill.bytes > Math.min(longest, left) * TOKEN_BYTES;
    if (skill.remote || inMessages.has(skill.qualifiedId) || isTooLong) continue;
    const body = await bodyOf(skill);
    if (body === undefined) {
      if (isPreloaded) unreadable += 1;
      else misses += 1;
      continue;
    }
    if (isPreloaded && count(body) > longest) continue;
    const text = textOf(skill, body);
    const tokens = count(text);
    if (tokens > left) misses += 1;
    else {
      left -= tokens;
      bodies.set(skill, { text, tokens });
    }
  }
  return { bodies, unreadable };
}

function layOut(skills: readonly Skill[], bodies: Bodies): string {
  return `${HEADER}${skills.map((skill) => bodies.get(skill)?.text ?? '').join('')}`.trimEnd();
}

function blockOf({ id, description }: Skill, body: string): string {
  const instructions = delimited(`Skill: ${id}`, body);
  return `\n- Skill Name: ${id}\n  Description: ${description}\n  Instructions:\n${instructions}\n`;
}

/** Preloaded bodies, in catalog order. */
async function activeBodies(skills: readonly Skill[], shown: Shown): Promise<Omit<Listed, 'listed'>> {
  const { config, inMessages, tools } = shown;
  const preloaded = preloadedOf(skills).filter(({ qualifiedId }) => !inMessages.has(qualifiedId));
  const longest = config.limits.skill_tokens;
  const sectionOf = ({ id }: Skill, body: string): string => `${delimited(`Skill: ${id}`, body)}\n\n`;
  const room = longest * PRELOADED_BODIES;
  const { bodies, unreadable } = await bodiesThatFit(preloaded, shown, room, sectionOf, longest);
  if (bodies.size === 0) return { text: null, bodies };
  const expected = preloaded.length - unreadable;
  const others = tools.load ? `; load the others with ${tools.load.call}` : '';
  const note =
    bodies.size < expected ? `${bodies.size} of ${expected} preloaded skills are given in full${others}.\n\n` : '';
  const sections = [...bodies.values()].map(({ text }) => text);
  return { text: `# Active Skills\n\nFollow their instructions.\n\n${note}${sections.join('')}`.trimEnd(), bodies };
}
