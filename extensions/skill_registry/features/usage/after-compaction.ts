import { isCodedError, type TurnContext } from 'skill-registry/kernel';
import { withNote } from '../../../../lib/text/index.ts';
import type { Core } from '../../core/feature.ts';
import type { Charge } from './loaded.ts';
import type { HadInThread, HadSkill, ThreadQuery } from './types.ts';

/** @param rows - Of this conversation, in order. Gives the bodies that were handed over last first. */
export async function hadInThread(
  { opened, reading }: Pick<Core, 'opened' | 'reading'>,
  rows: readonly Charge[],
  { agent, thread, tokens = DEFAULT_TOKENS, skills: only }: ThreadQuery,
  given: TurnContext,
): Promise<HadInThread> {
  const named = { ...given, ...(agent === undefined ? {} : { agentId: agent }), threadId: thread };
  const at = (turn: TurnContext): TurnContext => opened.reduce((now, { turns }) => turns?.at(now) ?? now, turn);
  // The state of a workflow narrows what it sees, whoever has named the conversation.
  const turn = at(at({ ...named, ownThread: true }));
  const ids = [...new Set(rows.map(({ skill }) => skill))];
  const isAsked = ({ path, skill }: Charge): boolean => path === '' && tokens > 0 && (only?.includes(skill) ?? true);
  const bodies = new Map<string, Pick<HadSkill, 'content' | 'digestNow' | 'withheld'>>();
  let left = tokens;
  for (const { skill } of rows.filter(isAsked).sort((a, b) => b.at - a.at)) {
    try {
      const read = await reading.readWithin(left, skill, turn);
      left -= read?.approxTokens ?? 0;
      const content = read && withNote({ text: read.content, leftOut: read.hiddenLeftOut ?? 0 });
      bodies.set(skill, content === undefined ? { withheld: 'tokens' } : { content, digestNow: read?.digest ?? '' });
    } catch (error) {
      if (!isCodedError(error)) throw error;
      bodies.set(skill, { withheld: error.code.endsWith('_TOKENS_SPENT') ? 'tokens' : 'unavailable' });
    }
  }
  const skills = ids.map((skillId): HadSkill => {
    const own = rows.filter(({ skill }) => skill === skillId);
    const digest = own.find(({ path }) => path === '')?.digest;
    const files = own.flatMap(({ path }) => (path === '' ? [] : path));
    return { skillId, ...(digest ? { digest } : {}), files, ...bodies.get(skillId) };
  });
  return { skills, text: skills.length === 0 ? '' : [HEAD, ...skills.map(textOf)].join('\n\n') };
}

// --- internal ---

const DEFAULT_TOKENS = 8000;
const HEAD =
  'This conversation had loaded these skills, in this order. Their instructions are given as they are today.';

function textOf({ skillId, digest, digestNow, content, files, withheld }: HadSkill): string {
  const changed = digestNow !== undefined && digestNow !== digest;
  return [
    `## Skill ${skillId}`,
    ...(changed ? [`It was changed meanwhile: ${digest ?? 'not read'} then, ${digestNow} now.`] : []),
    ...(withheld === undefined ? [] : [WITHHELD[withheld]]),
    ...(files.length > 0 ? [`Its files that were read: ${files.map((file) => JSON.stringify(file)).join(', ')}.`] : []),
    ...(content === undefined ? [] : [content]),
  ].join('\n');
}

const WITHHELD = {
  unavailable: 'It is not available to you now.',
  tokens: 'Its text is left out here, to save tokens: read_skill gives it.',
} as const;
