import { describeError, type Problem } from 'skill-registry/kernel';
import type { CallHook } from '../../../kernel/host.ts';
import { createBreaks, eachInSteps, runSteps, type Steps, takeSteps } from '../../../lib/breaks/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import { registryClosed } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';
import type { SkillSource, SourceScan } from '../sources/source.ts';
import { confusableIds } from './confusable-ids.ts';
import { type EqualCopies, equalCopies } from './equal-copies.ts';
import { mergeSources } from './merge.ts';
import { packsOf } from './packs.ts';
import { frozen, readOnlyMap } from './read-only.ts';
import { skillAlone, withSkill } from './refresh-skill.ts';
import { requiresProblems } from './requires.ts';
import {
  applyRestrictions,
  heldProblems,
  isSameRestrictions,
  type RestrictionOptions,
  type Restrictions,
  restrictionsOf,
} from './restrictions.ts';
import { changedIds, fingerprintOf, type Snapshot } from './snapshot.ts';
import { uniqueProblems } from './unique-problems.ts';

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
  /**
   * After a write in the folder of a skill: reads that skill again, and scans all sources only where more may have changed.
   *
   * @param folder - Real path. @throws REGISTRY_CLOSED.
   */
  refreshSkill(folder: string): Promise<Snapshot>;
  onChange(listener: ChangeListener): () => void;
  /** The current sources in order of precedence. @throws REGISTRY_CLOSED. */
  sources(): readonly SkillSource[];
  /** Adds a source as the last one. The next refresh adds its skills. @returns removes the source. */
  addSource(source: SkillSource): () => void;
  /** Keeps the snapshot. Waits for a running scan. */
  close(): Promise<void>;
}

export interface CatalogOptions extends RestrictionOptions {
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

export class SkillCatalog implements Catalog {
  readonly #options: CatalogOptions;
  readonly #builtIn: readonly SkillSource[];
  readonly #listeners = new Set<ChangeListener>();
  readonly #lastScans = new WeakMap<SkillSource, SourceScan>();
  readonly #subscriptions = new Map<SkillSource, () => void>();
  #sources: readonly SkillSource[];
  #current: Snapshot;
  /** Of `#current`; made when it is first compared, which most processes never do. */
  #fingerprint: string | undefined;
  #assembled: Assembled | undefined;
  #running: Promise<Snapshot> | undefined;
  #following: Promise<Snapshot> | undefined;
  #isClosed = false;

  constructor(initial: readonly SkillSource[], options: CatalogOptions) {
    this.#sources = initial;
    this.#options = options;
    this.#builtIn = options.builtIn ? [options.builtIn] : [];
    const nothing = { builtIn: new Map(), sources: [], packs: new Map(), problems: [] };
    this.#current = runSteps(readOnly({ version: 0, ...runSteps(mergeSources([])), ...nothing }));
    for (const source of initial) this.#subscribe(source);
  }

  snapshot(): Snapshot {
    return this.#current;
  }

