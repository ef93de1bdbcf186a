import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from 'skill-registry/kernel';
import { unifiedDiff } from '../../../../lib/diff/index.ts';
import { unlessCoded } from '../../../../lib/errors/index.ts';
import { resourceNotFound } from '../../../../lib/files/index.ts';
import { nearestIds } from '../../../../lib/text/index.ts';
import { skillNamed } from '../../core/catalog/snapshot.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { isSkillFileName } from '../../core/sources/walk/names.ts';
import type { SqliteDatabase } from '../../core/store/open-database.ts';
import { archivedForInspection } from '../guard/files-for-inspection.ts';
import { lockScopes } from '../guard/installed.ts';
import { asInspected, MAX_RECORDED_FILES } from '../guard/recorded-files.ts';
import { type ChangeContext, findSkill } from './change-context.ts';
import { quoted, rowRefused, skillExists } from './errors.ts';
import { afterChanges, assertInspected, type FilesAfter } from './inspected-change.ts';
import { archivedLock, checkedFolder, checkedPath } from './journal/journal-entries.ts';
import type { PlannedChange, ResultOrReason } from './journal/writer.ts';
import type { RevisionRecorder } from './recorder.ts';
import { findRevision, type LoadedRevisions, lastKeyOf, revisionsOf, storedBytes } from './revisions.ts';
import {
  folderExists,
  folderOf,
  installFolders,
  locationOfKey,
  locationOfSkill,
  type SkillLocation,
  skillKey,
  skillsAt,
} from './skill-location.ts';
import { readSkillTree, type SkillTree } from './skill-tree.ts';
import type { History, Revision, RevisionFile } from './types.ts';

export interface OpenHistory extends History {
  /** What `restore` would write, for an inspection. @throws as `restore`. */
  filesToRestore(skillId: string): Promise<FilesAfter>;
  /** What `rollback` would leave; undefined where it would throw. @throws as `revision`. */
  filesOfRevision(skillId: string, revision: string | number): Promise<FilesAfter | undefined>;
  /** After `restore`, even if another skill has the id. */
  restoredSkill(skillId: string): Skill | undefined;
}

