import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unifiedDiff } from '../../../lib/diff/index.ts';
import { resourceNotFound } from '../../../lib/files/index.ts';
import { skillNamed } from '../catalog/snapshot.ts';
import { nearestIds } from '../search/names.ts';
import { skillNotFound } from '../skill/errors.ts';
import type { ChangeContext } from './change-context.ts';
import { revisionIncomplete, rowRefused, skillExists } from './errors.ts';
import { checkedFolder, checkedPath } from './journal-entries.ts';
import type { Recorder } from './recorder.ts';
import { bytesOf, findRevision, lastKeyOf, revisionsOf } from './revisions.ts';
import { folderExists, locationOfKey, locationOfSkill, type SkillLocation, skillKey } from './skill-location.ts';
import { MOST_FILES } from './skill-tree.ts';
import type { History, Revision, RevisionFile } from './types.ts';
import type { PlannedChange, Writer } from './writer.ts';

/** What skills were, and the way back. */
export function createHistory(context: ChangeContext, recorder: Recorder): History {
  const { writer } = context;
  /** Its revisions, the present content included. */
  const load = async (skillId: string): Promise<readonly Revision[]> => {
    const snapshot = context.snapshot();
    const skill = skillNamed(snapshot, skillId);
    // Where nothing can be written, what is known already is shown.
    if (skill) await writer.ifPossible(() => recorder.record(skill));
    const database = writer.hasHistory() ? writer.database() : undefined;
    const key = skill ? skillKey(skill, context.root) : database && lastKeyOf(database, skillId);
    if (database && key !== undefined) return revisionsOf(database, key);
    if (skill) return [];
    throw skillNotFound(
      skillId,
      nearestIds(
        snapshot.skills.map(({ id }) => id),
        skillId,
      ),
    );
  };
  const textOfFile = (file: RevisionFile | undefined): string | null => {
    if (!file) return null;
    return textIfText(bytesOf(writer.database(), file)) ?? `(${file.size} bytes that are no text, ${file.digest})\n`;
  };

  return {
    revisions: load,
    async read(skillId, wanted, path) {
      const revision = findRevision(await load(skillId), skillId, wanted);
      const shown = path ?? 'SKILL.md';
      const file =
        revision.files.find((one) => one.path === shown) ??
        revision.files.find((one) => path === undefined && one.path.toLowerCase() === 'skill.md');
      const bytes = file && bytesOf(writer.database(), file);
      if (!bytes)
        throw resourceNotFound(shown, `revision ${revision.number} has no such file, or it was too large to keep`);
      return bytes;
    },
    async diff(skillId, a, b) {
      const revisions = await load(skillId);
      const [from, to] = [findRevision(revisions, skillId, a), findRevision(revisions, skillId, b)];
      const paths = [...new Set([...from.files, ...to.files].map(({ path }) => path))].sort();
      const diffs = paths.map((path) => {
        const [before, after] = [from, to].map(({ files }) => files.find((one) => one.path === path));
        return before?.digest === after?.digest ? '' : unifiedDiff(path, textOfFile(before), textOfFile(after));
      });
      return diffs.join('');
    },
    async rollback(skillId, wanted, { by, reason }) {
      const target = findRevision(await load(skillId), skillId, wanted);
      const skill = skillNamed(context.snapshot(), skillId);
      if (!skill) throw skillNotFound(skillId, []);
      const location = locationOfSkill(skill, context.sources(), context.root);
      const revision = await writer.exclusively((database) => {
        // Once more, alone: the way back starts from what is there now.
        recorder.record(skill);
        const present = revisionsOf(database, location.key).at(-1) as Revision;
        const changes = changesTo(target, present, location, (file) => bytesOf(database, file));
        if (changes.length === 0) return present;
        return writer.apply({ location, changes, kind: 'rollback', by, reason, target: target.number });
      });
      await context.refresh();
      return revision;
    },
    async restore(skillId, { by, reason }) {
      const present = context.snapshot().byId.get(skillId);
      const database = writer.hasHistory() ? writer.database() : undefined;
      // Another source may have a skill of this id, which took over when this one went.
      const lookUp = present ? archivedKeyOf : lastKeyOf;
      const key = database && lookUp(database, skillId);
      if (!database || key === undefined) {
        throw present ? skillExists(skillId, `source ${present.source}`) : skillNotFound(skillId, []);
      }
      const location = locationOfKey(skillId, key, { sources: context.sources(), root: context.root });
      const revision = await writer.exclusively((database, dataDir) => {
        writer.assertFinished(location.key);
        if (folderExists(location)) throw skillExists(skillId, 'its folder is there, though no skill was read from it');
        return writer.apply({ location, kind: 'restored', by, reason, ...wayBack(database, location, dataDir) });
      });
      await context.refresh();
      return revision;
    },
  };
}

