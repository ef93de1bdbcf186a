import { describeError, type Problem } from 'skill-registry/kernel';
import type { CallHook } from '../../../../kernel/host.ts';
import { eachWithBreaks, takeBreak } from '../../../../lib/breaks/index.ts';
import { plural } from '../../../../lib/text/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import { registryClosed } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';
import { isSameList, type SkillSource, type SourceScan } from '../sources/source.ts';
import { type Assembled, assemble } from './assemble.ts';
import { equalCopies } from './equal-copies.ts';
import { type Restricted, type RestrictionOptions, restrictionsNow, restrictScan } from './restrictions.ts';
import { changedIds, copyForCallers, frozen, isSameCatalog, type Snapshot } from './snapshot.ts';

export interface CatalogOptions extends RestrictionOptions {
  readonly limits: SkillRegistryConfig['limits'];
  readonly collision?: SkillRegistryConfig['collision'];
  /** Skills that are found only by qualified id. Default: none. */
  readonly builtIn?: SkillSource;
  /** Called with the skills of a scan before a snapshot shows them. */
  readonly prepare?: (skills: Iterable<Skill>) => Promise<void>;
  /** As of the guard. Default: nothing is judged elsewhere. */
  readonly heldMeanwhile?: (skills: Iterable<Skill>) => ReadonlyMap<string, string>;
  readonly callHook: CallHook;
  /** @returns whether others than the skills that have changed may be held now. */
  readonly beforeScan?: () => Promise<boolean>;
}

export type ChangeListener = (ids: readonly string[], snapshot: Snapshot) => void;

export class Catalog {
  readonly #options: CatalogOptions;
  readonly #builtIn: readonly SkillSource[];
  readonly #listeners = new Set<ChangeListener>();
  readonly #lastScans = new WeakMap<SkillSource, SourceScan>();
  readonly #restricted: Restricted = { skills: new WeakMap(), scans: new WeakMap() };
  readonly #subscriptions = new Map<SkillSource, () => void>();
  #sources: readonly SkillSource[];
  #current: Snapshot;
  /** Reasons that no snapshot has yet, by qualified id; and `#current` with them. */
  readonly #holds = new Set<ReadonlyMap<string, string>>();
  #marked: Snapshot | undefined;
  #assembled: Assembled | undefined;
  #running: Promise<Snapshot> | undefined;
  #following: Promise<Snapshot> | undefined;
  #isClosed = false;

  constructor(initial: readonly SkillSource[], options: CatalogOptions) {
    this.#sources = initial;
    this.#options = options;
    this.#builtIn = options.builtIn ? [options.builtIn] : [];
    const maps = { byId: new Map(), byQualifiedId: new Map(), builtIn: new Map(), packs: new Map() };
    this.#current = frozen({ version: 0, skills: [], ...maps, sources: [], problems: [] });
    for (const source of initial) this.#subscribe(source);
  }

  /** With what other processes hold by now. Whatever leaves is looked up here. */
  snapshot(): Snapshot {
    const held = this.#isClosed ? undefined : this.#options.heldMeanwhile?.(this.noted.byQualifiedId.values());
    if (held) this.hold(held);
    return this.noted;
  }

  /** As this process knows it, which costs nothing: for ids and records. */
  get noted(): Snapshot {
    return this.#marked ?? this.#current;
  }

  /** Shows at once that skills are held, by qualified id. The refresh that follows tells listeners. */
  hold(held: ReadonlyMap<string, string>): void {
    if (held.size === 0) return;
    this.#holds.add(held);
    this.#mark();
    const end = (): void => {
      this.#holds.delete(held);
      this.#mark();
    };
    // A scan that runs already may not know it, and one that fails shows nothing.
    this.refresh().then(end, () => undefined);
  }

