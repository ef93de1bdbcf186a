import type { z } from 'zod';
import { zod } from '../../lib/arguments/index.ts';
import type { Tool, ToolCall, ToolResult } from '../contract.ts';
import { isCodedError } from '../errors.ts';
import { withoutKnownPaths, withoutPaths } from '../without-paths.ts';

/**
 * Declares a tool. The types of the arguments of `execute` are inferred from `input`.
 *
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

/** The result of a failed call. */
export function toolError(code: string, message: string): ToolResult {
  return { success: false, error: { code, message } };
}

/**
 * Runs a tool; use it wherever tools are offered. Invalid arguments give INVALID_ARGUMENT, a CodedError its own code, any other
 * throw TOOL_FAILED, and a result that is not a ToolResult TOOL_RESULT_INVALID. Messages contain no paths of this machine
 * (`withoutPaths`). Never rejects.
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

/**
 * The JSON schema of a tool's arguments.
 *
 * @throws When JSON schema cannot express the schema, for example a date.
 */
export function inputSchemaOf({ input }: Tool): object {
  let schema = schemas.get(input);
  if (!schema) {
    schema = zod().toJSONSchema(input, { io: 'input' });
    schemas.set(input, schema);
  }
  return schema;
}

// --- internal ---

/** A cache by `input`: tools are listed in every turn, and their schemas rarely change. */
const schemas = new WeakMap<object, object>();

function errorWithoutPaths(result: Extract<ToolResult, { success: false }>): ToolResult {
  const message = withoutKnownPaths(result.error.message);
  return message === result.error.message ? result : { ...result, error: { ...result.error, message } };
}

/** For the model: an unexpected error does not say what was done before it. */
const TOOL_ADVICE = 'Part of it may have been done. Call it again only with other arguments; else tell the user.';

/** Contains no value of an argument: it may be a secret, or a whole file. */
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
