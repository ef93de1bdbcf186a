import type { TurnContext } from './contract.ts';

/** As `declaredTurn` of declared-agents.ts, which is loaded only then: most doors serve no agent in particular. */
export async function declaredTurn(rootDir: string, agentId: string, trusted = true): Promise<TurnContext> {
  return (await import('./declared-agents.ts')).declaredTurn(rootDir, agentId, trusted);
}
