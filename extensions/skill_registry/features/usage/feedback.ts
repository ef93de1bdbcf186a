import type { Command } from 'skill-registry/kernel';
import type { Outcome, Usage } from './types.ts';

/** `/feedback helped`: notes it for the skills that the agent of this conversation has loaded. */
export function feedbackCommand(record: Usage['record']): Command {
  const choices: readonly string[] = ['helped', 'did_not'];
  return {
    name: 'feedback',
    usage: 'helped|did_not',
    choices,
    description: 'Notes whether the skills loaded in this conversation have helped; no word of it is kept',
    async execute(args, { agentId: agent, threadId: thread }) {
      if (!choices.includes(args)) return { kind: 'print', text: 'Say /feedback helped or /feedback did_not.' };
      const ids = thread === undefined ? [] : await record({ agent, thread, outcome: args as Outcome });
      const text = ids.length > 0 ? `Noted of ${ids.join(', ')}.` : 'No skill was loaded here, so nothing is noted.';
      return { kind: 'print', text };
    },
  };
}
