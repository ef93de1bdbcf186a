import { statSync } from 'node:fs';
import { type FSWatcher, watch as watchFiles } from 'chokidar';
import { describeError } from 'skill-registry/kernel';
import type { SkillRegistryConfig } from '../config.ts';
import type { Catalog } from './catalog.ts';

export interface WatchOptions {
  readonly catalog: Catalog;
  readonly watch: SkillRegistryConfig['watch'];
  readonly scanDepth: number;
  /** How changes are seen from now on; `problem` says why it is not what was asked for. */
  onMode(mode: 'events' | 'poll', problem?: string): void;
  onError(error: unknown): void;
}

/** Events come in bursts: an editor writes, renames, touches. */
const DEBOUNCE_MS = 100;

/**
 * Refreshes the catalog until `signal` aborts: on file events, and every interval as a net for what gives no events (new
 * roots, network file systems). Folders are watched, not files, so the cost is one watch per folder; an event only wakes
 * the refresh, which finds out itself what changed. When the system has no more watches, polling goes on alone.
 */
export async function watchCatalog(options: WatchOptions, signal: AbortSignal): Promise<void> {
  const { catalog, watch, onError } = options;
  if (watch.mode === 'off') return;
  let timer: NodeJS.Timeout | undefined;
  const refresh = (): void => {
    catalog.refresh().then(() => watcher?.add(foldersOf(catalog)), onError);
  };
  const wake = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      refresh();
    }, DEBOUNCE_MS);
  };

  let watcher: FSWatcher | undefined;
  if (watch.mode === 'events') watcher = startWatcher(options, wake, () => endWatcher());
  const endWatcher = (): void => {
    const ending = watcher;
    watcher = undefined;
    ending?.close().catch(onError);
  };
  options.onMode(watcher ? 'events' : 'poll');

  const poll = setInterval(refresh, watch.interval_seconds * 1000);
  await new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  clearInterval(poll);
  clearTimeout(timer);
  await watcher?.close();
}

// --- internal ---

function foldersOf(catalog: Catalog): string[] {
  // A folder that does not exist yet is left to the poll, which adds it when it appears.
  return catalog.sources.flatMap((source) => source.watchFolders()).filter((folder) => isFolder(folder));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function startWatcher({ catalog, scanDepth, onMode }: WatchOptions, wake: () => void, end: () => void): FSWatcher {
  const watcher = watchFiles(foldersOf(catalog), {
    ignoreInitial: true,
    followSymlinks: true,
    // References and scripts of a skill lie below the depth at which skills are looked for.
    depth: scanDepth + 4,
    ignored: (path, stats) => /(^|[\\/])(\.git|node_modules)$/.test(path) || (stats?.isFile() ?? false),
  });
  watcher.on('all', wake);
  watcher.on('raw', wake);
  watcher.on('error', (error) => {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOSPC' || code === 'EMFILE' || code === 'ENFILE') {
      end();
      onMode('poll', `the system has no more file watches (${code}), so changes are seen by polling`);
    } else {
      // One folder that cannot be watched is still polled.
      onMode('events', `a folder cannot be watched: ${describeError(error)}`);
    }
  });
  return watcher;
}