// --- internal ---

function textIfText(bytes: Buffer | undefined): string | undefined {
  const text = bytes?.toString('utf8');
  return text !== undefined && bytes && Buffer.from(text).equals(bytes) ? text : undefined;
}

/** SKILL.md comes last: until then the skill is what it was. @throws REVISION_INCOMPLETE. */
function changesTo(
  target: Revision,
  present: Revision,
  location: SkillLocation,
  bytesOfFile: (file: RevisionFile) => Buffer | undefined,
): PlannedChange['changes'] {
  const { skillId, skillFile } = location;
  const now = new Map(present.files.map((file) => [file.path, file]));
  const wanted = new Map(target.files.map((file) => [file.path, file]));
  // Of a revision that was cut nobody knows what else there was.
  const known = target.files.length < MOST_FILES ? [...wanted.keys(), ...now.keys()] : [...wanted.keys()];
  const differing = [...new Set(known)].filter((path) => now.get(path)?.digest !== wanted.get(path)?.digest);
  const lost = differing.filter((path) => [now.get(path), wanted.get(path)].some((file) => file?.kept === false));
  if (lost.length > 0) throw revisionIncomplete(skillId, lost);
  return differing
    .sort((a, b) => Number(a === skillFile) - Number(b === skillFile))
    .map((path) => {
      const file = wanted.get(checkedPath(path, location));
      return { path, after: file ? (bytesOfFile(file) ?? null) : null, ...(file ? { mode: file.mode } : {}) };
    });
}

/** Of the skill that was removed last and is still in the archive. */
function archivedKeyOf(database: ReturnType<Writer['database']>, skillId: string): string | undefined {
  const row = database
    .prepare('SELECT place FROM archived WHERE skill_id = ? AND restored_at IS NULL ORDER BY seq DESC LIMIT 1')
    .get(skillId);
  return (row as { place: string } | undefined)?.place;
}

/** Out of the archive; where that has nothing (somebody else has removed it), from the last revision. */
function wayBack(
  database: ReturnType<Writer['database']>,
  location: SkillLocation,
  dataDir: string,
): Pick<PlannedChange, 'changes' | 'move'> {
  const { key, skillId, skillFile } = location;
  const archived = database
    .prepare('SELECT folder FROM archived WHERE place = ? AND restored_at IS NULL ORDER BY seq DESC LIMIT 1')
    .get(key) as { folder: string } | undefined;
  const folder = archived && checkedFolder(archived.folder);
  if (folder !== undefined && existsSync(join(dataDir, folder)))
    return { changes: [], move: { direction: 'back', folder } };
  const last = revisionsOf(database, key).at(-1);
  if (!last) throw rowRefused(`a skill in the archive, ${JSON.stringify(skillId)}, without a revision`);
  const lost = last.files.filter(({ kept }) => !kept).map(({ path }) => path);
  if (lost.length > 0) throw revisionIncomplete(skillId, lost);
  const changes = [...last.files]
    .sort((a, b) => Number(a.path === skillFile) - Number(b.path === skillFile))
    .map((file) => ({
      path: checkedPath(file.path, location),
      after: bytesOf(database, file) ?? null,
      mode: file.mode,
    }));
  return { changes };
}
