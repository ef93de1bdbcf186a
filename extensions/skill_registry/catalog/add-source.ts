import { readSourceConfig, type SourceConfig, type SourceConfigInput } from '../config/config.ts';
import { invalidArgument, registryClosed } from '../skill/errors.ts';
import { defineSource, isOwnSource } from '../sources/define-source.ts';
import { createOwnSource } from '../sources/kinds/own-source.ts';
import { freeId } from '../sources/make-sources.ts';
import type { SkillSource } from '../sources/source.ts';
import type { OwnSource } from '../sources/types.ts';
import type { Catalog } from './catalog.ts';

/** As `addSource` of the registry. */
export type AddSource = (
  source: SourceConfigInput | OwnSource,
  options?: { readonly signal?: AbortSignal },
) => Promise<() => Promise<void>>;

export interface AddSourceOptions {
  readonly catalog: Catalog;
  /** Ids that are taken. */
  readonly taken: Set<string>;
  readonly makeAll: (configs: readonly SourceConfig[]) => readonly SkillSource[];
  /** Aborts when the registry is closed. */
  readonly closed: AbortSignal;
}

/** Sources that come and go while the registry runs. */
export function createAddSource({ catalog, taken, makeAll, closed }: AddSourceOptions): AddSource {
  return async (source, { signal } = {}) => {
    signal?.throwIfAborted();
    if (closed.aborted) throw registryClosed();
    const added = isOwnSource(source) ? [adopt(source, taken)] : makeAll([readSource(source)]);
    const ends = added.map((one) => catalog.addSource(one));
    let isThere = true;
    const takeAway = (): void => {
      isThere = false;
      for (const end of ends) end();
      for (const { id } of added) taken.delete(id);
    };
    try {
      await catalog.refresh();
    } catch (error) {
      takeAway();
      throw error;
    }
    // One signal may end any number of sources, and each listens.
    const ended = signal && AbortSignal.any([signal]);
    const remove = async (): Promise<void> => {
      ended?.removeEventListener('abort', onAbort);
      if (!isThere) return;
      takeAway();
      if (!closed.aborted) await catalog.refresh();
    };
    const onAbort = (): void => void remove().catch(() => undefined);
    if (ended?.aborted) onAbort();
    ended?.addEventListener('abort', onAbort);
    return remove;
  };
}

// --- internal ---

/** @throws INVALID_ARGUMENT. */
function adopt(source: OwnSource, taken: Set<string>): SkillSource {
  const { id } = defineSource(source);
  return createOwnSource(source, { id: freeId(id, taken), location: 'this program' });
}

/** One source as a caller of the library or an extension gives it. @throws INVALID_ARGUMENT. */
function readSource(given: unknown): SourceConfig {
  const { source, problems } = readSourceConfig(given, ['source'], 'addSource');
  const [problem] = problems;
  if (problem || !source)
    throw invalidArgument(problem?.message ?? 'addSource takes an entry of sources, or { id, skills }.');
  return source;
}
