import { z } from '#zod';
import type { Tool } from '../contract.ts';

/** By `input`: tools are asked for anew in every turn, and their schemas seldom change. */
const schemas = new WeakMap<object, object>();

/**
 * The JSON schema of a tool's arguments.
 *
 * @throws when the schema holds what JSON cannot say, a date for example.
 */
export function inputSchemaOf({ input }: Tool): object {
  let schema = schemas.get(input);
  if (!schema) {
    schema = z.toJSONSchema(input, { io: 'input' });
    schemas.set(input, schema);
  }
  return schema;
}
