import { describeError, type Problem } from 'skill-registry/kernel';
import type { Skill, Snapshot } from '../api.ts';
import type { SkillRegistryConfig } from '../config.ts';
import type { SkillSource, SourceScan } from '../sources/source.ts';
import { mergeSources } from './merge.ts';
import { createPace } from './pace.ts';

/** The live catalog: sources in, snapshots out. */
export interface Catalog {
  snapshot(): Snapshot;
  /**
   * Scans every source and swaps in a new snapshot if anything changed. Single-flight: a call during a scan shares the one
   * scan that follows, because the running one may already have passed what changed.
   */
  refresh(): Promise<Snapshot>;
  onChange(listener: ChangeListener): () => void;
  readonly sources: readonly SkillSource[];
}

export type ChangeListener = (ids: readonly string[], snapshot: Snapshot) => void;

export function createCatalog(sources: readonly SkillSource[], limits: SkillRegistryConfig['limits']): Catalog {
  const listeners = new Set<ChangeListener>();
  const lastGood = new Map<string, SourceScan>();
  let current: Snapshot = { version: 0, ...mergeSources([]), sources: [], problems: [] };
  let fingerprint = '';
  let running: Promise<Snapshot> | undefined;
  let following: Promise<Snapshot> | undefined;

  const scanAll = async (): Promise<Snapshot> => {
    const pace = createPace();
    const scans: SourceScan[] = [];
    for (const source of sources) scans.push(await scanOne(source, limits, lastGood, pace));
    const next = assemble(sources, scans, current.version + 1);
    const nextFingerprint = fingerprintOf(next);
    if (nextFingerprint === fingerprint) return current;
    const ids = changedIds(current, next);
    fingerprint = nextFingerprint;
    current = next;
    for (const listener of [...listeners]) listener(ids, next);
    return next;
  };

  const start = (): Promise<Snapshot> => {
    running = scanAll().finally(() => {
      running = undefined;
    });
    return running;
  };

  return {
    sources,
    snapshot: () => current,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    refresh() {
      // Asked first: between two scans none is running, and one is about to.
      if (following) return following;
      if (!running) return start();
      following = running
        .catch(() => undefined)
        .then(() => {
          following = undefined;
          return start();
        });
      return following;
    },
  };
}

// --- internal ---

async function scanOne(
  source: SkillSource,
  limits: SkillRegistryConfig['limits'],
  lastGood: Map<string, SourceScan>,
  pace: () => Promise<void>,
): Promise<SourceScan> {
  try {
    const scan = await source.scan(limits, pace);
    lastGood.set(source.id, scan);
    return scan;
  } catch (error) {
    const before = lastGood.get(source.id) ?? { skills: [], problems: [] };
    const message = `The source "${source.id}" could not be scanned (${describeError(error)}); its last ${before.skills.length} skill(s) stay.`;
    const problem: Problem = { code: 'SOURCE_FAILED', severity: 'error', file: source.location, message };
    return { skills: before.skills, problems: [...before.problems, problem] };
  }
}

function assemble(sources: readonly SkillSource[], scans: readonly SourceScan[], version: number): Snapshot {
  const { skills, byId, byQualifiedId, problems } = mergeSources(scans.map((scan) => scan.skills));
  return {
    version,
    skills,
    byId,
    byQualifiedId,
    sources: sources.map(({ id, kind, location }, index) => ({
      id,
      kind,
      location,
      skills: scans[index]?.skills.length ?? 0,
    })),
    problems: [...scans.flatMap((scan) => scan.problems), ...problems],
  };
}

/** Equal for equal catalogs: what a reader could tell apart is in it. */
function fingerprintOf({ byQualifiedId, problems }: Snapshot): string {
  const skills = [...byQualifiedId].map(([id, skill]) => `${id}\0${skill.realFile}\0${skill.digest}`);
  return JSON.stringify([skills, problems.map(({ code, file, line, message }) => [code, file, line, message])]);
}

function changedIds(before: Snapshot, after: Snapshot): readonly string[] {
  const differs = (id: string): boolean => stampOf(before.byId.get(id)) !== stampOf(after.byId.get(id));
  return [...new Set([...before.byId.keys(), ...after.byId.keys()])].filter(differs);
}

function stampOf(skill: Skill | undefined): string | undefined {
  return skill && `${skill.qualifiedId}\0${skill.digest}`;
}