export function createHistory(context: ChangeContext, recorder: RevisionRecorder): OpenHistory {
  const { limits, root, writer } = context;
  const databaseIfThere = (): SqliteDatabase | undefined => (writer.hasHistory() ? writer.database() : undefined);
  const bytesOf = (file: RevisionFile): Buffer | undefined => storedBytes(writer.database(), file);
  /** Includes the present content; `reason`: why that could not be recorded. */
  const load = async (skillId: string): Promise<LoadedRevisions> => {
    const skill = skillNamed(context.snapshot(), skillId);
    // Where nothing can be written, earlier revisions are still shown.
    const recorded = skill ? await writer.ifPossible(() => recorder.record(skill)) : undefined;
    const reason = skill && whyNotRecorded(skill, recorded);
    const database = databaseIfThere();
    const key = skill ? skillKey(skill, root) : database && lastKeyOf(database, skillId);
    if (database && key !== undefined) return { revisions: revisionsOf(database, key), reason };
    findSkill(context, skillId);
    return { revisions: [], reason };
  };
  const presentTree = (skillId: string): SkillTree => {
    const skill = skillNamed(context.snapshot(), skillId);
    const source = context.sources().find(({ id }) => id === skill?.source);
    return skill && source ? readSkillTree(skill, source, limits.file_bytes) : { files: [], bytes: new Map() };
  };

  const locationToRestore = (skillId: string): SkillLocation => {
    const { byId } = context.snapshot();
    const present = byId.get(skillId);
    const database = databaseIfThere();
    // Another source may have got this id when this skill was removed.
    const key = database && (present ? archivedAs(database, 'skill_id', skillId)?.place : lastKeyOf(database, skillId));
    if (key === undefined) {
      const advice = `It was not removed. To undo a change of it: \`skill-registry history ${skillId}\`, \`skill-registry rollback ${skillId} REVISION\`.`;
      if (present) throw skillExists(skillId, `the source ${quoted(present.source)}`, advice);
      const sql = 'SELECT DISTINCT skill_id AS id FROM revision ORDER BY id';
      const known =
        database
          ?.prepare<{ id: string }>(sql)
          .all()
          .map(({ id }) => id) ?? [];
      const removed = known.filter((id) => !byId.has(id));
      const near = nearestIds(removed, skillId);
      const ids = (near.length > 0 ? near : removed.slice(0, 10)).map((id) => JSON.stringify(id)).join(', ');
      const [what, id] = [ids === '' ? 'Nothing was removed here.' : `To restore: ${ids}.`, skillId.slice(0, 100)];
      const message = `There is no removed skill ${JSON.stringify(id)}. ${what}`;
      throw new CodedError('SKILL_NOT_FOUND', message, { skill_id: id });
    }
    const location = locationOfKey(skillId, key, { sources: installFolders(root, context.sources()), root });
    // A repository may bring its history.
    if (context.trusted || !lockScopes(root)[1].covers(folderOf(location))) return location;
    const why = `Nobody has approved this root, so nothing of its history is written to ${folderOf(location)}.`;
    throw new CodedError('ROOT_NOT_APPROVED', `${why} To approve it: skill-registry approvals allow.`);
  };

  const afterRestore = ({ changes, move }: RestoringChange): FilesAfter => ({
    skill: undefined,
    files: () => [
      ...(move ? archivedForInspection(join(writer.dataDir, move.folder), limits.file_bytes) : []),
      ...changes.map(({ path, after, mode }) => asInspected(path, after ?? Buffer.alloc(0), mode)),
    ],
  });

  return {
    revisions: async (skillId) => (await load(skillId)).revisions,
    revision: async (skillId, number) => findRevision(await load(skillId), skillId, number),
    async read(skillId, number, path) {
      const revision = findRevision(await load(skillId), skillId, number);
      const shownPath = path ?? 'SKILL.md';
      const file =
        revision.files.find((candidate) => candidate.path === shownPath) ??
        revision.files.find((candidate) => path === undefined && isSkillFileName(candidate.path));
      const bytes = file && bytesOf(file);
      if (bytes) return bytes;
      throw resourceNotFound(shownPath, `revision ${revision.number} has no such file, or it was too large to keep`);
    },
    async diff(skillId, a, b) {
      const loaded = await load(skillId);
      const contentOf = (name: string | number): Content =>
        name === PRESENT ? presentTree(skillId) : findRevision(loaded, skillId, name);
      return differenceOf(contentOf(a), contentOf(b), bytesOf);
    },
    async rollback(skillId, number, actor) {
      const skill = skillNamed(context.snapshot(), skillId);
      if (!skill) {
        findRevision(await load(skillId), skillId, number);
        const message = `The skill "${skillId}" was removed. \`skill-registry rollback ${skillId}\` restores its last content; then roll it back.`;
        throw new CodedError('SKILL_NOT_FOUND', message, { skill_id: skillId });
      }
      const { revision, location } = await writer.exclusively((database) => {
        const notRecorded = whyNotRecorded(skill, { result: recorder.record(skill) });
        const revisions = revisionsOf(database, skillKey(skill, root));
        const target = findRevision({ revisions, reason: notRecorded }, skillId, number);
        const present = revisions.at(-1) as Revision;
        const location = locationOfSkill(skill, context.sources(), root);
        const changes = changesTo(target, present, location, bytesOf);
        if (changes.length === 0) return { revision: present, location };
        assertInspected(skillId, actor, () => afterChanges(context, location.key, skill, changes));
        const { by, reason } = actor;
        const change = { location, changes, kind: 'rollback', by, reason, target: target.number } as const;
        return { revision: writer.apply(change), location };
      });
      await context.refresh(location);
      return revision;
    },
    async restore(skillId, actor) {
      const location = locationToRestore(skillId);
      const revision = await writer.exclusively((database, dataDir) => {
        writer.assertFinished(location.key);
        if (folderExists(location))
          throw skillExists(skillId, `there is ${folderOf(location)}`, 'Move it away, then restore again.');
        const change = restoringChange(database, location, dataDir);
        assertInspected(skillId, actor, () => afterRestore(change));
        const { by, reason } = actor;
        return writer.apply({ location, kind: 'restored', by, reason, ...change });
      });
      await context.refresh();
      return revision;
    },
    async filesToRestore(skillId) {
      // First, because `database` creates a history where there is none.
      const location = locationToRestore(skillId);
      return afterRestore(restoringChange(writer.database(), location, writer.dataDir));
    },
    async filesOfRevision(skillId, number) {
      const loaded = await load(skillId);
      const target = findRevision(loaded, skillId, number);
      const skill = skillNamed(context.snapshot(), skillId);
      if (!skill) return undefined;
      // `rollback` throws the reason.
      return unlessCoded(() => {
        const location = locationOfSkill(skill, context.sources(), root);
        const changes = changesTo(target, loaded.revisions.at(-1), location, bytesOf);
        return afterChanges(context, location.key, skill, changes);
      }, undefined);
    },
    restoredSkill(skillId) {
      const key = lastKeyOf(writer.database(), skillId);
      return key === undefined ? undefined : skillsAt(key, context.snapshot().byQualifiedId.values(), root)[0];
    },
  };
}

// --- internal ---

