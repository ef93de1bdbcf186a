import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { originRefused } from '../../../lib/fetch/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { agentFolders, folderOf } from '../history/skill-location.ts';
import { slugOf } from '../skill/skill.ts';
import { assertNotRevoked } from '../trust/sources.ts';
import { skillToAdd } from './add.ts';
import { originOf, pinnedOrigin, shownOrigin, sourceKey } from './address.ts';
import { filesAt, findInstalled } from './find-installed.ts';
import { inspectIncoming, writeAllowed } from './let-in.ts';
import { isAsLocked, readLock } from './lock.ts';
import { createOriginCache, type OriginCache } from './open-origin.ts';
import type { AddPlan, LockEntry, SkillToAdd } from './types.ts';
import { incomingOf } from './update.ts';
import { locationFor, type SkillToWrite, writeSkills } from './write-skill.ts';

/** @throws as `Origins.restore`. */
export async function planRestore(context: ChangeContext, to: string | undefined): Promise<AddPlan> {
  const { skills, broken } = readLock(context.root);
  const [unusable] = broken;
  if (unusable) throw originRefused(`"${unusable[0]}" in skills-lock.json`, `${unusable[1]}.`);
  const absent: (readonly [string, LockEntry])[] = [];
  const installed = findInstalled(context);
  for (const [name, entry] of skills) {
    const found = installed.find(name, entry);
    if (!found) absent.push([name, entry]);
    else if (!isAsLocked(filesAt(found.location), entry)) throw changedHere(name, folderOf(found.location));
  }
  const fetched: { readonly view: SkillToAdd; readonly write: SkillToWrite }[] = [];
  for (const [, entry] of absent) assertNotRevoked(sourceKey(originOf(entry, context.root)));
  const cache = createOriginCache();
  try {
    const ids = absent.map(([name]) => slugOf(name));
    for (const [name, entry] of absent) fetched.push(await fetchLocked(context, name, entry, { cache, to, ids }));
  } finally {
    await cache.close();
  }
  const writes = fetched.map(({ write }) => write);
  return {
    ...{ origin: 'skills-lock.json', skills: fetched.map(({ view }) => view), installed: [], unreadable: [] },
    apply: (actor, allowed = {}) => writeAllowed(writes, actor, allowed, (taken) => writeSkills(context, taken, actor)),
  };
}

// --- internal ---

function changedHere(name: string, folder: string): Error {
  const remedy = `To drop the change, move ${JSON.stringify(folder)} away; then try again, with --to ${JSON.stringify(dirname(folder))}`;
  return originRefused(
    `"${name}"`,
    `it has changed here (skill-registry verify says what), and --frozen writes over no change. ${remedy}.`,
  );
}

/** Where another tool has installed and looks for skills; undefined where it has not, and for an entry of our own. */
function folderOfTools(root: string, { registry }: LockEntry): string | undefined {
  const [folder] = agentFolders(root).flatMap(({ id, writing }) => (id === 'agents' && writing ? writing.folder : []));
  return registry === undefined && folder !== undefined && existsSync(folder) ? folder : undefined;
}

async function fetchLocked(
  context: ChangeContext,
  name: string,
  entry: LockEntry,
  { cache, to, ids }: { readonly cache: OriginCache; readonly to: string | undefined; readonly ids: readonly string[] },
): Promise<{ readonly view: SkillToAdd; readonly write: SkillToWrite }> {
  const origin = pinnedOrigin(originOf(entry, context.root), entry);
  const { files, skill, leftOut } = await incomingOf(await cache.open(origin, name), name, entry);
  if (!isAsLocked(files, entry)) {
    const what = entry.registry ? entry.registry.digest : `computedHash ${entry.computedHash}`;
    throw originRefused(`"${name}"`, `${shownOrigin(origin)} has other files than the lock says (${what}).`);
  }
  const location = locationFor(context, skill.id, to ?? folderOfTools(context.root, entry));
  const looked = await inspectIncoming(files);
  return {
    view: await skillToAdd(context, location, skill.header, files, { ids, isAlong: false, leftOut, looked }),
    write: {
      location,
      files,
      gone: [],
      conflicts: [],
      kind: 'installed',
      looked,
      origin: shownOrigin(origin),
      lock: { name, entry, before: entry },
    },
  };
}
