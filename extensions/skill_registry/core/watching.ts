import { describeError, type Problem } from 'skill-registry/kernel';
import { abortAfter, aborted } from '../../../lib/waiting/index.ts';
import type { SkillRegistry, SkillRegistryAdmin } from './api.ts';
import { watchCatalog } from './catalog/watch.ts';
import type { Parts } from './parts.ts';
import type { SkillSource } from './sources/source.ts';

/** New skills; fewer take less time than the wait. */
const MANY = 100;
const LOOK_MS = 500;
const MOST_LOOKS = 20;
/** Part of the time of a look in which the process did something. */
const IDLE = 0.2;

/** `problems`: WATCH_FAILED. */
export type Watching = Pick<SkillRegistry, 'watch' | 'problems'> & Pick<SkillRegistryAdmin, 'watchMode'>;

export function createWatching(parts: Parts, onProblem: () => void): Watching {
  const { catalog, closing, config, opened, root, scopes, searcher, tokens } = parts;
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
    searcher.prepare(scopes.visible({})).catch(onError);
  };
  return {
    async watch(signal) {
      const ended = AbortSignal.any([signal, closing.signal]);
      const running = opened.map((feature) => feature.background?.(ended));
      const followed = new Set<SkillSource>();
      const follow = (): void => {
        for (const source of ended.aborted ? [] : catalog.sources()) {
          if (!followed.has(source)) running.push(source.follow?.(ended));
          followed.add(source);
        }
      };
      follow();
      const unsubscribe = catalog.onChange(() => {
        follow();
        catchUp(ended);
      });
      // A client asks in its first moments, and does not wait for what can be done later.
      if (parts.guard().notInspected(catalog.snapshot().skills) > MANY) await whenIdle(ended);
      catchUp(ended);
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

// --- internal ---

/** On a busy machine a fixed time would end before the first answers. */
async function whenIdle(signal: AbortSignal): Promise<void> {
  for (let look = 0; look < MOST_LOOKS && !signal.aborted; look++) {
    const before = performance.eventLoopUtilization();
    await aborted(abortAfter(LOOK_MS, signal));
    if (performance.eventLoopUtilization(before).utilization < IDLE) return;
  }
}
