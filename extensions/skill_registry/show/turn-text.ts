import type { TurnContext } from 'skill-registry/kernel';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Meaning } from '../search/meaning/meaning.ts';
import type { Searcher } from '../search/searcher.ts';
import type { Skill } from '../skill/skill.ts';
import { namedTools } from './formats.ts';
import { systemText } from './system-text.ts';
import { createThreadChoices } from './thread-choices.ts';
import type { ToldBodies } from './told-bodies.ts';

export interface TurnTextOptions {
  readonly config: Pick<SkillRegistryConfig, 'inject' | 'catalog' | 'limits' | 'tools'>;
  readonly searcher: Searcher;
  /** Absent: words alone decide. */
  readonly meaning: Pick<Meaning, 'ready' | 'likeness'> | undefined;
  /** The body of a skill; undefined when it has just gone. */
  readonly body: (skill: Skill) => string | undefined;
  readonly told: ToldBodies;
}

/** What an agent sees in a turn. */
export interface Seen {
  /** The same array for the same scope. */
  readonly skills: readonly Skill[];
  /** Qualified ids of those whose bodies stand in its instructions. */
  readonly given: ReadonlySet<string>;
}

export type TurnText = (seen: Seen, prompt: string, turn: TurnContext) => Promise<string | null>;

/** A turn waits so long for the index, in milliseconds; then it chooses among what is indexed. Only a cold start is that slow. */
const MAX_WAIT_MS = 1000;

/** What the system prompt of a turn says about skills; search is asked only when not all of them fit. */
export function createTurnText(options: TurnTextOptions): TurnText {
  const { config, body, told } = options;
  const threads = createThreadChoices();
  return async ({ skills, given }, prompt, turn) => {
    let found: Promise<Relevance> | undefined;
    const relevance = (): Promise<Relevance> => {
      found ??= relevanceOf(skills, prompt, options);
      return found;
    };
    const others = given.size === 0 ? skills : skills.filter(({ qualifiedId }) => !given.has(qualifiedId));
    const { text, bodies } = await systemText(others, {
      tools: namedTools(turn.tools ?? config.tools),
      inMessages: told.inMessages(turn),
      inject: config.inject,
      catalog: config.catalog,
      maxBodyTokens: config.limits.skill_tokens,
      rank: async () => (await relevance()).ranked,
      fitting: async () => (await relevance()).fitting,
      thread: threads.of(turn),
      body,
    });
    told.inSystemText(new Set([...given, ...bodies]), turn);
    return text;
  };
}

// --- internal ---

interface Relevance {
  /** The pinned ones first. */
  readonly ranked: readonly Skill[];
  readonly fitting: readonly Skill[];
}

async function relevanceOf(
  skills: readonly Skill[],
  prompt: string,
  { searcher, meaning, config }: TurnTextOptions,
): Promise<Relevance> {
  const { pinned } = config.catalog;
  const kept = pinned.length > 0 ? skills.filter((skill) => pinned.includes(skill.id)) : [];
  // Nothing is relevant to nothing, and no index is needed to know it.
  if (prompt.trim() === '') return { ranked: kept, fitting: [] };
  await Promise.all([atMost(searcher.prepare(skills), MAX_WAIT_MS), meaning?.ready(prompt)]);
  const relevant = searcher.relevant(skills, prompt, meaning?.likeness(skills, prompt));
  const others = relevant.filter(({ skill }) => !kept.includes(skill));
  return {
    ranked: [...kept, ...others.map(({ skill }) => skill)],
    fitting: others.filter(({ fits }) => fits).map(({ skill }) => skill),
  };
}

async function atMost(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