function whyNotRecorded(
  { remote, file }: Skill,
  recorded: ResultOrReason<Revision | undefined> | undefined,
): string | undefined {
  if (recorded && 'reason' in recorded) return recorded.reason;
  if (remote === 'until-read') return 'Its files come when it is read.';
  if (remote) return 'It is a skill of an MCP server, where its history is, if there is one.';
  return recorded?.result ? undefined : `${file} cannot be read now.`;
}

/** No digest starts like this. */
const PRESENT = 'present';

interface Content extends Pick<Revision, 'files'> {
  readonly bytes?: SkillTree['bytes'];
}

function differenceOf(from: Content, to: Content, recorded: (file: RevisionFile) => Buffer | undefined): string {
  const paths = [...new Set([...from.files, ...to.files].map(({ path }) => path))].sort();
  const textIn = ({ bytes }: Content, file: RevisionFile | undefined): string | null => {
    if (!file) return null;
    const content = bytes ? bytes.get(file.path) : recorded(file);
    if (content && isUtf8(content)) return content.toString('utf8');
    return `(${file.size} bytes that are no text, ${file.digest})\n`;
  };
  const diffs = paths.map((path) => {
    const [before, after] = [from, to].map(({ files }) => files.find((file) => file.path === path));
    return before?.digest === after?.digest ? '' : unifiedDiff(path, textIn(from, before), textIn(to, after));
  });
  return diffs.join('');
}

function changesTo(
  target: Revision,
  present: Revision | undefined,
  location: SkillLocation,
  bytesOfFile: (file: RevisionFile) => Buffer | undefined,
): PlannedChange['changes'] {
  const { skillId } = location;
  const presentFiles = new Map(present?.files.map((file) => [file.path, file]));
  const targetFiles = new Map(target.files.map((file) => [file.path, file]));
  // A revision with MAX_RECORDED_FILES files may have had more: remove no file that it does not list.
  const isComplete = target.files.length < MAX_RECORDED_FILES;
  const paths = new Set([...targetFiles.keys(), ...(isComplete ? presentFiles.keys() : [])]);
  const differing = [...paths].filter((path) => presentFiles.get(path)?.digest !== targetFiles.get(path)?.digest);
  const assertKept = (files: typeof targetFiles, message: (files: string) => string): void => {
    const lost = differing.filter((path) => files.get(path)?.kept === false);
    if (lost.length === 0) return;
    const shown = message(lost.map((path) => quoted(path)).join(', '));
    throw new CodedError('REVISION_INCOMPLETE', shown, { skill_id: skillId, paths: lost });
  };
  assertKept(
    targetFiles,
    (files) =>
      `This revision of "${skillId}" cannot be restored completely. These files were larger than limits.file_bytes, so their content was not kept: ${files}. Choose another revision (\`skill-registry history ${skillId}\`), or write the skill's files by hand (\`skill-registry show ${skillId} --revision N --resource FILE\` prints what was kept). Raise limits.file_bytes so that later revisions keep them.`,
  );
  assertKept(
    presentFiles,
    (files) =>
      `Rolling "${skillId}" back would lose the present content of ${files}, which is not kept because it is larger than limits.file_bytes. Raise limits.file_bytes above their size, or move these files out of the skill, and roll back again.`,
  );
  // Agents read the old instructions until SKILL.md is written.
  const isLast = (path: string): number => Number(path === location.skillFile);
  return differing
    .sort((a, b) => isLast(a) - isLast(b))
    .map((path) => {
      const file = targetFiles.get(checkedPath(path, location));
      return { path, after: file ? (bytesOfFile(file) ?? null) : null, ...(file ? { mode: file.mode } : {}) };
    });
}

function archivedAs(database: SqliteDatabase, column: 'skill_id' | 'place', value: string) {
  const sql = `SELECT place, folder, lock FROM archived WHERE ${column} = ? AND restored_at IS NULL ORDER BY seq DESC LIMIT 1`;
  return database.prepare<Readonly<Record<'place' | 'folder', string>> & { lock: string | null }>(sql).get(value);
}

type RestoringChange = Pick<PlannedChange, 'changes' | 'move' | 'lock'>;

/** From the archive; without the archived folder, from the last revision. */
function restoringChange(database: SqliteDatabase, location: SkillLocation, dataDir: string): RestoringChange {
  const { key, skillId } = location;
  const archived = archivedAs(database, 'place', key);
  const folder = archived && checkedFolder(archived.folder);
  const lock = archivedLock(archived?.lock ?? null);
  if (folder !== undefined && existsSync(join(dataDir, folder)))
    return { changes: [], move: { direction: 'back', folder }, lock };
  const last = revisionsOf(database, key).at(-1);
  if (!last) throw rowRefused(`a skill in the archive, ${JSON.stringify(skillId)}, without a revision`);
  return { changes: changesTo(last, undefined, location, (file) => storedBytes(database, file)), lock };
}
