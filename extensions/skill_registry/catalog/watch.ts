import { type FSWatcher, statSync, watch as watchFolder } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import type * as Chokidar from 'chokidar';
import { describeError } from 'skill-registry/kernel';
import { isPrivateName, isReserved } from '../../../lib/files/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Catalog } from './catalog.ts';

export interface WatchOptions {
  readonly catalog: Catalog;
  readonly watch: SkillRegistryConfig['watch'];
  readonly scanDepth: number;
  /** How changes are seen from now on; `problem` says why it is not what was asked for. */
  onMode(mode: 'events' | 'poll', problem?: string): void;
  onError(error: unknown): void;
}

/** Events come in bursts (an editor writes, renames, touches), and some bursts do not end. */
const QUIET_MS = 100;
const BURST_MS = 400;

/**
 * Refreshes the catalog until `signal` aborts: on file events, and every interval as a net for what gives no events (network
 * file systems). An event only wakes the refresh, which finds out itself what changed. When the system has no more watches,
 * polling goes on alone.
 */
export async function watchCatalog(options: WatchOptions, signal: AbortSignal): Promise<void> {
  const { catalog, watch, onMode, onError } = options;
  if (watch.mode === 'off' || signal.aborted) return;
  let events: FolderEvents | undefined;
  const follow = (): void => events?.follow(catalog.sources().flatMap((source) => source.watchFolders()));
  const refresh = (): void => {
    if (!signal.aborted) catalog.refresh().then(follow).catch(onError);
  };
  const burst = createBurst(refresh);
  const endEvents = async (): Promise<void> => {
    // Taken away first: a refresh that is still under way must not start it again.
    const ending = events;
    events = undefined;
    await ending?.close();
  };
  if (watch.mode === 'events') {
    events = new FolderEvents({
      // References and scripts of a skill lie below the depth at which skills are looked for.
      depth: options.scanDepth + 4,
      wake: burst.wake,
      onError(error) {
        const code = (error as NodeJS.ErrnoException).code;
        if (code === 'ENOSPC' || code === 'EMFILE' || code === 'ENFILE') {
          onMode('poll', `the system has no more file watches (${code}), so changes are seen by polling`);
          endEvents().catch(onError);
        } else {
          // One folder that cannot be watched is still polled.
          onMode('events', `a folder cannot be watched: ${describeError(error)}`);
        }
      },
    });
  }
  onMode(watch.mode);
  follow();
  // A source that was added is watched from the moment its skills are there.
  const unsubscribe = catalog.onChange(follow);

  const poll = setInterval(refresh, watch.interval_seconds * 1000);
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  unsubscribe();
  clearInterval(poll);
  await endEvents();
  burst.cancel();
}

/** Calls `act` once when a burst of wakes has been quiet for 100 ms, or goes on for 400 ms. */
export function createBurst(act: () => void): { wake(): void; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  let until = 0;
  return {
    wake() {
      const now = performance.now();
      if (!timer) until = now + BURST_MS;
      clearTimeout(timer);
      timer = setTimeout(
        () => {
          timer = undefined;
          act();
        },
        Math.max(0, Math.min(QUIET_MS, until - now)),
      );
    },
    cancel: () => clearTimeout(timer),
  };
}

export interface FolderEventsOptions {
  /** How many levels of folders below each path. */
  readonly depth: number;
  wake(): void;
  /** Something is not watched: `error.code` says why. Called after `follow`, and from within it. */
  onError(error: unknown): void;
}

/**
 * Wakes somebody when anything happens at or below some paths, which need not exist. Folders are watched, not files, so the
 * cost is one watch per folder.
 *
 * A watch belongs to the folder itself, not to its name. So whatever is put in the place of a watched folder (a checkout, a
 * rename) is watched anew from the top, and the parents of the paths are watched for the moment the paths come and go.
 */
export class FolderEvents {
  readonly #options: FolderEventsOptions;
  #trees: Chokidar.FSWatcher | undefined;
  #watched: readonly string[] = [];
  #known: ReadonlySet<string> = new Set();
  /** How often each path came or went since the last `follow`: once is new, more often is replaced. */
  readonly #moved = new Map<string, number>();
  readonly #guards = new Map<string, FSWatcher>();
  #guarded: ReadonlySet<string> = new Set();
  #closed = false;

  constructor(options: FolderEventsOptions) {
    this.#options = options;
  }

  /** From now on these. Call it after every wake: what has come or has been replaced is only watched from then on. */
  follow(paths: readonly string[]): void {
    if (this.#closed) return;
    try {
      this.#guard(paths);
      const folders = paths.filter(isFolder);
      const replaced = [...this.#moved].some(([path, times]) => (times > 1 || this.#known.has(path)) && isFolder(path));
      this.#moved.clear();
      if (replaced || !this.#trees || folders.join('\0') !== this.#watched.join('\0')) this.#watchAnew(folders);
      this.#watched = folders;
      this.#known = new Set(Object.keys(this.#trees?.getWatched() ?? {}));
    } catch (error) {
      // Gone between looking and watching: look again.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#options.wake();
      else this.#options.onError(error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const watcher of this.#guards.values()) watcher.close();
    this.#guards.clear();
    await this.#trees?.close();
  }

  #note(event: string, path: string): void {
    if (event === 'rename') this.#moved.set(path, (this.#moved.get(path) ?? 0) + 1);
    this.#options.wake();
  }

  #watchAnew(folders: readonly string[]): void {
    const { depth, wake, onError } = this.#options;
    this.#trees?.close().catch(onError);
    // Loaded here: whoever only lists skills watches nothing.
    const { watch: watchTrees } = createRequire(import.meta.url)('chokidar') as typeof Chokidar;
    const trees = watchTrees([...folders], {
      ignoreInitial: true,
      followSymlinks: true,
      depth,
      ignored: (path, stats) =>
        (stats?.isFile() ?? false) ||
        basename(path) === 'node_modules' ||
        isPrivateName(basename(path), 'folder') ||
        // What the registry writes there itself would wake it again and again.
        isReserved(path),
    });
    this.#trees = trees;
    // What happened before the watches were in place is found by looking once more.
    trees.on('ready', wake);
    trees.on('all', wake);
    trees.on('raw', (event, name, details) => {
      const folder = (details as { readonly watchedPath?: string }).watchedPath ?? '';
      // A folder tells by its own name that it has gone itself.
      if (event === 'rename' && name === basename(folder)) this.#moved.set(folder, 2);
      this.#note(event, resolve(folder, String(name ?? '')));
    });
    trees.on('error', onError);
  }

  #guard(paths: readonly string[]): void {
    this.#guarded = new Set(paths.map(firstMissingOrItself));
    const parents = new Set([...this.#guarded].map((path) => dirname(path)));
    for (const [folder, watcher] of this.#guards) {
      if (parents.has(folder)) continue;
      watcher.close();
      this.#guards.delete(folder);
    }
    for (const folder of parents) {
      if (this.#guards.has(folder)) continue;
      const watcher = watchFolder(folder, (event, name) => {
        const path = join(folder, String(name ?? ''));
        if (!name || this.#guarded.has(path)) this.#note(event, path);
      });
      watcher.on('error', this.#options.onError);
      this.#guards.set(folder, watcher);
      // It may have come while its parent was not watched yet.
      this.#options.wake();
    }
  }
}

// --- internal ---

/** The path itself, or of its parents the outermost that does not exist: the one to wait for. */
function firstMissingOrItself(path: string): string {
  let wanted = path;
  while (!isFolder(dirname(wanted)) && dirname(wanted) !== wanted) wanted = dirname(wanted);
  return wanted;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
