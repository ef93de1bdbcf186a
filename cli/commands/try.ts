import type { CommandTerminal as Terminal } from '../../extensions/skill_registry/core/command-line.ts';
import { trySkill } from '../../extensions/skill_registry/host.ts';
import { declaredTurn } from '../../kernel/host.ts';
import { EXIT, type ExitStatus, type Options } from '../../lib/command-line/index.ts';

/** Status 1: the agent is given nothing. */
export async function tryOut(
  id: string,
  question: string,
  options: Options & { readonly agent?: string },
  terminal: Terminal,
): Promise<ExitStatus> {
  const { root, trusted, registry } = await terminal.openRegistry(options);
  const { agent } = options;
  const turn = agent === undefined ? {} : await declaredTurn(root, agent, trusted, registry.admin.agents());
  const given = await trySkill(registry, id, question, turn);
  const { skillId, because, line, place, total, content, approxTokens } = given;
  const who = agent ?? 'an agent without bindings';
  terminal.print({
    skill_id: skillId,
    agent: agent ?? null,
    because,
    line,
    place,
    content,
    approx_tokens: approxTokens,
  });
  if (!options.json) {
    const found = place ? `place ${place} of ${total} in a search` : 'a search does not find the skill';
    terminal.write(`Scope: ${who} ${because === null ? 'may see it' : `does not see it (${because})`}\n`);
    terminal.write(`Line, for this question: ${line ?? 'none'} (${found})\n`);
    terminal.write(content ? `Body, ${approxTokens} tokens, when the agent reads it:\n\n${content}\n` : 'Body: none\n');
  }
  return because === null ? EXIT.done : EXIT.problem;
}