  sources(): readonly SkillSource[] {
    this.#assertOpen();
    return [...this.#sources, ...this.#builtIn];
  }

  /** Undefined: it was removed after the snapshot with this skill. */
  sourceOf(skill: Pick<Skill, 'source'>): SkillSource | undefined {
    return this.sources().find(({ id }) => id === skill.source);
  }

  /** Adds a source as the last one; the next refresh shows its skills. @returns removes the source. */
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

  /** Calls during a scan share one more: the running scan may have read files too early. @throws REGISTRY_CLOSED. */
  async refresh(): Promise<Snapshot> {
    this.#assertOpen();
    // Checked first: between two scans `#running` is undefined, although the next scan is about to start.
    if (this.#following !== undefined) return this.#following;
    if (!this.#running) return this.#run(() => this.#scanAll());
    this.#following = this.#running
      .catch(() => undefined)
      .then(() => {
        this.#following = undefined;
        return this.#run(() => this.#scanAll());
      });
    return this.#following;
  }

  /** Reads the skill in `folder` (a real path) again, and all sources if more may differ. @throws REGISTRY_CLOSED. */
  async refreshSkill(folder: string): Promise<Snapshot> {
    this.#assertOpen();
    return this.#readOne(({ dir }) => dir === folder);
  }

  /** Has the files of a skill fetched that is remote `until-read`; the snapshot has them then. */
  async bring({ qualifiedId }: Skill): Promise<void> {
    const skill = this.#current.byQualifiedId.get(qualifiedId);
    if (skill?.remote !== 'until-read') return;
    await this.sourceOf(skill)?.bring?.(skill);
    await this.#readOne((one) => one.qualifiedId === qualifiedId);
  }

  /** Waits for a running scan. The snapshot stays readable. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const source of [...this.#subscriptions.keys()]) this.#unsubscribe(source);
    // Closed before the wait: a scan may wait for a source.
    await Promise.all(this.#sources.map((source) => source.close?.()));
    await (this.#following ?? this.#running)?.catch(() => undefined);
  }

  #mark(): void {
    if (this.#holds.size === 0 && !this.#marked) return;
    // Texts are remembered by the version of a snapshot.
    this.#current = frozen({ ...this.#current, version: this.#current.version + 1 });
    this.#marked = this.#holds.size === 0 ? undefined : withHeld(this.#current, this.#holds);
  }

  #assertOpen(): void {
    if (this.#isClosed) throw registryClosed();
  }

  #subscribe(source: SkillSource): void {
    const changed = (ids?: readonly string[]): void => {
      if (!this.#isClosed && this.#sources.includes(source)) this.#readSome(ids).catch(() => undefined);
    };
    const end = source.subscribe?.(changed);
    if (end) this.#subscriptions.set(source, end);
  }

  #unsubscribe(source: SkillSource): void {
    this.#subscriptions.get(source)?.();
    this.#subscriptions.delete(source);
  }

  #run(scan: () => Promise<Snapshot>): Promise<Snapshot> {
    const { beforeScan = async () => false } = this.#options;
    this.#running = beforeScan()
      .then((isMore) => (isMore ? this.#scanAll() : scan()))
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /** @param ids - Undefined: all. */
  async #readSome(ids: readonly string[] | undefined): Promise<void> {
    if (!ids || ids.length > FEW) await this.refresh();
    else for (const id of ids) await this.#readOne(({ qualifiedId }) => qualifiedId === id);
  }

  async #readOne(isIt: (skill: Skill) => boolean): Promise<Snapshot> {
    while (this.#running && !this.#following) await this.#running.catch(() => undefined);
    if (this.#following !== undefined) return this.#following;
    return this.#run(async () => (await this.#readAgain(isIt)) ?? this.#scanAll());
  }

  /** Undefined when all sources must be scanned. */
  async #readAgain(isIt: (skill: Skill) => boolean): Promise<Snapshot | undefined> {
    const { limits, prepare } = this.#options;
    const skill = skillAlone(this.#current, isIt);
    const last = this.#assembled;
    const at = this.#sources.findIndex(({ id }) => id === skill?.source);
    const source = this.#sources[at];
    if (!skill || !source || last?.from !== this.#sources || last.copies.differ) return undefined;
    const read = source.rescan?.(skill, limits);
    if (!read) return undefined;
    await prepare?.([read.skill]);
    if (restrictionsNow(this.#options)(read.skill) !== undefined) return undefined;
    if (read.skill === skill) return this.#current;
    const next = withSkill(this.#current, skill, read.skill);
    if (!next) return undefined;
    this.#lastScans.set(source, read.scan);
    const before = last.scans[at] as SourceScan;
    const now = { ...before, skills: before.skills.map((one) => (one === skill ? read.skill : one)) };
    this.#restricted.scans.set(read.scan, now);
    this.#assembled = { ...last, scans: last.scans.with(at, now) };
    return this.#show(next, frozen([skill.id]));
  }

  async #scanAll(): Promise<Snapshot> {
    const { prepare, disabled = () => [], limits, collision } = this.#options;
    // A source that is added during the scan is part of the next scan.
    const from = this.#sources;
    const found: SourceScan[] = [];
    for (const source of [...from, ...this.#builtIn])
      found.push(source.ifNone && found.some(hasOwn) ? LEFT_OUT : await this.#scan(source, from));
    const listed = found.slice(0, from.length);
    await prepare?.(listed.flatMap(({ skills, losers = [] }) => [...skills, ...losers]));
    // Built-in skills come with this package, like this code: only `disabled` restricts them.
    const [restrict, restrictBuiltIn] = [restrictionsNow(this.#options), restrictionsNow({ disabled })];
    const scans: SourceScan[] = [];
    for (const [at, scan] of found.entries())
      scans.push(await restrictScan(scan, at < from.length ? restrict : restrictBuiltIn, this.#restricted));
    const last = this.#assembled;
    const before = last?.from === from && isSameList(last.scans, scans) ? last : undefined;
    // While other files of equal skills differ, every refresh reads them again.
    if (before && !before.copies.differ) return this.#current;
    const copies = await equalCopies(from, listed, limits, last?.copies);
    if (before && isSameList([...before.copies.files].flat(), [...copies.files].flat())) return this.#current;
    this.#assembled = { from, scans, copies };
    return this.#replaceIfChanged(await assemble(this.#assembled, this.#current.version + 1, collision));
  }

  async #scan(source: SkillSource, all: readonly SkillSource[]): Promise<SourceScan> {
    try {
      const scan = await source.scan(this.#options.limits, all);
      this.#lastScans.set(source, scan);
      return scan;
    } catch (error) {
      const before = this.#lastScans.get(source) ?? LEFT_OUT;
      const count = before.skills.length;
      const kept = count === 0 ? 'no scan of it has given a skill yet' : `it keeps its last ${plural(count, 'skill')}`;
      const message = `The source "${source.id}" could not be scanned (${describeError(error)}); ${kept}. Correct the source; the next scan tries it again.`;
      const problem: Problem = { code: 'SOURCE_FAILED', severity: 'error', file: source.location, message };
      return { ...before, problems: [...before.problems, problem] };
    }
  }

  async #replaceIfChanged(next: Snapshot): Promise<Snapshot> {
    if (this.#current.version > 0 && (await isSameCatalog(this.#current, next))) return this.#current;
    const ids = frozen(this.#listeners.size > 0 ? await changedIds(this.#current, next) : []);
    await eachWithBreaks(next.byQualifiedId.values(), frozen);
    await eachWithBreaks(next.builtIn.values(), frozen);
    await eachWithBreaks(next.problems, frozen);
    return this.#show(frozen(next), ids);
  }

  async #show(snapshot: Snapshot, ids: readonly string[]): Promise<Snapshot> {
    this.#current = snapshot;
    this.#mark();
    for (const listener of [...this.#listeners]) {
      this.#options.callHook('onChange', () => listener(ids, copyForCallers(snapshot)));
      await takeBreak();
    }
    return snapshot;
  }
}

// --- internal ---

const LEFT_OUT: SourceScan = { skills: [], problems: [] };
/** Skills that are read one after the other: more cost as much as all. */
const FEW = 16;

/** A skill that cannot be loaded (an error) counts, too. */
function hasOwn({ skills, problems }: SourceScan): boolean {
  return skills.length > 0 || problems.some(({ severity }) => severity === 'error');
}

/**
 * The skill that was written or fetched, if it can be replaced alone: no other skill has its id, folder or file,
 * `requires` names nothing, nothing hides or holds it, and no problem names it. Undefined: all sources must be scanned.
 */
function skillAlone({ byQualifiedId, problems }: Snapshot, isIt: (skill: Skill) => boolean): Skill | undefined {
  const all = [...byQualifiedId.values()];
  const skill = all.find(isIt);
  if (!skill || !isFree(skill)) return undefined;
  const isRival = ({ id, dir, realFile }: Skill): boolean =>
    id === skill.id || (skill.realFile !== null && (dir === skill.dir || realFile === skill.realFile));
  if (all.some((other) => other !== skill && isRival(other))) return undefined;
  return problems.some(({ file }) => file === skill.file || file === skill.realFile) ? undefined : skill;
}

function withSkill(snapshot: Snapshot, before: Skill, skill: Skill): Snapshot | undefined {
  if (!isFree(skill)) return undefined;
  return frozen({
    ...snapshot,
    version: snapshot.version + 1,
    skills: snapshot.skills.map((one) => (one === before ? skill : one)),
    byId: new Map(snapshot.byId).set(skill.id, skill),
    byQualifiedId: new Map(snapshot.byQualifiedId).set(skill.qualifiedId, skill),
  });
}

function withHeld(snapshot: Snapshot, holds: Iterable<ReadonlyMap<string, string>>): Snapshot {
  const marked = new Map<Skill, Skill>();
  for (const [id, heldBecause] of [...holds].flatMap((held) => [...held])) {
    const skill = snapshot.byQualifiedId.get(id);
    if (skill && skill.heldBecause === undefined) marked.set(skill, frozen({ ...skill, heldBecause }));
  }
  const markedIn = (map: ReadonlyMap<string, Skill>) =>
    new Map([...map].map(([id, skill]) => [id, marked.get(skill) ?? skill]));
  return frozen({
    ...snapshot,
    skills: snapshot.skills.map((skill) => marked.get(skill) ?? skill),
    byId: markedIn(snapshot.byId),
    byQualifiedId: markedIn(snapshot.byQualifiedId),
    packs: new Map([...snapshot.packs].map(([id, pack]) => [id, { ...pack, byId: markedIn(pack.byId) }])),
  });
}

function isFree({ requires, preload, hiddenBecause, heldBecause, disabledFor }: Skill): boolean {
  return requires.length === 0 && !preload && !hiddenBecause && heldBecause === undefined && disabledFor === undefined;
}
