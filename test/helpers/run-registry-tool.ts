import type { SkillRegistry } from 'skill-registry';
import { type Kernel, runTool, type TurnContext } from 'skill-registry/kernel';

/** Runs one of the registry's tools as every door does. @returns what a model is given. */
export function runRegistryTool(
  registry: SkillRegistry,
  name: string,
  args: unknown,
  turn: TurnContext = {},
): Promise<Readonly<Record<string, unknown>>> {
  const tool = registry.tools().find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`the registry has no tool ${name}`);
  return runTool(tool, args, { turn, signal: new AbortController().signal });
}

/** Runs a tool of any extension of a kernel. @returns what a model is given. */
export function runKernelTool(
  kernel: Kernel,
  name: string,
  args: unknown,
  turn: TurnContext = {},
): Promise<Readonly<Record<string, unknown>>> {
  const found = kernel.tools().find(({ tool }) => tool.name === name);
  if (!found) throw new Error(`the kernel has no tool ${name}`);
  return runTool(found.tool, args, { turn, signal: new AbortController().signal });
}
