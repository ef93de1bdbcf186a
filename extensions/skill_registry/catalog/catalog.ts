import { describeError, type Problem } from 'skill-registry/kernel';
import type { CallHook } from '../../../kernel/host.ts';
import { createBreaks, eachInSteps, runSteps, type Steps, takeSteps } from '../../../lib/breaks/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import { registryClosed } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';
import type { SkillSource, SourceScan } from '../sources/source.ts';
import {
  type ClosedOptions,
  type ClosedSkills,
  closedSkills,
  closeSkills,
  heldProblems,
  isSameClosed,
} from './closed-skills.ts';
import { type EqualCopies, equalCopies } from './equal-copies.ts';
import { lookAlikes } from './look-alikes.ts';
import { mergeSources } from './merge.ts';
import { packsOf } from './packs.ts';
import { problemsOnce } from './problems-once.ts';
import { frozen, readOnlyMap } from './read-only.ts';
import { requiresProblems } from './requires.ts';
import { changedIds, fingerprintOf, type Snapshot } from './snapshot.ts';

/** Scans the sources and makes snapshots. */
export interface Catalog {
  snapshot(): Snapshot;
  /**
   * Scans all sources, and replaces the snapshot if anything has changed. All calls during a scan share one scan that follows it,
   * because the running scan may have read a changed file already.
   *
   * @throws REGISTRY_CLOSED.
   */
  refresh(): Promise<Snapshot>;
  onChange(listener: ChangeListener): () => void;
  /** The current sources in order of precedence. @throws REGISTRY_CLOSED. */
  sources(): readonly SkillSource[];
  /** Adds a source as the last one. The next refresh adds its skills. @returns removes the source. */
  addSource(source: SkillSource): () => void;
  /** Keeps the snapshot. Waits for a running scan. */
  close(): Promise<void>;
}

export interface CatalogOptions extends ClosedOptions {
  readonly limits: SkillRegistryConfig['limits'];
  /** Default: `first`. */
  readonly collision?: SkillRegistryConfig['collision'];
  /** Skills that are found only by qualified id. Default: none. */
  readonly builtIn?: SkillSource;
  /** Called with what a scan has found, before a snapshot shows it. */
  readonly prepare?: (skills: Iterable<Skill>) => Promise<void>;
  /** Calls a listener and catches its exceptions, so that the other listeners and the refresh go on. */
  readonly callHook: CallHook;
  /** Called at the beginning of every scan. */
  readonly beforeScan?: () => Promise<void>;
}

export type ChangeListener = (ids: readonly string[], snapshot: Snapshot) => void;

export function createCatalog(initial: readonly SkillSource[], options: CatalogOptions): Catalog {
  let sources = initial;
  const builtIn = options.builtIn ? [options.builtIn] : [];
  const listeners = new Set<ChangeListener>();
  const lastScans = new WeakMap<SkillSource, SourceScan>();
  const nothing = { builtIn: new Map(), sources: [], packs: new Map(), problems: [] };
  let current = runSteps(readOnly({ version: 0, ...runSteps(mergeSources([])), ...nothing }));
  /** Of `current`; made when it is first compared, which most processes never do. */
  let currentFingerprint: string | undefined;
  let assembled: Assembled | undefined;
  let running: Promise<Snapshot> | undefined;
  let following: Promise<Snapshot> | undefined;
  let isClosed = false;
  const assertOpen = (): void => {
    if (isClosed) throw registryClosed();
  };

  const scanAll = async (): Promise<Snapshot> => {
    await options.beforeScan?.();
    const takeBreak = createBreaks();
    // A source that is added during the scan is part of the next scan.
    const scanned = sources;
    const scans: SourceScan[] = [];
    const scan = (source: SkillSource): Promise<SourceScan> => source.scan(options.limits, takeBreak, scanned);
    for (const source of [...scanned, ...builtIn]) {
      const isLeftOut = source.ifNone && scans.some(hasOwn);
      scans.push(isLeftOut ? LEFT_OUT : await scanOne(source, scan, lastScans));
    }
    // Built-in skills come with the package, as this code does: nothing but `disabled` closes them.
    const listed = scans.slice(0, scanned.length);
    await options.prepare?.(listed.flatMap(({ skills, losers = [] }) => [...skills, ...losers]));
    const { disabled = () => [] } = options;
    const closed = new Map([
      ...(await takeSteps(closedSkills(listed, options), takeBreak)),
      ...(await takeSteps(closedSkills(scans.slice(scanned.length), { disabled }), takeBreak)),
    ]);
    const isLike = assembled?.from === scanned && isSame(assembled.scans, scans) ? assembled : undefined;
    const before = isLike && (await takeSteps(isSameClosed(isLike.closed, closed), takeBreak)) ? isLike : undefined;
    // While other files of equal skills differ, they are read again at every refresh.
    if (before && !before.copies.differ) return current;
    const copies = await equalCopies(
      scanned,
      scans.slice(0, scanned.length),
      options.limits,
      takeBreak,
      assembled?.copies,
    );
    if (before && isSame([...before.copies.files].flat(), [...copies.files].flat())) return current;
    assembled = { from: scanned, scans, closed, copies };
    const next = await takeSteps(assemble(assembled, current.version + 1, options.collision), takeBreak);
    let fingerprint: string | undefined;
    if (current.version > 0) {
      currentFingerprint ??= await takeSteps(fingerprintOf(current), takeBreak);
      fingerprint = await takeSteps(fingerprintOf(next), takeBreak);
      if (fingerprint === currentFingerprint) return current;
    }
    currentFingerprint = fingerprint;
    const ids = frozen(listeners.size > 0 ? await takeSteps(changedIds(current, next), takeBreak) : []);
    const changed = await takeSteps(readOnly(next), takeBreak);
    current = changed;
    for (const listener of [...listeners]) {
      options.callHook('onChange', () => listener(ids, changed));
      await takeBreak();
    }
    return changed;
  };

  const start = (): Promise<Snapshot> => {
    running = scanAll().finally(() => {
      running = undefined;
    });
    return running;
  };

  const refresh = async (): Promise<Snapshot> => {
    assertOpen();
    // Checked first: between two scans `running` is undefined, although the next scan is about to start.
    if (following !== undefined) return following;
    if (!running) return start();
    following = running
      .catch(() => undefined)
      .then(() => {
        following = undefined;
        return start();
      });
    return following;
  };

  const subscriptions = new Map<SkillSource, () => void>();
  const subscribe = (source: SkillSource): void => {
    const changed = (): void => {
      if (!isClosed && sources.includes(source)) refresh().catch(() => undefined);
    };
    const end = source.subscribe?.(changed);
    if (end) subscriptions.set(source, end);
  };
  const unsubscribe = (source: SkillSource): void => {
    subscriptions.get(source)?.();
    subscriptions.delete(source);
  };
  initial.forEach(subscribe);

  return {
    sources() {
      assertOpen();
      return [...sources, ...builtIn];
    },
    addSource(source) {
      sources = [...sources, source];
      subscribe(source);
      return () => {
        sources = sources.filter((item) => item !== source);
        unsubscribe(source);
        source.close?.().catch(() => undefined);
      };
    },
    snapshot: () => current,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    refresh,
    async close() {
      isClosed = true;
      for (const source of [...subscriptions.keys()]) unsubscribe(source);
      // A scan may wait for a source that is closed here.
      await Promise.all(sources.map((source) => source.close?.()));
      await (following ?? running)?.catch(() => undefined);
    },
  };
}

