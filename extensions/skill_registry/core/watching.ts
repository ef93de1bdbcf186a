import { describeError, type Problem } from 'skill-registry/kernel';
import type { SkillRegistry, SkillRegistryAdmin } from './api.ts';
import { watchCatalog } from './catalog/watch.ts';
import type { Parts } from './parts.ts';

/** `problems`: WATCH_FAILED. */
export type Watching = Pick<SkillRegistry, 'watch' | 'problems'> & Pick<SkillRegistryAdmin, 'watchMode'>;

export function createWatching(parts: Parts, onProblem: () => void): Watching {
  const { catalog, closing, config, opened, root, searcher, tokens, visible } = parts;
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
  const catchUp = (signal: AbortSignal): void => {
    for (const feature of opened) feature.catchUp?.(signal).catch(onError);
    tokens.countLong(catalog.snapshot(), signal).then(onProblem, onError);
    searcher.prepare(visible({})).catch(onError);
  };
  return {
    async watch(signal) {
      const ended = AbortSignal.any([signal, closing.signal]);
      const unsubscribe = catalog.onChange(() => catchUp(ended));
      catchUp(ended);
      const running = opened.map((feature) => feature.background?.(ended));
      const scanDepth = config.limits.scan_depth;
      await watchCatalog({ catalog, watch: config.watch, scanDepth, onMode, onError }, ended);
      await Promise.all(running);
      unsubscribe();
      mode = 'off';
    },
    watchMode: () => mode,
    problems: () => [...problems.values()],
  };
}
