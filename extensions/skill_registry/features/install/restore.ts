import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { originRefused } from '../../../../lib/fetch/index.ts';
import { slugOf } from '../../core/skill/skill.ts';
import { type LockScope, lockScopes } from '../guard/installed.ts';
import { assertNotRevoked } from '../guard/sources.ts';
import { agentFolders, folderOf, type SkillLocation } from '../history/skill-location.ts';
import { originOf, pageIn, pinnedOrigin, shownOrigin, sourceKey } from './address.ts';
import { filesAt, findInstalled, scopesOf } from './find-installed.ts';
import { applyOf, blockedAs, inspectIncoming, type PlannedSkill, planSkill } from './let-in.ts';
import { knownAgents, makeLinks, planLinks } from './links.ts';
import { assertApproved, assertLock, isAsLocked, readLock } from './lock.ts';
import { type InstallContext, withOrigins } from './open-origin.ts';
import { folderNamed } from './place.ts';
import type { AddPlan, LockEntry } from './types.ts';
import { incomingOf } from './update.ts';
import { locationFor } from './write-skill.ts';

export async function planRestore(context: InstallContext, to: string | undefined): Promise<AddPlan> {
  const [project] = lockScopes(context.root);
  const person = scopesOf(context).find(({ ofPerson }) => ofPerson);
  const unlinked = person ? [...(await lostOf(context, person)).unlinked] : [];
  if (unlinked.length === 0) assertLock(context.root);
  const { skills, broken } = readLock(context.root);
  if (unlinked.length === 0 || skills.size + broken.size > 0) assertApproved(context);
  const [unusable] = broken;
  if (unusable) throw originRefused(`"${unusable[0]}" in skills-lock.json`, `${unusable[1]}.`);
  const { absent, ...found } = await lostOf(context, project);
  unlinked.push(...found.unlinked);
  for (const [name, entry] of absent) {
    const origin = originOf(entry, context.root);
    assertNotRevoked(sourceKey(origin));
    await context.assertMayCome(sourceKey(origin), slugOf(name), pageIn(origin));
  }
  const fetched: PlannedSkill[] = [];
  const ids = absent.map(([name]) => slugOf(name));
  await withOrigins(context, async (open) => {
    for (const [name, entry] of absent) {
      const origin = pinnedOrigin(originOf(entry, context.root), entry);
      const incoming = await incomingOf(await open(origin, name), name, entry);
      if (!isAsLocked(incoming.files, entry)) {
        const what = entry.registry ? entry.registry.digest : `computedHash ${entry.computedHash}`;
        throw originRefused(`"${name}"`, `${shownOrigin(origin)} has other files than the lock says (${what}).`);
      }
      const folder = folderNamed(to, context.root) ?? folderOfTools(context.root, entry);
      const location = locationFor(context, incoming.id, folder, project);
      const links = planLinks(project, location, knownAgents(entry));
      const lock = { name, entry, before: entry };
      const write = { location, kind: 'installed', origin: shownOrigin(origin), lock } as const;
      fetched.push(await planSkill(context, incoming, write, { ids, isAlong: false, links }));
    }
  });
  const apply = applyOf(
    context,
    fetched.map(({ write }) => write),
  );
  return {
    origin: 'skills-lock.json',
    skills: fetched.map(({ view }) => view),
    installed: [],
    links: unlinked.flatMap(({ missing }) => missing),
    unreadable: [],
    async apply(...given) {
      for (const { scope, location, entry } of unlinked) makeLinks(scope, location, entry);
      return apply(...given);
    },
  };
}

// --- internal ---

/** What a lock lists and is not there; of a skill that was changed in the home directory nothing. */
async function lostOf(context: InstallContext, scope: LockScope) {
  const absent: (readonly [string, LockEntry])[] = [];
  const unlinked: { scope: LockScope; location: SkillLocation; entry: LockEntry; missing: readonly string[] }[] = [];
  const installed = await findInstalled(context, scope);
  for (const [name, entry] of readLock(scope.folder).skills) {
    const location = installed.find(name, entry)?.location;
    if (!location) {
      absent.push([name, entry]);
      continue;
    }
    const files = filesAt(location);
    if (!isAsLocked(files, entry)) {
      if (scope.ofPerson) continue;
      throw changedHere(name, folderOf(location));
    }
    const missing = planLinks(scope, location, knownAgents(entry)).links.filter((link) => !existsSync(link));
    // No other program is shown what is held.
    if (missing.length > 0 && blockedAs(location.skillId, [await inspectIncoming(files)]) === undefined)
      unlinked.push({ scope, location, entry, missing });
  }
  return { absent, unlinked };
}

function changedHere(name: string, folder: string): Error {
  const why = 'it has changed here (skill-registry verify says what), and --frozen writes over no change.';
  const advice = `To drop the change, move ${JSON.stringify(folder)} away; then try again`;
  return originRefused(`"${name}"`, `${why} ${advice}, with --to ${JSON.stringify(dirname(folder))}.`);
}

/** For entries of other tools: the folder where those tools look for skills, if it exists. */
function folderOfTools(root: string, { registry }: LockEntry): string | undefined {
  const [folder] = agentFolders(root).flatMap(({ id, writing }) => (id === 'agents' && writing ? writing.folder : []));
  return registry === undefined && folder !== undefined && existsSync(folder) ? folder : undefined;
}
