import {
  type ExtensionRecord,
  isCommandProvider,
  isSkillProvider,
  isToolProvider,
  problemOf,
} from '../boot/extension-record.ts';
import type { Problem, SkillProvider, Tool } from '../contract.ts';
import { describeError } from '../errors.ts';
import type { NamedCommand } from './commands.ts';
import { inputSchemaOf } from './tools.ts';

/** What the running extensions offer at this moment; asked anew each time, because a provider may change its mind. */
export interface Offers {
  tools(): readonly { readonly extensionId: string; readonly tool: Tool }[];
  commands(): readonly NamedCommand[];
  skills(): SkillProvider | undefined;
}

/** @param report - Told of TOOL_PROVIDER_FAILED, COMMAND_PROVIDER_FAILED and TOOL_NAME_TAKEN. */
export function createOffers(running: () => readonly ExtensionRecord[], report: (problem: Problem) => void): Offers {
  return {
    tools() {
      const byName = new Map<string, { extensionId: string; tool: Tool }>();
      for (const { found, instance } of running()) {
        if (!isToolProvider(instance)) continue;
        for (const tool of ask(found, 'TOOL_PROVIDER_FAILED', () => instance.getTools(), report)) {
          if (!isUsable(tool, found, report)) continue;
          const earlier = byName.get(tool.name);
          if (earlier) report(nameTaken(found, tool.name, earlier.extensionId));
          else byName.set(tool.name, { extensionId: found.manifest.id, tool });
        }
      }
      // An agent is offered as a tool too; of the two, the tool keeps the name.
      for (const { found, descriptor } of running()) {
        const tool = descriptor?.integrationMode === 'tool' ? byName.get(descriptor.id) : undefined;
        if (tool) report(nameTaken(found, tool.tool.name, tool.extensionId));
      }
      return [...byName.values()];
    },
    commands() {
      return running().flatMap(({ found, instance }) => {
        if (!isCommandProvider(instance)) return [];
        const commands = ask(found, 'COMMAND_PROVIDER_FAILED', () => instance.getCommands(), report);
        return commands.map((command) => ({ extensionId: found.manifest.id, command }));
      });
    },
    skills: () =>
      running()
        .map((record) => record.instance as unknown)
        .find(isSkillProvider),
  };
}

/** Passes events between extensions. A handler that throws or rejects is reported with its owner and does not stop the rest. */
export interface EventBus {
  emit(event: string, payload: unknown): void;
  /** @returns ends the subscription. */
  subscribe(owner: string, event: string, handler: EventHandler): () => void;
  /** Ends every subscription of one extension. */
  unsubscribeAll(owner: string): void;
}

export type EventHandler = (payload: unknown) => void | Promise<void>;

/** @param onFailure - Called once per failed handler call; must not throw. */
export function createEventBus(onFailure: (owner: string, event: string, error: unknown) => void): EventBus {
  const subscriptions = new Set<{ owner: string; event: string; handler: EventHandler }>();
  return {
    emit(event, payload) {
      for (const subscription of [...subscriptions]) {
        if (subscription.event !== event) continue;
        const failed = (error: unknown): void => onFailure(subscription.owner, event, error);
        try {
          // A handler may return anything: an arrow function returns the value of its expression.
          Promise.resolve(subscription.handler(payload)).catch(failed);
        } catch (error) {
          failed(error);
        }
      }
    },
    subscribe(owner, event, handler) {
      const subscription = { owner, event, handler };
      subscriptions.add(subscription);
      return () => subscriptions.delete(subscription);
    },
    unsubscribeAll(owner) {
      for (const subscription of subscriptions) if (subscription.owner === owner) subscriptions.delete(subscription);
    },
  };
}

// --- internal ---

function ask<T>(
  found: ExtensionRecord['found'],
  code: string,
  question: () => readonly T[],
  report: (problem: Problem) => void,
): readonly T[] {
  try {
    const answer: unknown = question();
    if (!Array.isArray(answer)) throw new TypeError(`expected a list, got ${String(answer)}`);
    if (answer.some((one) => typeof one?.name !== 'string')) throw new TypeError('every entry needs a name');
    return answer;
  } catch (error) {
    report(problemOf(found, code, `could not say what it offers: ${describeError(error)}`));
    return [];
  }
}

/** A model's endpoint refuses a whole request for one tool it cannot read. */
function isUsable(tool: Tool, found: ExtensionRecord['found'], report: (problem: Problem) => void): boolean {
  try {
    if (!/^[a-z][a-z0-9_]*$/.test(tool.name)) throw new TypeError('its name has to match ^[a-z][a-z0-9_]*$');
    inputSchemaOf(tool);
    return true;
  } catch (error) {
    const what = `offers a tool "${tool.name}" that is left out: ${describeError(error)}`;
    report(problemOf(found, 'TOOL_PROVIDER_FAILED', what));
    return false;
  }
}

function nameTaken(found: ExtensionRecord['found'], tool: string, winner: string): Problem {
  const what = `offers a tool "${tool}", a name that "${winner}" already has; only that one is used. Rename it`;
  return problemOf(found, 'TOOL_NAME_TAKEN', what);
}
