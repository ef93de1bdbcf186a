import { withFallback } from '../../../../lib/errors/index.ts';
import { openTrust } from '../../../../lib/trust/index.ts';
import { groupsOf } from '../../core/catalog/merge.ts';
import { decisionAbout } from '../guard/revoked.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { originOf, sourceKey } from './address.ts';
import { scopesOf } from './find-installed.ts';
import { readLock } from './lock.ts';
import type { UsedSource } from './types.ts';

/** Sources of the lock by name, then sources of the config. Own folders and files only when a decision names them. */
export async function usedSources(context: ChangeContext): Promise<readonly UsedSource[]> {
  const trust = openTrust();
  const entries = scopesOf(context).flatMap(({ folder }) =>
    [...readLock(folder).skills].map(([name, entry]) => ({ name, entry, folder })),
  );
  const locked = await groupsOf(entries, ({ entry, folder }) =>
    withFallback(() => sourceKey(originOf(entry, folder)), entry.source),
  );
  const sources = context.sources().filter(({ key, location, kind }) => {
    const isOwn = key === undefined && kind !== 'well-known';
    return kind !== 'inline' && !(isOwn && !decisionAbout(location, trust));
  });
  const configured = await groupsOf(sources, ({ key, location }) => key ?? location);
  return [...new Set([...locked.keys(), ...configured.keys()])].map((source) => ({
    source,
    skills: (locked.get(source) ?? []).map(({ name }) => name),
    decision: decisionAbout(source, trust),
    inConfig: (configured.get(source) ?? []).map(({ id }) => id),
  }));
}
