import { openTrust } from '../../../lib/trust/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { decisionAbout } from '../trust/sources.ts';
import { originOf, sourceKey } from './address.ts';
import { readLock } from './lock.ts';
import type { LockEntry, UsedSource } from './types.ts';

/** Those of the lock, by name, then those of the config that are asked over a network or as a program. */
export function usedSources(context: ChangeContext): readonly UsedSource[] {
  const skills = new Map<string, string[]>();
  for (const [name, entry] of readLock(context.root).skills) {
    const source = sourceOf(entry, context.root);
    skills.set(source, [...(skills.get(source) ?? []), name]);
  }
  const asked = context.sources().filter(({ kind }) => kind === 'well-known' || kind === 'mcp');
  for (const { location } of asked) skills.set(location, skills.get(location) ?? []);
  const trust = openTrust();
  return [...skills].map(([source, names]) => ({ source, skills: names, decision: decisionAbout(source, trust) }));
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
