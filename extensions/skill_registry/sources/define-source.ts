import { isSourceId } from '../config/config.ts';
import { invalidArgument } from '../skill/errors.ts';
import type { OwnSource } from './types.ts';

/**
 * A source of your own, for `addSource` and for what `skillSource()` of a package returns: an id, and a list of skills or a
 * function that gives it.
 *
 * @throws INVALID_ARGUMENT for an id that cannot be the first half of a qualified one, and for what is no source.
 */
export function defineSource(source: OwnSource): OwnSource {
  if (!isOwnSource(source))
    throw invalidArgument('A source of your own is { id, skills }: a text, and a list or a function.');
  if (isSourceId(source.id)) return source;
  throw invalidArgument(
    `The id of a source has letters, digits and @ . _ / - only, got ${JSON.stringify(source.id.slice(0, 80))}.`,
  );
}

/** Told by its members: it may come from somebody else's package. */
export function isOwnSource(value: unknown): value is OwnSource {
  if (typeof value !== 'object' || value === null) return false;
  const { id, skills, onChange } = value as Readonly<Record<keyof OwnSource, unknown>>;
  if (typeof id !== 'string' || id === '' || !(onChange === undefined || typeof onChange === 'function')) return false;
  return Array.isArray(skills) || typeof skills === 'function';
}