  sources(): readonly SkillSource[] {
    this.#assertOpen();
    return [...this.#sources, ...this.#builtIn];
  }

  addSource(source: SkillSource): () => void {
    this.#sources = [...this.#sources, source];
    this.#subscribe(source);
    return () => {
      this.#sources = this.#sources.filter((item) => item !== source);
      this.#unsubscribe(source);
      source.close?.().catch(() => undefined);
    };
  }

  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async refresh(): Promise<Snapshot> {
    this.#assertOpen();
    // Checked first: between two scans `#running` is undefined, although the next scan is about to start.
    if (this.#following !== undefined) return this.#following;
    if (!this.#running) return this.#start();
    this.#following = this.#running
      .catch(() => undefined)
      .then(() => {
        this.#following = undefined;
        return this.#start();
      });
    return this.#following;
  }

  async refreshSkill(folder: string): Promise<Snapshot> {
    this.#assertOpen();
    if (this.#running || this.#following) return this.refresh();
    const reading = this.#readAgain(folder).finally(() => {
      this.#running = undefined;
    });
    // A refresh that is asked for meanwhile follows.
    this.#running = reading.then(
      (snapshot) => snapshot ?? this.#current,
      () => this.#current,
    );
    return (await reading) ?? this.refresh();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const source of [...this.#subscriptions.keys()]) this.#unsubscribe(source);
    // A scan may wait for a source that is closed here.
    await Promise.all(this.#sources.map((source) => source.close?.()));
    await (this.#following ?? this.#running)?.catch(() => undefined);
  }

  #assertOpen(): void {
    if (this.#isClosed) throw registryClosed();
  }

  #subscribe(source: SkillSource): void {
    const changed = (): void => {
      if (!this.#isClosed && this.#sources.includes(source)) this.refresh().catch(() => undefined);
    };
    const end = source.subscribe?.(changed);
    if (end) this.#subscriptions.set(source, end);
  }

  #unsubscribe(source: SkillSource): void {
    this.#subscriptions.get(source)?.();
    this.#subscriptions.delete(source);
  }

  #start(): Promise<Snapshot> {
    this.#running = this.#scanAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** @returns undefined when all sources must be scanned. */
  async #readAgain(folder: string): Promise<Snapshot | undefined> {
    const { limits, prepare } = this.#options;
    const skill = skillAlone(this.#current, folder);
    const last = this.#assembled;
    const at = this.#sources.findIndex(({ id }) => id === skill?.source);
    const source = this.#sources[at];
    if (!skill || !source || last?.from !== this.#sources || last.copies.differ) return undefined;
    const read = source.rescan?.(skill, limits);
    if (!read) return undefined;
    await prepare?.([read.skill]);
    const restrictions = runSteps(restrictionsOf([{ skills: [read.skill], problems: [] }], this.#options));
    if (restrictions.size > 0) return undefined;
    if (read.skill === skill) return this.#current;
    const next = withSkill(this.#current, skill, read.skill);
    if (!next) return undefined;
    this.#lastScans.set(source, read.scan);
    this.#assembled = { ...last, scans: last.scans.with(at, read.scan) };
    return this.#show(next, frozen([skill.id]), undefined);
  }

  async #scanAll(): Promise<Snapshot> {
    const { beforeScan, prepare, disabled = () => [], limits, collision } = this.#options;
    await beforeScan?.();
    const takeBreak = createBreaks();
    // A source that is added during the scan is part of the next scan.
    const scanned = this.#sources;
    const scans: SourceScan[] = [];
    const scan = (source: SkillSource): Promise<SourceScan> => source.scan(limits, takeBreak, scanned);
    for (const source of [...scanned, ...this.#builtIn]) {
      const isLeftOut = source.ifNone && scans.some(hasOwn);
      scans.push(isLeftOut ? LEFT_OUT : await scanOne(source, scan, this.#lastScans));
    }
    // Built-in skills come with the package, as this code does: nothing but `disabled` closes them.
    const listed = scans.slice(0, scanned.length);
    await prepare?.(listed.flatMap(({ skills, losers = [] }) => [...skills, ...losers]));
    const restrictions = new Map([
      ...(await takeSteps(restrictionsOf(listed, this.#options), takeBreak)),
      ...(await takeSteps(restrictionsOf(scans.slice(scanned.length), { disabled }), takeBreak)),
    ]);
    const last = this.#assembled;
    const isLike = last?.from === scanned && isSame(last.scans, scans) ? last : undefined;
    const before =
      isLike && (await takeSteps(isSameRestrictions(isLike.restrictions, restrictions), takeBreak))
        ? isLike
        : undefined;
    // While other files of equal skills differ, they are read again at every refresh.
    if (before && !before.copies.differ) return this.#current;
    const copies = await equalCopies(scanned, listed, limits, takeBreak, last?.copies);
    if (before && isSame([...before.copies.files].flat(), [...copies.files].flat())) return this.#current;
    this.#assembled = { from: scanned, scans, restrictions, copies };
    const next = await takeSteps(assemble(this.#assembled, this.#current.version + 1, collision), takeBreak);
    return this.#replaceIfChanged(next, takeBreak);
  }

  async #replaceIfChanged(next: Snapshot, takeBreak: () => Promise<void>): Promise<Snapshot> {
    let fingerprint: string | undefined;
    if (this.#current.version > 0) {
      this.#fingerprint ??= await takeSteps(fingerprintOf(this.#current), takeBreak);
      fingerprint = await takeSteps(fingerprintOf(next), takeBreak);
      if (fingerprint === this.#fingerprint) return this.#current;
    }
    const ids = frozen(this.#listeners.size > 0 ? await takeSteps(changedIds(this.#current, next), takeBreak) : []);
    return this.#show(await takeSteps(readOnly(next), takeBreak), ids, fingerprint);
  }

  async #show(snapshot: Snapshot, ids: readonly string[], fingerprint: string | undefined): Promise<Snapshot> {
    this.#fingerprint = fingerprint;
    this.#current = snapshot;
    for (const listener of [...this.#listeners]) {
      this.#options.callHook('onChange', () => listener(ids, snapshot));
      await createBreaks()();
    }
    return snapshot;
  }
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
    const message = `The source "${source.id}" could not be scanned (${describeError(error)}); ${lastUsed(before.skills.length)}. Correct the source; the next scan tries it again.`;
    const problem: Problem = { code: 'SOURCE_FAILED', severity: 'error', file: source.location, message };
    return { ...before, problems: [...before.problems, problem] };
  }
}

function lastUsed(count: number): string {
  return count === 0 ? 'no scan of it has given a skill yet' : `its last ${count} skill(s) are used`;
}

/** The inputs of the current snapshot. Equal inputs make an equal snapshot. */
interface Assembled {
  readonly from: readonly SkillSource[];
  readonly scans: readonly SourceScan[];
  readonly restrictions: Restrictions;
  readonly copies: EqualCopies;
}

function* assemble(
  { from: sources, scans, restrictions, copies }: Assembled,
  version: number,
  collision: CatalogOptions['collision'],
): Steps<Snapshot> {
  const gated: SourceScan[] = [];
  for (const scan of scans) gated.push(restrictions.size > 0 ? yield* applyRestrictions(scan, restrictions) : scan);
  // The scan after the last source is that of the built-in skills.
  const listed = gated.slice(0, sources.length);
  const own = gated.slice(sources.length).flatMap(({ skills }) => skills);
  const { problems, ...found } = yield* mergeSources(listed, collision, copies.files);
  const merged = { ...found, builtIn: new Map(own.map((skill) => [skill.qualifiedId, skill])) };
  const { packs, problems: clashes } = packsOf(sources, listed);
  const allProblems = [...(yield* uniqueProblems(gated)), ...(yield* heldProblems(merged)), ...problems, ...clashes];
  const alike = yield* confusableIds(merged.skills);
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
    problems: [...allProblems, ...alike, ...required],
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
