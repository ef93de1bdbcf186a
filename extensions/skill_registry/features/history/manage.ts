import { lstatSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { futureRealPath, writeContained } from '../../../../lib/files/index.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import { type ChangeContext, findLocation, newLocation, withJudgedErrors } from './change-context.ts';
import { noChange, shownChanged, skillExists, sourceNotWritable } from './errors.ts';
import { archiveFolder } from './journal/journal-entries.ts';
import type { RevisionRecorder } from './recorder.ts';
import { repairSkill } from './repair.ts';
import {
  assertRemovable,
  bytesAfter,
  bytesAt,
  checkChange,
  checkNewName,
  checkValid,
  decodeText,
  filePath,
  folderOf,
} from './skill-location.ts';
import type { Management, Revision } from './types.ts';
import { skillIdAt } from './write-policy.ts';

export function createManagement(context: ChangeContext, recorder: RevisionRecorder): Management {
  const { limits, writer } = context;
  const refreshed = async (change: () => Revision): Promise<Revision> => {
    const revision = await writer.exclusively(change);
    await context.refresh();
    return revision;
  };
  return {
    async add(path, content, { by, reason }) {
      const source = context.sources().find((candidate) => candidate.contains(path));
      const skillId = skillIdAt(path, context.sources());
      if (!source?.writing || skillId === undefined) {
        const why = 'no source that may be written reads it as a skill.';
        throw sourceNotWritable(basename(path), source?.id ?? 'none', why);
      }
      const { folder, profile } = source.writing;
      const base = futureRealPath(folder);
      const below = relative(base, path).split(sep).join('/');
      checkNewName(below);
      checkValid({ skillId, skillFile: below, profile }, below, null, Buffer.from(content), true);
      // Inside `exclusively`: without a history no skill is written.
      await writer.exclusively(() => {
        if (lstatSync(path, { throwIfNoEntry: false })) throw skillExists(skillId, 'its file is there');
        writeContained(base, below, content);
      });
      await context.refresh();
      const skill = [...context.snapshot().byQualifiedId.values()].find(({ realFile }) => realFile === path);
      return skill && writer.exclusively(() => recorder.record(skill, { kind: 'created', by, reason }));
    },
    async create(skillId, content, { by, reason }) {
      return refreshed(() => {
        const location = newLocation(context, skillId);
        const [path, after] = [location.skillFile, Buffer.from(content)];
        checkChange(location, path, { before: null, after }, limits, true);
        return writer.apply({ location, changes: [{ path, after }], kind: 'created', by, reason });
      });
    },
    async write(skillId, givenPath, content, { by, reason }, turn) {
      const { revision, location } = await withJudgedErrors(context, skillId, turn, (quotes) =>
        writer.exclusively(() => {
          const location = findLocation(context, skillId, turn);
          writer.assertFinished(location.key);
          const path = filePath(givenPath, location);
          const before = bytesAt(location, path, limits);
          quotes(path, before);
          if (content === null && path === location.skillFile)
            throw invalidArgument('SKILL.md cannot be removed alone; delete the skill.');
          if (before === null) checkNewName(path);
          const after = bytesAfter(before, content, path);
          checkChange(location, path, { before, after }, limits, true);
          const revision = writer.apply({ location, changes: [{ path, after }], kind: 'tool', by, reason });
          return { revision, location };
        }),
      );
      await context.refresh(location);
      return revision;
    },
    async repair(skillId, shown, { by, reason }) {
      return writer.exclusively(() => {
        const location = findLocation(context, skillId);
        writer.assertFinished(location.key);
        const { skillFile } = location;
        const before = bytesAt(location, skillFile, limits);
        const folder = folderOf(location);
        const repair = before && repairSkill(decodeText(before, skillFile), basename(folder), skillFile);
        if (!before || !repair) throw noChange(skillFile);
        if (repair.text !== shown) throw shownChanged(skillId);
        const after = Buffer.from(repair.text);
        checkValid(location, skillFile, before, after, true);
        const written = { path: 'SKILL.md', after, mode: lstatSync(join(folder, skillFile)).mode & 0o777 };
        const changes = skillFile === written.path ? [written] : [{ path: skillFile, after: null }, written];
        return writer.apply({ location, changes, kind: 'tool', by, reason });
      });
    },
    async remove(skillId, { by, reason }, turn) {
      return refreshed(() => {
        const location = findLocation(context, skillId, turn);
        assertRemovable(location);
        const move = { direction: 'out', folder: archiveFolder(location) } as const;
        return writer.apply({ location, changes: [], move, kind: 'removed', by, reason });
      });
    },
  };
}
