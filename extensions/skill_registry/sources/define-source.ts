import { isSourceId } from '../config/config.ts';
import { invalidArgument } from '../skill/errors.ts';
import type { OwnSource } from './types.ts';

/**
 * Defines a source of your own, for `addSource` and as the result of `skillSource()` of a package: an id, and a list of skills or
 * a function that returns one.
 *
 * @throws INVALID_ARGUMENT for an id with other characters than `OwnSource.id` allows, and for a value of another shape.
 */
export function defineSource(source: OwnSource): OwnSource {
  if (!isOwnSource(source))
    throw invalidArgument('A source of your own is { id, skills }: a text, and a list or a function.');
  if (isSourceId(source.id)) return source;
  throw invalidArgument(
    `The id of a source has letters, digits and @ . _ / - only, got ${JSON.stringify(source.id.slice(0, 80))}.`,
  );
}

/** Checks the shape, because the value may come from a package. */
export function isOwnSource(value: unknown): value is OwnSource {
  if (typeof value !== 'object' || value === null) return false;
  const { id, skills, onChange } = value as Readonly<Record<keyof OwnSource, unknown>>;
  if (typeof id !== 'string' || id === '' || !(onChange === undefined || typeof onChange === 'function')) return false;
  return Array.isArray(skills) || typeof skills === 'function';
}
