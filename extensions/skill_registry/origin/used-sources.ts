import { openTrust } from '../../../lib/trust/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { decisionAbout } from '../trust/sources.ts';
import { originOf, sourceKey } from './address.ts';
import { readLock } from './lock.ts';
import type { LockEntry, UsedSource } from './types.ts';

/**
 * Those of the lock, by name, then those of the config: packages and what is asked over a network or as a program, and of folders and
 * files those about which somebody decided.
 */
export function usedSources(context: ChangeContext): readonly UsedSource[] {
  const skills = new Map<string, string[]>();
  for (const [name, entry] of readLock(context.root).skills) {
    const source = sourceOf(entry, context.root);
    skills.set(source, [...(skills.get(source) ?? []), name]);
  }
  const trust = openTrust();
  const inConfig = new Map<string, string[]>();
  for (const { id, key, location, kind } of context.sources()) {
    const source = key ?? location;
    const isOwn = key === undefined && kind !== 'well-known';
    if (kind === 'inline' || (isOwn && !decisionAbout(source, trust))) continue;
    inConfig.set(source, [...(inConfig.get(source) ?? []), id]);
  }
  return [...new Set([...skills.keys(), ...inConfig.keys()])].map((source) => ({
    ...{ source, skills: skills.get(source) ?? [], inConfig: inConfig.get(source) ?? [] },
    decision: decisionAbout(source, trust),
  }));
}

// --- internal ---

/** An entry whose origin cannot be read is named as it is written. */
function sourceOf(entry: LockEntry, root: string): string {
  try {
    return sourceKey(originOf(entry, root));
  } catch {
    return entry.source;
  }
}