// --- internal ---

const LEFT_OUT: SourceScan = { skills: [], problems: [] };

/** A skill that cannot be loaded is one of its own as well, and is an error. */
function hasOwn({ skills, problems }: SourceScan): boolean {
  return skills.length > 0 || problems.some(({ severity }) => severity === 'error');
}

async function scanOne(
  source: SkillSource,
  scanSource: (source: SkillSource) => Promise<SourceScan>,
  lastScans: WeakMap<SkillSource, SourceScan>,
): Promise<SourceScan> {
  try {
    const scan = await scanSource(source);
    lastScans.set(source, scan);
    return scan;
  } catch (error) {
    const before: SourceScan = lastScans.get(source) ?? { skills: [], problems: [] };
    const message = `The source "${source.id}" could not be scanned (${describeError(error)}); its last ${before.skills.length} skill(s) are used. Correct the source; the next scan tries it again.`;
    const problem: Problem = { code: 'SOURCE_FAILED', severity: 'error', file: source.location, message };
    return { ...before, problems: [...before.problems, problem] };
  }
}

/** The inputs of the current snapshot. Equal inputs make an equal snapshot. */
interface Assembled {
  readonly from: readonly SkillSource[];
  readonly scans: readonly SourceScan[];
  readonly closed: ClosedSkills;
  readonly copies: EqualCopies;
}

function* assemble(
  { from: sources, scans, closed, copies }: Assembled,
  version: number,
  collision: CatalogOptions['collision'],
): Steps<Snapshot> {
  const gated: SourceScan[] = [];
  for (const scan of scans) gated.push(closed.size > 0 ? yield* closeSkills(scan, closed) : scan);
  // The scan after the last source is that of the built-in skills.
  const listed = gated.slice(0, sources.length);
  const own = gated.slice(sources.length).flatMap(({ skills }) => skills);
  const { problems, ...found } = yield* mergeSources(listed, collision, copies.files);
  const merged = { ...found, builtIn: new Map(own.map((skill) => [skill.qualifiedId, skill])) };
  const { packs, problems: clashes } = packsOf(sources, listed);
  const said = [...(yield* problemsOnce(gated)), ...(yield* heldProblems(merged)), ...problems, ...clashes];
  const alike = yield* lookAlikes(merged.skills);
  const required = yield* requiresProblems(merged);
  return {
    version,
    ...merged,
    sources: sources.map(({ id, kind, location }, index) => ({
      id,
      kind,
      location,
      skills: scans[index]?.skills.length ?? 0,
    })),
    packs,
    problems: [...said, ...alike, ...required],
  };
}

/** Freezes a snapshot. Skills that are frozen already cost one check each. */
function* readOnly(snapshot: Snapshot): Steps<Snapshot> {
  const { version, skills, byId, byQualifiedId, builtIn, sources, packs, problems } = snapshot;
  yield* eachInSteps(byQualifiedId.values(), frozen);
  yield* eachInSteps(builtIn.values(), frozen);
  yield* eachInSteps(problems, frozen);
  return frozen({
    version,
    skills,
    byId: readOnlyMap(byId),
    byQualifiedId: readOnlyMap(byQualifiedId),
    builtIn: readOnlyMap(builtIn),
    sources,
    packs: readOnlyMap(packs),
    problems,
  });
}

function isSame(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.length === after.length && before.every((item, index) => item === after[index]);
}
