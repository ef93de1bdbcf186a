import { type ExtensionRecord, problemOf, provides } from '../boot/extension-record.ts';
import type { KernelState } from '../boot/kernel-state.ts';
import type { Command, CommandProvider, KernelApi, Problem, SkillProvider, Tool, ToolProvider } from '../contract.ts';
import { describeError } from '../errors.ts';
import type { NamedCommand } from './commands.ts';
import { inputSchemaOf } from './tools.ts';

// The providers are asked at each call, because their answers may change.

/** Reports TOOL_PROVIDER_FAILED and TOOL_NAME_TAKEN. */
export function offeredTools({ running, messages }: KernelState): ReturnType<KernelApi['tools']> {
  const { report } = messages;
  const byName = new Map<string, { extensionId: string; tool: Tool }>();
  for (const { found, instance } of running()) {
    if (!provides<ToolProvider>(instance, 'getTools')) continue;
    for (const tool of ask(found, 'getTools', () => instance.getTools(), report)) {
      if (!isUsable(tool, found, report)) continue;
      const earlier = byName.get(tool.name);
      if (earlier) report(nameTaken(found, tool.name, earlier.extensionId));
      else byName.set(tool.name, { extensionId: found.manifest.id, tool });
    }
  }
  // An agent with this mode is also a tool. A tool with the same name wins.
  for (const { found, descriptor } of running()) {
    const tool = descriptor?.integrationMode === 'tool' ? byName.get(descriptor.id) : undefined;
    if (tool) report(nameTaken(found, tool.tool.name, tool.extensionId));
  }
  return [...byName.values()];
}

/** Reports COMMAND_PROVIDER_FAILED. */
export function offeredCommands({ running, messages: { report } }: KernelState): readonly NamedCommand[] {
  return running().flatMap(({ found, instance }) => {
    if (!provides<CommandProvider>(instance, 'getCommands')) return [];
    return ask(found, 'getCommands', () => instance.getCommands(), report)
      .filter((command) => isCallable(command, found, report))
      .map((command) => ({ extensionId: found.manifest.id, command }));
  });
}

export function skillProvider({ running }: KernelState): SkillProvider | undefined {
  return running()
    .map((record) => record.instance as unknown)
    .find((one) => provides<SkillProvider>(one, 'getSkillContent', 'onSkillsChanged'));
}

// --- internal ---

const PROVIDER_FAILED = { getCommands: 'COMMAND_PROVIDER_FAILED', getTools: 'TOOL_PROVIDER_FAILED' } as const;

type Found = ExtensionRecord['found'];
type Report = KernelState['messages']['report'];

function ask<T>(
  found: Found,
  method: keyof typeof PROVIDER_FAILED,
  question: () => readonly T[],
  report: Report,
): readonly T[] {
  try {
    const answer: unknown = question();
    if (answer instanceof Promise) {
      // Its rejection must not end the process.
      answer.catch(() => {});
      throw new TypeError('it is async; it has to answer with a list at once');
    }
    if (!Array.isArray(answer)) throw new TypeError(`expected a list, got ${String(answer)}`);
    if (answer.some((one) => typeof one?.name !== 'string')) throw new TypeError('every entry needs a name');
    return answer;
  } catch (error) {
    const reason = describeError(error).replace(/\.$/, '');
    const what = `offers nothing by ${method}, which failed: ${reason}. Correct that function`;
    report(problemOf(found, PROVIDER_FAILED[method], what));
    return [];
  }
}

/** One invalid tool would make an endpoint refuse the whole request. */
function isUsable(tool: Tool, found: Found, report: Report): boolean {
  try {
    if (!/^[a-z][a-z0-9_]*$/.test(tool.name)) throw new TypeError('its name has to match ^[a-z][a-z0-9_]*$');
    if (!(tool.input instanceof Object && '_zod' in tool.input))
      throw new TypeError('its input is no zod schema, such as z.strictObject({})');
    if (typeof tool.execute !== 'function') throw new TypeError('it has no function execute');
    inputSchemaOf(tool);
    return true;
  } catch (error) {
    const what = `offers a tool "${tool.name}" that is left out: ${describeError(error).replace(/\.$/, '')}. Correct it`;
    report(problemOf(found, 'TOOL_PROVIDER_FAILED', what));
    return false;
  }
}

function isCallable({ name, execute }: Command, found: Found, report: Report): boolean {
  // A name with a slash or blank in front would be in /help, but no line could call it.
  const isNamed = /^[^\s/]/.test(name);
  if (isNamed && typeof execute === 'function') return true;
  const reason = isNamed ? 'it has no function execute' : 'write its name without the slash';
  const what = `offers a command "${name}" that is left out: ${reason}. Correct it`;
  report(problemOf(found, 'COMMAND_PROVIDER_FAILED', what));
  return false;
}

function nameTaken(found: Found, tool: string, winner: string): Problem {
  const what = `offers a tool "${tool}", a name that "${winner}" already has; only that one is used. Rename one of the two tools`;
  return problemOf(found, 'TOOL_NAME_TAKEN', what);
}
