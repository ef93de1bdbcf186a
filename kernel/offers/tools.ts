import type { z } from 'zod';
import { zod } from '../../lib/arguments/index.ts';
import type { Tool, ToolCall, ToolResult } from '../contract.ts';
import { isCodedError } from '../errors.ts';
import { withoutKnownPaths, withoutPaths } from '../without-paths.ts';

/**
 * Declares a tool. The argument types of `execute` follow from `input`.
 * @example
 * defineTool({
 *   name: 'add', description: 'Adds two numbers.', input: z.object({ a: z.number(), b: z.number() }),
 *   execute: async ({ a, b }) => ({ success: true, sum: a + b }),
 * })
 */
export function defineTool<Schema extends z.ZodType>(definition: {
  readonly name: string;
  readonly description: string;
  readonly input: Schema;
  execute(args: z.output<Schema>, call: ToolCall): Promise<ToolResult>;
}): Tool {
  return definition as unknown as Tool;
}

export function toolError(code: string, message: string): ToolResult {
  return { success: false, error: { code, message } };
}

/**
 * For every part that offers tools. Never rejects. Codes: INVALID_ARGUMENT, that of a thrown CodedError, TOOL_FAILED,
 * TOOL_RESULT_INVALID. Messages contain no paths of this machine (`withoutPaths`).
 */
export async function runTool(tool: Tool, args: unknown, call: ToolCall): Promise<ToolResult> {
  try {
    const parsed = await tool.input.safeParseAsync(args);
    if (!parsed.success) return toolError('INVALID_ARGUMENT', `${tool.name}: ${zod().prettifyError(parsed.error)}`);
    const result: unknown = await tool.execute(parsed.data, call);
    if (isToolResult(result)) return result.success ? result : errorWithoutPaths(result);
    return toolError(
      'TOOL_RESULT_INVALID',
      `Tool ${tool.name} ran and returned ${kindOf(result)}, so what it did is not known. Its author: return { success: true, ... } or toolError(code, message).`,
    );
  } catch (error) {
    const message = withoutPaths(error);
    return isCodedError(error)
      ? toolError(error.code, message)
      : toolError('TOOL_FAILED', `Tool ${tool.name} failed: ${message.replace(/\.$/, '')}. ${TOOL_ADVICE}`);
  }
}

/** JSON Schema of the arguments. @throws When JSON Schema cannot express `input`, such as a date. */
export function inputSchemaOf({ input }: Tool): object {
  let schema = schemas.get(input);
  if (!schema) {
    schema = zod().toJSONSchema(input, { io: 'input' });
    schemas.set(input, schema);
  }
  return schema;
}

// --- internal ---

/** By `input`: tools are listed in every turn, and their schemas rarely change. */
const schemas = new WeakMap<object, object>();

function errorWithoutPaths(result: Extract<ToolResult, { success: false }>): ToolResult {
  const message = withoutKnownPaths(result.error.message);
  return message === result.error.message ? result : { ...result, error: { ...result.error, message } };
}

/** For the model: after an unexpected error it is unknown what was done. */
const TOOL_ADVICE = 'Part of it may have been done. Call it again only with other arguments; else tell the user.';

/** It contains no argument: that may be a secret or a whole file. */
function kindOf(result: unknown): string {
  if (typeof result !== 'object' || result === null) return result == null ? 'nothing' : `a ${typeof result}`;
  if (!('success' in result)) return 'no "success"';
  return result.success === false
    ? '{ success: false } without an "error" that has "code" and "message" as text'
    : '"success" that is neither true nor false';
}

function isToolResult(value: unknown): value is ToolResult {
  if (typeof value !== 'object' || value === null || !('success' in value)) return false;
  if (value.success === true) return true;
  const { error } = value as { error?: { code?: unknown; message?: unknown } | null };
  return value.success === false && typeof error?.code === 'string' && typeof error.message === 'string';
}
