import { loadTokenCounter } from 'skill-registry/kernel';
import type { Skill } from '../api.ts';
import type { SkillRegistryConfig } from '../config.ts';
import { catalogText } from './catalog-text.ts';
import { ENFORCEMENT } from './enforcement.ts';
import { BULLETS, XML } from './formats.ts';

export interface SystemTextOptions {
  readonly inject: SkillRegistryConfig['inject'];
  readonly catalog: SkillRegistryConfig['catalog'];
  /**
   * A longer body is never put into a prompt; its catalog entry stands for it. Preloaded bodies together have at most four
   * times as many.
   */
  readonly maxBodyTokens: number;
  /** Which of the visible skills matter most to the prompt, best first; the pinned ones before all others. */
  readonly rank: () => readonly Skill[];
  /** The body of a skill; undefined when it has just gone. */
  readonly body: (skill: Skill) => string | undefined;
}

/**
 * What a system prompt carries about skills: the catalog, or bodies where `inject` says so, and the bodies of preloaded
 * skills. Null for nothing.
 *
 * @param skills - What is visible in this turn.
 */
export async function systemText(skills: readonly Skill[], options: SystemTextOptions): Promise<string | null> {
  const { active, wanted } = await activeBodies(skills, options);
  const listed = await listedText(skills, active, options);
  const parts = [listed, activeText(active, wanted)].filter((part) => part !== null);
  return parts.length > 0 ? parts.join('\n\n') : null;
}

// --- internal ---

/** The most bytes one token stands for (a run of blanks): what has more is not even read to count it. */
const TOKEN_BYTES = 128;
/** So many bodies are read in vain before it is enough: with thousands of skills most are far from relevant. */
const MAX_MISSES = 20;
/** Preloaded bodies together take as much as so many of the longest. */
const PRELOADED_BODIES = 4;
/** No block is smaller. */
const MIN_BLOCK_TOKENS = 12;

async function listedText(
  skills: readonly Skill[],
  active: ReadonlyMap<Skill, string>,
  options: SystemTextOptions,
): Promise<string | null> {
  if (options.inject === 'off') return null;
  // An instruction that stands there already is not said twice.
  if (options.inject === 'bodies') {
    return bodiesText(
      skills.filter((skill) => !active.has(skill)),
      options,
    );
  }
  return enforced(await catalogOf(skills, options, options.catalog.budget_tokens), options);
}

function catalogOf(
  skills: readonly Skill[],
  { catalog, rank }: SystemTextOptions,
  budgetTokens: number,
): Promise<string | null> {
  const pinned = skills.filter((skill) => catalog.pinned.includes(skill.id)).length;
  return catalogText(skills, { budgetTokens, rank, pinned, format: catalog.format === 'xml' ? XML : BULLETS });
}

function enforced(text: string | null, { catalog }: SystemTextOptions): string | null {
  return text !== null && catalog.enforcement ? `${ENFORCEMENT}\n\n${text}` : text;
}

/**
 * The mode of the ak-coder design: instructions stand in every prompt, for as many skills as the budget holds, the most
 * relevant first. The others follow as catalog entries, for which a quarter of the budget is kept.
 */
async function bodiesText(skills: readonly Skill[], options: SystemTextOptions): Promise<string | null> {
  if (skills.length === 0) return null;
  const { budget_tokens: budget } = options.catalog;
  const count = await loadTokenCounter();
  const all = chooseBodies(skills, options, budget - HEADER_TOKENS, count);
  if (all.size === skills.length) return layOut(skills, all);
  for (let share = 0.75; share > 0; share -= 0.25) {
    const chosen = chooseBodies(skills, options, budget * share - HEADER_TOKENS, count);
    if (chosen.size === 0) break;
    const note = `Instructions of ${chosen.size} of ${skills.length} skills are given; the others are listed.`;
    const bodies = `${layOut(skills, chosen)}\n\n${note}\n\n`;
    const rest = skills.filter((skill) => !chosen.has(skill));
    const catalog = await catalogOf(rest, options, Math.max(budget - count(bodies), 0));
    if (count(bodies + catalog) <= budget) return `${bodies}${enforced(catalog, options)}`;
  }
  return enforced(await catalogOf(skills, options, budget), options);
}

const HEADER = 'Available Skills:';
const HEADER_TOKENS = 4;

/** Blocks of the most relevant skills that fit, by skill. */
function chooseBodies(
  skills: readonly Skill[],
  options: SystemTextOptions,
  budget: number,
  count: (text: string) => number,
): ReadonlyMap<Skill, string> {
  let left = budget;
  const chosen = new Map<Skill, string>();
  const wanted = new Set(skills);
  let misses = 0;
  for (const skill of new Set([...options.rank(), ...skills])) {
    if (left < MIN_BLOCK_TOKENS || misses >= MAX_MISSES) break;
    if (!wanted.has(skill) || skill.bytes > left * TOKEN_BYTES) continue;
    const body = options.body(skill);
    const block = body === undefined ? undefined : blockOf(skill, body);
    const tokens = block === undefined ? Number.POSITIVE_INFINITY : count(block);
    if (block === undefined || tokens > left) {
      misses++;
      continue;
    }
    left -= tokens;
    chosen.set(skill, block);
  }
  return chosen;
}

function layOut(skills: readonly Skill[], chosen: ReadonlyMap<Skill, string>): string {
  return `${HEADER}${skills.map((skill) => chosen.get(skill) ?? '').join('')}`.trimEnd();
}

function blockOf({ id, description }: Skill, body: string): string {
  return `\n- Skill Name: ${id}\n  Description: ${description}\n  Instructions:\n${body}\n`;
}

interface Active {
  /** Sections by skill, in order of the catalog. */
  readonly active: ReadonlyMap<Skill, string>;
  /** How many skills are to be there. */
  readonly wanted: number;
}

/** The bodies of preloaded skills, as far as each is no longer than a body may be and they fit together. */
async function activeBodies(skills: readonly Skill[], options: SystemTextOptions): Promise<Active> {
  const active = new Map<Skill, string>();
  const preloaded = skills.filter(({ preload }) => preload);
  let wanted = preloaded.length;
  let left = options.maxBodyTokens * PRELOADED_BODIES;
  let misses = 0;
  for (const skill of preloaded) {
    if (misses >= MAX_MISSES) break;
    if (skill.bytes > Math.min(options.maxBodyTokens, left) * TOKEN_BYTES) continue;
    const body = options.body(skill);
    if (body === undefined) {
      wanted--;
      continue;
    }
    const count = await loadTokenCounter();
    if (count(body) > options.maxBodyTokens) continue;
    const section = `## ${skill.id}\n\n${body}`;
    const tokens = count(`${section}\n\n`);
    if (tokens > left) {
      misses++;
      continue;
    }
    left -= tokens;
    active.set(skill, section);
  }
  return { active, wanted };
}

function activeText(active: ReadonlyMap<Skill, string>, wanted: number): string | null {
  if (active.size === 0) return null;
  const note = `${active.size} of ${wanted} preloaded skills are given in full; load the others with read_skill(skill_id).`;
  const notes = active.size < wanted ? [note] : [];
  return ['# Active Skills\n\nFollow their instructions.', ...notes, ...active.values()].join('\n\n');
}
