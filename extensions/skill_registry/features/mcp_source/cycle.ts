/** The MCP capability with the `instanceOf` of our servers. */
export const INSTANCE_CAPABILITY = 'skill-registry';

/** The registries above this process. Without it, a registry that serves itself would start processes without end. */
export const CHAIN_VARIABLE = 'SKILL_REGISTRY_MCP_CHAIN';

export const MAX_CHAIN = 8;

export function chainOfProcess(): readonly string[] {
  // biome-ignore lint/style/noProcessEnv: the process that started this one has set it
  const chain = process.env[CHAIN_VARIABLE] ?? '';
  return chain.split(',').filter((instance) => instance !== '');
}
