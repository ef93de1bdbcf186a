import { unreadable } from '../../../../lib/arguments/index.ts';
import type { SourceConfig, SourceConfigInput } from '../config/config.ts';
import type { ReadSource } from '../config/read-config.ts';
import { invalidArgument, registryClosed } from '../skill/errors.ts';
import { defineSource, isCustomSource } from '../sources/define-source.ts';
import { createCustomSource } from '../sources/kinds/custom-source.ts';
import { takeFreeId } from '../sources/make-sources.ts';
import type { SkillSource } from '../sources/source.ts';
import type { CustomSource } from '../sources/types.ts';
import type { Catalog } from './catalog.ts';

export type AddSource = (
  source: SourceConfigInput | CustomSource,
  options?: { readonly signal?: AbortSignal },
) => Promise<() => Promise<void>>;

export function createAddSource(
  catalog: Catalog,
  taken: Set<string>,
  makeAll: MakeAll,
  readSource: ReadSource,
  closed: AbortSignal,
): AddSource {
  let last: Promise<unknown> = Promise.resolve();
  return async (source, { signal } = {}) => {
    signal?.throwIfAborted();
    if (closed.aborted) throw registryClosed();
    const make = makerOf(source, taken, makeAll, readSource);
    // Sources are added in the order of the calls, however long their modules take to load.
    const adding = last.then(async () => {
      const added = await make();
      if (closed.aborted) throw registryClosed();
      return { added, removers: added.map((one) => catalog.addSource(one)) };
    });
    last = adding.catch(() => undefined);
    const { added, removers } = await adding;
    let isAdded = true;
    const removeAll = (): void => {
      isAdded = false;
      for (const remover of removers) remover();
      for (const { id } of added) taken.delete(id);
    };
    try {
      await catalog.refresh();
    } catch (error) {
      removeAll();
      throw error;
    }
    // Not the caller's signal: Node warns about many listeners on one.
    const ended = signal && AbortSignal.any([signal]);
    const remove = async (): Promise<void> => {
      ended?.removeEventListener('abort', onAbort);
      if (!isAdded) return;
      removeAll();
      if (!closed.aborted) await catalog.refresh();
    };
    const onAbort = (): void => void remove().catch(() => undefined);
    if (ended?.aborted) onAbort();
    ended?.addEventListener('abort', onAbort);
    return remove;
  };
}

// --- internal ---

type MakeAll = (configs: readonly SourceConfig[]) => Promise<readonly SkillSource[]>;

function makerOf(
  given: SourceConfigInput | CustomSource,
  taken: Set<string>,
  makeAll: MakeAll,
  readSource: ReadSource,
) {
  if (isOwn(given)) {
    const { id } = defineSource(given);
    return async () => [createCustomSource(given, { id: takeFreeId(id, taken), location: 'this program' })];
  }
  const { source, problems } = readSource(given, ['source'], 'addSource');
  const [problem] = problems;
  if (source && !problem) return () => makeAll([source]);
  throw invalidArgument(problem?.message ?? 'addSource takes an entry of sources, or { id, skills }.');
}

function isOwn(source: SourceConfigInput | CustomSource): source is CustomSource {
  try {
    return isCustomSource(source) || 'skills' in Object(source);
  } catch (error) {
    throw unreadable('addSource: source', error);
  }
}
