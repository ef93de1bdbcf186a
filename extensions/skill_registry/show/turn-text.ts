import type { TurnContext } from 'skill-registry/kernel';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Meaning } from '../search/meaning/meaning.ts';
import type { Searcher } from '../search/searcher.ts';
import type { Skill } from '../skill/skill.ts';
import { namedTools } from './formats.ts';
import type { SentBodies } from './sent-bodies.ts';
import { systemText } from './system-text.ts';
import { createThreadChoices } from './thread-choices.ts';

export interface TurnTextOptions {
  readonly config: Pick<SkillRegistryConfig, 'inject' | 'catalog' | 'limits' | 'tools'>;
  readonly searcher: Searcher;
  /** Absent: search uses words only. */
  readonly meaning: Pick<Meaning, 'ready' | 'likeness'> | undefined;
  readonly sentBodies: SentBodies;
  /** Gets what the text of a turn contains: named skills, and the tokens of each body. */
  readonly onShown: (listed: readonly Skill[], bodies: ReadonlyMap<Skill, number>, turn: TurnContext) => void;
}

export interface VisibleSkills {
  /** The same array for the same scope. */
  readonly skills: readonly Skill[];
  /** Qualified ids of skills whose bodies are in the agent's instructions. */
  readonly given: ReadonlySet<string>;
  /** Number of skills that are not inspected yet. */
  readonly pending: number;
  readonly body: (skill: Skill) => Promise<string | undefined>;
}

export type TurnText = (seen: VisibleSkills, prompt: string, turn: TurnContext) => Promise<string | null>;

/** How long a turn waits for the index (a start without a cache); then it uses the indexed skills only. */
const MAX_WAIT_MS = 1000;

/** Searches only when not all skills fit. */
export function createTurnText(options: TurnTextOptions): TurnText {
  const { config, sentBodies } = options;
  const threads = createThreadChoices();
  return async ({ skills, given, pending, body }, prompt, turn) => {
    let found: Promise<Relevance> | undefined;
    const relevance = (): Promise<Relevance> => {
      found ??= relevanceOf(skills, prompt, options);
      return found;
    };
    const others = given.size === 0 ? skills : skills.filter(({ qualifiedId }) => !given.has(qualifiedId));
    const { text, bodies, listed } = await systemText(others, {
      tools: namedTools(turn.tools ?? config.tools),
      remoteClient: turn.remoteClient,
      inMessages: sentBodies.inMessages(turn),
      inject: config.inject,
      catalog: config.catalog,
      maxBodyTokens: config.limits.skill_tokens,
      hasPrompt: prompt.trim() !== '',
      pending,
      unranked: async () => (await relevance()).unranked,
      rank: async () => (await relevance()).ranked,
      fitting: async () => (await relevance()).fitting,
      thread: threads.of(turn),
      body,
    });
    sentBodies.inSystemText(new Set([...given, ...[...bodies.keys()].map(({ qualifiedId }) => qualifiedId)]), turn);
    options.onShown(listed, bodies, turn);
    return text;
  };
}

// --- internal ---

interface Relevance {
  /** Pinned skills first. */
  readonly ranked: readonly Skill[];
  readonly fitting: readonly Skill[];
  /** Number of skills that are in no index yet. */
  readonly unranked: number;
}

async function relevanceOf(
  skills: readonly Skill[],
  prompt: string,
  { searcher, meaning, config }: TurnTextOptions,
): Promise<Relevance> {
  const { pinned } = config.catalog;
  const kept = pinned.length > 0 ? skills.filter((skill) => pinned.includes(skill.id)) : [];
  // No skill is relevant to an empty prompt, and no index is needed.
  if (prompt.trim() === '') return { ranked: kept, fitting: [], unranked: 0 };
  await Promise.all([atMost(searcher.prepare(skills), MAX_WAIT_MS), meaning?.ready(prompt)]);
  const unranked = searcher.unindexed(skills);
  const relevant = searcher.relevant(skills, prompt, meaning?.likeness(skills, prompt));
  const others = relevant.filter(({ skill }) => !kept.includes(skill));
  return {
    ranked: [...kept, ...others.map(({ skill }) => skill)],
    fitting: others.filter(({ fits }) => fits).map(({ skill }) => skill),
    unranked,
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
