import { takeBreak } from '../../../../lib/breaks/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import { runsOf, termsOf } from '../../../../lib/text-index/index.ts';
import type { Happened } from '../../core/events.ts';
import type { Core } from '../../core/feature.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { namesOf } from './limits.ts';
import { type Fit, recordedId } from './recorder.ts';

interface Fits {
  /** Called during a turn, which no search may delay. */
  readonly asked: Happened['offered'];
  /** Searches for what was asked since the last call; not while the registry closes, which reads no skill then. */
  settle(): Promise<void>;
}

/** @param mayRecord - Asked before each. @param onNoted - Called after each. @param found - Receives what fitted. */
export function createFits(core: Core, mayRecord: () => boolean, onNoted: () => void, found: Fit[]): Fits {
  const { catalog, closing, config, scopes, searcher } = core;
  const waiting: (() => readonly Fit[])[] = [];
  const keeps = typeof config.usage === 'object';
  return {
    asked(offered, turn, asked) {
      const query = asked?.slice(0, MAX_QUERY).trim();
      const { agent, thread } = namesOf(turn);
      // Without a conversation nobody knows what was loaded then.
      if (!query || thread === '' || turn.preview || waiting.length >= MAX_WAITING || !mayRecord()) return;
      const now = catalog.noted;
      const ids = new Set(offered.map((one) => recordedId(one, now)));
      const row = { time: Date.now(), agent: agent || null, thread, query: keeps ? query : null };
      waiting.push(() =>
        fitting(searcher, scopes.visible(turn), query)
          .map(({ skill, words }) => ({ ...row, skill: recordedId(skill, now), words }))
          .filter(({ skill, words }) => ids.has(skill) && words !== ''),
      );
      onNoted();
    },
    async settle() {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        await takeBreak();
        if (closing.signal.aborted) return;
        found.push(...withFallback(next, []).slice(0, MAX_FITS - found.length));
      }
    },
  };
}

// --- internal ---

/** Characters, as of a search. */
const MAX_QUERY = 2000;
/** Each takes a search. */
const MAX_WAITING = 100;
const MAX_FITS = 10_000;
/** As many as a later prompt adds to the catalog of its conversation. */
const BEST = 5;
const MAX_WORDS = 12;
const MAX_WORD = 48;

function fitting(searcher: Core['searcher'], skills: ReturnType<Core['scopes']['visible']>, query: string) {
  const { hits, terms } = searcher.search(skills, query);
  const strong = hits.slice(0, BEST).filter(({ weak }) => !weak);
  return strong.map(({ skill }) => ({ skill, words: ownWords(skill, terms) }));
}

/** Words of the skill, as it has them. None comes from the query. */
function ownWords({ id, name, description, tags }: Skill, terms: ReadonlySet<string>): string {
  const own = runsOf([id, name, description, ...tags].join(' ').toLowerCase());
  const matching = own.filter((word) => word.length <= MAX_WORD && termsOf(word).some((term) => terms.has(term)));
  return [...new Set(matching)].slice(0, MAX_WORDS).join(' ');
}
