import type { TurnContext } from '../contract.ts';

/** As `declaredTurn` of declared-agents.ts, which is loaded only then: most doors serve no agent in particular. */
export async function declaredTurn(rootDir: string, agentId: string, trusted = true): Promise<TurnContext> {
  return (await import('./declared-agents.ts')).declaredTurn(rootDir, agentId, trusted);
}

/** As `listedExtensions` of declared-agents.ts. */
export async function listedExtensions(
  rootDir: string,
  trusted: boolean,
): Promise<ReturnType<typeof import('./declared-agents.ts').listedExtensions>> {
  return (await import('./declared-agents.ts')).listedExtensions(rootDir, trusted);
}
