import type { Problem } from 'skill-registry/kernel';
import type { SkillSource, SourceScan } from '../sources/source.ts';
import { frozen, readOnlyMap } from './read-only.ts';
import type { Pack } from './snapshot.ts';

/** Packs by the unique id of their source, and by their own id. PACK_ID_TAKEN when that id belongs to another pack or source. */
export function packsOf(
  sources: readonly SkillSource[],
  scans: readonly SourceScan[],
): { readonly packs: ReadonlyMap<string, Pack>; readonly problems: readonly Problem[] } {
  const packs = new Map<string, Pack>();
  const locations = new Map<Pack, string>();
  for (const [index, source] of sources.entries()) {
    const scopes = source.scopes?.();
    if (!scopes) continue;
    const byId = new Map(scans[index]?.skills.map((skill) => [skill.id, skill]));
    const events = readOnlyMap(new Map([...scopes.events].map(([state, to]) => [state, readOnlyMap(to)])));
    const pack = frozen({ scopes: { ...scopes, states: readOnlyMap(scopes.states), events }, byId: readOnlyMap(byId) });
    packs.set(source.id, pack);
    locations.set(pack, source.location);
  }
  const problems = [...packs].flatMap(([sourceId, pack]) => {
    const { pack: id } = pack.scopes;
    const other = packs.get(id) ?? pack;
    packs.set(id, other);
    const [file, otherFile] = [locations.get(pack) as string, locations.get(other) as string];
    return file === otherFile ? [] : [taken(id, sourceId, file, otherFile)];
  });
  return { packs, problems };
}

// --- internal ---

function taken(id: string, sourceId: string, file: string, other: string): Problem {
  const message =
    `The id ${JSON.stringify(id)} of this pack belongs to another one (${other}), so a workflow with that id uses the other pack. ` +
    `Change the id of one of them, or write "${sourceId}", the id of its source, where you mean this one.`;
  return { code: 'PACK_ID_TAKEN', severity: 'warning', file, message, details: { id, winner: other, loser: file } };
}
