import type { AgentInvocationContext, Problem } from './contract.ts';
import { describeError } from './errors.ts';

/**
 * Calls a function of somebody else, whose failure must not become a failure of the work it is told of.
 *
 * @param name - As the option or method it was handed in by is called.
 * @returns what it gave; undefined when it threw.
 */
export type CallHook = <T>(name: string, hook: () => T) => T | undefined;

/** Of one hook that fails in ever new words, so many are reported. */
const MAX_REPORTS = 20;

/**
 * @param file - Named in the problems.
 * @param report - Told of HOOK_FAILED, once for each hook and message; `details.hook` is the name. What a hook throws, and what
 *   its promise rejects with, count alike.
 */
export function createHookCaller(file: string, report: (problem: Problem) => void): CallHook {
  const reported = new Map<string, Set<string>>();
  const fail = (hook: string, error: unknown): void => {
    const reason = describeError(error).replace(/\.$/, '');
    const known = reported.get(hook) ?? new Set();
    reported.set(hook, known);
    if (known.has(reason) || known.size >= MAX_REPORTS) return;
    known.add(reason);
    const message = `${hook} failed: ${reason}. What it was called for went on without it. Mend it.`;
    report({ code: 'HOOK_FAILED', severity: 'error', file, message, details: { hook } });
  };
  return (name, hook) => {
    try {
      const given = hook();
      if (isThenable(given)) given.then(undefined, (error) => fail(name, error));
      return given;
    } catch (error) {
      fail(name, error);
      return undefined;
    }
  };
}

/** The same turn, which goes on when nobody can be told of it. */
export function guardedTurn(context: AgentInvocationContext = {}, callHook: CallHook): AgentInvocationContext {
  const { onText, onToolCall } = context;
  return {
    ...context,
    ...(onText ? { onText: (delta) => void callHook('onText', () => onText(delta)) } : {}),
    ...(onToolCall ? { onToolCall: (name, args) => void callHook('onToolCall', () => onToolCall(name, args)) } : {}),
  };
}

// --- internal ---

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
