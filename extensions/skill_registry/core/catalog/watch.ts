import { type FSWatcher, statSync, watch as watchFolder } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import type * as Chokidar from 'chokidar';
import { describeError } from 'skill-registry/kernel';
import { isPrivateName, isReserved } from '../../../../lib/files/index.ts';
import { aborted } from '../../../../lib/waiting/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Catalog } from './catalog.ts';

export interface WatchOptions {
  readonly catalog: Catalog;
  readonly watch: SkillRegistryConfig['watch'];
  readonly scanDepth: number;
  /** Called with the mode in use; `problem` says why it is not the mode of the config. */
  onMode(mode: 'events' | 'poll', problem?: string): void;
  onError(error: unknown): void;
}

/** An editor causes many events at once. A refresh waits for a pause, but at most `BURST_MS`. */
const QUIET_MS = 100;
const BURST_MS = 400;
/** While there are events, polling uses at most this part of a core, but polls at least once in `MAX_REST_MS`. */
const MAX_SHARE = 0.003;
const MAX_REST_MS = 60_000;
const NO_MORE_WATCHES: ReadonlySet<string> = new Set(['ENOSPC', 'EMFILE', 'ENFILE']);

/**
 * Refreshes on file events, and at every interval (less often with many skills), because network file systems send no
 * events. An event only starts a refresh, which finds the changes. Only polls if there are no more file watches.
 */
export async function watchCatalog(options: WatchOptions, signal: AbortSignal): Promise<void> {
  const { catalog, watch, onMode, onError } = options;
  if (watch.mode === 'off' || signal.aborted) return;
  let events: FolderEvents | undefined;
  const follow = (): void => events?.follow(catalog.sources().flatMap((source) => source.watchFolders()));
  const refresh = async (): Promise<void> => {
    if (!signal.aborted) await catalog.refresh().then(follow).catch(onError);
  };
  const debounced = createDebounce(() => void refresh());
  const endEvents = async (): Promise<void> => {
    // Set to undefined first, so that a running refresh does not start the events again.
    const ending = events;
    events = undefined;
    await ending?.close();
  };
  if (watch.mode === 'events') {
    events = new FolderEvents({
      // The other files of a skill are deeper than its SKILL.md.
      depth: options.scanDepth + 4,
      wake: debounced.wake,
      onError(error) {
        const { code = '' } = error as NodeJS.ErrnoException;
        const none = `the system has no more file watches (${code}), so changes are seen by polling. Set watch.mode to poll in the config, or raise the limit (Linux: fs.inotify.max_user_watches and max_user_instances, ulimit -n) and start again`;
        const one = `a folder cannot be watched, and is polled: ${describeError(error)}. Let this user read it, and start again`;
        const isOver = NO_MORE_WATCHES.has(code);
        onMode(isOver ? 'poll' : 'events', isOver ? none : one);
        if (isOver) endEvents().catch(onError);
      },
    });
  }
  onMode(watch.mode);
  follow();
  // A new source is watched after its first refresh.
  const unsubscribe = catalog.onChange(follow);

  const intervalMs = watch.interval_seconds * 1000;
  let poll = setTimeout(look, intervalMs);
  async function look(): Promise<void> {
    const before = process.cpuUsage();
    await refresh();
    const { user, system } = process.cpuUsage(before);
    const rest = events ? Math.min((user + system) / 1000 / MAX_SHARE, MAX_REST_MS) : 0;
    if (!signal.aborted) poll = setTimeout(look, Math.max(intervalMs, rest));
  }
  await aborted(signal);
  unsubscribe();
  clearTimeout(poll);
  await endEvents();
  debounced.cancel();
}

export function createDebounce(act: () => void): { wake(): void; cancel(): void } {
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
  readonly depth: number;
  wake(): void;
  /** Called when something cannot be watched, also during `follow`. `error.code` says why. */
  onError(error: unknown): void;
}

/**
 * Calls `wake` when anything changes at or below some paths, which need not exist. Only folders are watched: one watch
 * each. A watch belongs to a folder, not to its name: when another folder gets the name (a checkout, a rename), all are
 * watched again. Parent folders are watched to see paths come and go.
 */
export class FolderEvents {
  readonly #options: FolderEventsOptions;
  #trees: Chokidar.FSWatcher | undefined;
  #watched: readonly string[] = [];
  #known: ReadonlySet<string> = new Set();
  /** How often each path was created or removed since the last `follow`: once means new, more often means replaced. */
  readonly #moved = new Map<string, number>();
  readonly #guards = new Map<string, FSWatcher>();
  #guarded: ReadonlySet<string> = new Set();
  #closed = false;

  constructor(options: FolderEventsOptions) {
    this.#options = options;
  }

  /** Sets the watched paths. Call it after every `wake`, so that new and replaced folders are watched. */
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
      // The folder was removed before it was watched: check again.
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

  #recordEvent(event: string, path: string): void {
    if (event === 'rename') this.#moved.set(path, (this.#moved.get(path) ?? 0) + 1);
    this.#options.wake();
  }

  #watchAnew(folders: readonly string[]): void {
    const { depth, wake, onError } = this.#options;
    this.#trees?.close().catch(onError);
    // Loaded here, because most commands watch nothing.
    const { watch: watchTrees } = createRequire(import.meta.url)('chokidar') as typeof Chokidar;
    const trees = watchTrees([...folders], {
      ignoreInitial: true,
      followSymlinks: true,
      depth,
      ignored: (path, stats) =>
        (stats?.isFile() ?? false) ||
        basename(path) === 'node_modules' ||
        isPrivateName(basename(path), 'folder') ||
        // The registry's own writes must not wake it.
        isReserved(path),
    });
    this.#trees = trees;
    // One more refresh finds changes from before the watches were active.
    trees.on('ready', wake);
    trees.on('all', wake);
    trees.on('raw', (event, name, details) => {
      const folder = (details as { readonly watchedPath?: string }).watchedPath ?? '';
      // An event with the name of the watched folder means that the folder itself was moved or removed.
      if (event === 'rename' && name === basename(folder)) this.#moved.set(folder, 2);
      this.#recordEvent(event, resolve(folder, String(name ?? '')));
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
        if (!name || this.#guarded.has(path)) this.#recordEvent(event, path);
      });
      watcher.on('error', this.#options.onError);
      this.#guards.set(folder, watcher);
      // The path may have been created before its parent was watched.
      this.#options.wake();
    }
  }
}

// --- internal ---

function firstMissingOrItself(path: string): string {
  let missing = path;
  while (!isFolder(dirname(missing)) && dirname(missing) !== missing) missing = dirname(missing);
  return missing;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
