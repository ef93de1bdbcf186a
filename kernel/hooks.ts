import type { AgentInvocationContext, Problem } from './contract.ts';
import { describeError } from './errors.ts';

/** Calls a function of the host. When it throws, the result is undefined. @param name - Of the option or method. */
export type CallHook = <T>(name: string, hook: () => T) => T | undefined;

/** Different messages per hook. */
const MAX_REPORTS = 20;

/** @param report - Gets HOOK_FAILED, with the name in `details.hook`, once for each hook and message. */
export function createHookCaller(file: string, report: (problem: Problem) => void): CallHook {
  const reported = new Map<string, Set<string>>();
  const fail = (hook: string, error: unknown): void => {
    const reason = describeError(error).replace(/\.$/, '');
    const reasons = reported.get(hook) ?? new Set();
    reported.set(hook, reasons);
    if (reasons.has(reason) || reasons.size >= MAX_REPORTS) return;
    reasons.add(reason);
    const message = `${hook} failed: ${reason}. The work that called it continued. Correct that function.`;
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
