import type { TurnContext } from 'skill-registry/kernel';
import { type CheckedToken, openAgentTokens } from '../../lib/agent-tokens/index.ts';
import type { SkillRegistry } from '../skill_registry/api.ts';
import { createSkillMcpDoor, type SkillMcpDoor, type SkillMcpOptions } from './door.ts';

/** The agents that `serveHttp` serves at `/agents/<id>/mcp`, each with its scope and with tokens of its own. */
export interface AgentDoors {
  /** Undefined: there is no such agent. Made when it is first asked for. */
  of(agentId: string): SkillMcpDoor | undefined;
  /** Whom a bearer token is of, as of now. */
  check(token: string | undefined): CheckedToken;
  /** Closes every door. */
  close(): void;
}

/**
 * @param root - Whose tokens open the doors; `skill-registry mcp token add` issues them.
 * @param agents - Each with `agentId` and what it is bound to.
 */
export function createAgentDoors(
  registry: SkillRegistry,
  root: string,
  agents: readonly TurnContext[],
  options: Omit<SkillMcpOptions, 'turn' | 'thread' | 'local'> = {},
): AgentDoors {
  const turns = new Map(agents.map((turn) => [turn.agentId, turn]));
  const doors = new Map<string, SkillMcpDoor>();
  const { check } = openAgentTokens(root);
  return {
    check,
    of(agentId) {
      const turn = turns.get(agentId);
      const door = doors.get(agentId) ?? (turn && createSkillMcpDoor(registry, { ...options, turn }));
      if (door) doors.set(agentId, door);
      return door;
    },
    close() {
      for (const door of doors.values()) door.close();
    },
  };
}
