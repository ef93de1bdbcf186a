import type { CommandTerminal as Terminal } from '../../extensions/skill_registry/core/command-line.ts';
import { declaredTurn } from '../../kernel/host.ts';
import { openAgentTokens } from '../../lib/agent-tokens/index.ts';
import {
  actorOf,
  EXIT,
  type ExitStatus,
  invalidArgument,
  minuteOf,
  type Options,
} from '../../lib/command-line/index.ts';

export async function addToken(agent: string, options: Options, terminal: Terminal): Promise<ExitStatus> {
  const { root, trusted, registry } = await terminal.openRegistry(options);
  await declaredTurn(root, agent, trusted, registry.admin.agents());
  const { token, id } = openAgentTokens(root).add(agent, actorOf(options, terminal).by);
  terminal.print({ agent, id, token }, () => token);
  terminal.say(
    `It opens /agents/${agent}/mcp of mcp --http, and nothing else. It is not shown again; ${id} is its id.`,
  );
  terminal.say('Without SKILL_MCP_TOKEN every program on this machine can use /mcp, where all skills are served.');
  return EXIT.done;
}

export function listTokens(options: Options, terminal: Terminal): ExitStatus {
  const tokens = openAgentTokens(terminal.findRoot(options)).list();
  const rows = tokens.map(({ agent, id, at, by, revoked }) => [
    agent,
    id,
    revoked ? 'revoked' : 'valid',
    minuteOf(at),
    by,
  ]);
  terminal.print({ tokens }, () => terminal.table(['AGENT', 'TOKEN', 'STATE', 'WHEN', 'WHO'], rows));
  if (tokens.length === 0) terminal.say('No agent has a token for this root.');
  return EXIT.done;
}

/** An agent that does not exist any more may have a token. */
export function revokeToken(agent: string, id: string | undefined, options: Options, terminal: Terminal): ExitStatus {
  const tokens = openAgentTokens(terminal.findRoot(options));
  const revoked = tokens.revoke(agent, actorOf(options, terminal).by, id);
  if (revoked.length === 0)
    throw invalidArgument(`${agent} has no such valid token. skill-registry mcp token list shows those there are.`);
  terminal.print({ agent, revoked: revoked.map((one) => one.id) });
  terminal.say(
    `Revoked for ${agent}: ${revoked.map((one) => one.id).join(', ')}. A running server refuses them from now on.`,
  );
  return EXIT.done;
}
