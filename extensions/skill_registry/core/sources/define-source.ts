/** Apart from custom-source.ts: the types of programs may not reach those of Node. */
import { checkArgument, type Schema, schema } from '../../../../lib/arguments/index.ts';
import { SOURCE_ID } from '../config/source-entry.ts';
import type { CustomSource } from './types.ts';

/**
 * Defines a source for `addSource` or a package's `skillSource()`. @throws INVALID_ARGUMENT for a wrong id or shape.
 */
export function defineSource(source: CustomSource): CustomSource {
  checkArgument('defineSource: source', ownSource, source);
  return source;
}

/** The value may come from a package. */
export function isCustomSource(value: unknown): value is CustomSource {
  if (typeof value !== 'object' || value === null) return false;
  const { id, skills, onChange } = value as Readonly<Record<keyof CustomSource, unknown>>;
  if (typeof id !== 'string' || id === '' || !(onChange === undefined || typeof onChange === 'function')) return false;
  return Array.isArray(skills) || typeof skills === 'function';
}

// --- internal ---

/** Single skills are checked when the source is read: an invalid skill is a problem, and the others are used. */
const ownSource: Schema<unknown> = schema((z) => {
  const aFunction = z.custom((value) => typeof value === 'function', 'a function');
  return z.object({
    id: z.string().regex(SOURCE_ID, 'letters, digits and @ . _ / - ("my-skills")'),
    skills: z.union([z.array(z.unknown()), aFunction], { error: 'a list of skills, or a function that gives one' }),
    onChange: aFunction.optional(),
  });
});
