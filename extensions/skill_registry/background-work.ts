import { describeError, type Problem } from 'skill-registry/kernel';
import { whyNoSqlite } from '../../lib/sqlite/index.ts';
import type { SkillRegistry, SkillRegistryAdmin } from './api.ts';
import { watchCatalog } from './core/catalog/watch.ts';
import type { Parts } from './parts.ts';

/** `problems`: WATCH_FAILED. */
export type Watching = Pick<SkillRegistry, 'watch' | 'problems'> & Pick<SkillRegistryAdmin, 'watchMode'>;

export function createWatching(parts: Parts, onProblem: () => void): Watching {
  const { catalog, changes, closing, config, heldSkills, meaning, root, searcher, tokens, visible } = parts;
  const problems = new Map<string, Problem>();
  let mode: ReturnType<Watching['watchMode']> = 'off';
  const note = (reason: string): void => {
    const message = `Changes to skills may be seen late: ${reason}.`;
    problems.set(message, { code: 'WATCH_FAILED', severity: 'warning', file: root, message });
    onProblem();
  };
  const onError = (error: unknown): void =>
    note(`${describeError(error)}. Remove the cause; the next look tries again`);
  const onMode = (now: 'events' | 'poll', problem?: string): void => {
    mode = now;
    if (problem) note(problem);
  };
  const inspect = async (signal: AbortSignal): Promise<void> => {
    const all = () => [...catalog.snapshot().byQualifiedId.values()];
    while (await heldSkills.checkAll(all(), signal)) await catalog.refresh();
  };
  const catchUp = (signal: AbortSignal): void => {
    inspect(signal).catch(onError);
    tokens.countLong(catalog.snapshot(), signal).then(onProblem, onError);
    searcher.prepare(visible({})).catch(onError);
    meaning?.keepEmbedded(catalog.snapshot().skills, signal).catch(onError);
  };
  const keepHistory = async (signal: AbortSignal): Promise<void> => {
    if (config.watch.mode === 'off' || whyNoSqlite() !== undefined) return;
    await changes.run(({ keep }) => keep(signal, (listener) => catalog.onChange(listener), onProblem));
  };
  return {
    async watch(signal) {
      const ended = AbortSignal.any([signal, closing.signal]);
      const unsubscribe = catalog.onChange(() => catchUp(ended));
      catchUp(ended);
      const kept = keepHistory(ended);
      const scanDepth = config.limits.scan_depth;
      await watchCatalog({ catalog, watch: config.watch, scanDepth, onMode, onError }, ended);
      await kept;
      unsubscribe();
      mode = 'off';
    },
    watchMode: () => mode,
    problems: () => [...problems.values()],
  };
}
