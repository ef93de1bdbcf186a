import { lstatSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { futureRealPath, writeContained } from '../../../lib/files/index.ts';
import type { ValidationProfile } from '../config/config.ts';
import { invalidArgument } from '../skill/errors.ts';
import { repairSkill } from '../skill/repair.ts';
import type { SkillSource } from '../sources/source.ts';
import { newErrors, newMissingParts } from '../validate/changed-text.ts';
import { type ChangeContext, findLocation, newLocation, type Quotes, withJudgedErrors } from './change-context.ts';
import { noChange, shownChanged, skillExists, skillInvalid, sourceNotWritable } from './errors.ts';
import { archiveFolder } from './journal-entries.ts';
import type { RevisionRecorder } from './recorder.ts';
import {
  assertRemovable,
  bytesAfter,
  bytesAt,
  checkNewName,
  checkSize,
  checkValid,
  decodeText,
  filePath,
  folderOf,
} from './skill-location.ts';
import type { Management } from './types.ts';
import { skillIdAt } from './write-policy.ts';

/** Changes without review. */
export function createManagement(context: ChangeContext, recorder: RevisionRecorder): Management {
  const { writer } = context;
  return {
    async add(path, content, { by, reason }) {
      const { base, below, skillId, validation } = newFile(path, context.sources());
      checkNewName(below);
      const errors = [...newErrors(null, content, skillId, validation), ...newMissingParts(null, content, skillId)];
      if (errors.length > 0) throw skillInvalid(skillId, errors);
      // Inside `exclusively`, because without a history no skill is written.
      await writer.exclusively(() => {
        if (lstatSync(path, { throwIfNoEntry: false })) throw skillExists(skillId, 'its file is there');
        writeContained(base, below, content);
      });
      await context.refresh();
      const skill = [...context.snapshot().byQualifiedId.values()].find(({ realFile }) => realFile === path);
      return skill && writer.exclusively(() => recorder.record(skill, { kind: 'created', by, reason }));
    },
    async create(skillId, content, { by, reason }) {
      const revision = await writer.exclusively(() => {
        const location = newLocation(context, skillId);
        const after = Buffer.from(content);
        checkSize(location, location.skillFile, after, context.limits);
        checkValid(location, location.skillFile, null, after, true);
        return writer.apply({ location, changes: [{ path: location.skillFile, after }], kind: 'created', by, reason });
      });
      await context.refresh();
      return revision;
    },
    async write(skillId, path, content, { by, reason }, turn) {
      const change = (quotes: Quotes) => () => {
        const location = findLocation(context, skillId, turn);
        writer.assertFinished(location.key);
        const target = filePath(path, location);
        const before = bytesAt(location, target, context.limits);
        quotes(target, before);
        if (content === null && target === location.skillFile) {
          throw invalidArgument('SKILL.md cannot be removed alone; delete the skill.');
        }
        if (before === null) checkNewName(target);
        const after = bytesAfter(before, content, target);
        if (after === null ? before === null : before?.equals(after)) throw noChange(target);
        if (after) {
          checkSize(location, target, after, context.limits);
          checkValid(location, target, before, after, true);
        }
        const written = { location, changes: [{ path: target, after }], kind: 'tool', by, reason } as const;
        return { revision: writer.apply(written), location };
      };
      const { revision, location } = await withJudgedErrors(context, skillId, turn, (quotes) =>
        writer.exclusively(change(quotes)),
      );
      await context.refresh(location);
      return revision;
    },
    async repair(skillId, shown, { by, reason }) {
      return writer.exclusively(() => {
        const location = findLocation(context, skillId);
        writer.assertFinished(location.key);
        const { skillFile } = location;
        const before = bytesAt(location, skillFile, context.limits);
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
      const revision = await writer.exclusively(() => {
        const location = findLocation(context, skillId, turn);
        assertRemovable(location);
        const move = { direction: 'out', folder: archiveFolder(location) } as const;
        return writer.apply({ location, changes: [], move, kind: 'removed', by, reason });
      });
      await context.refresh();
      return revision;
    },
  };
}

// --- internal ---

interface NewFile {
  /** Real path of the source's folder. */
  readonly base: string;
  /** The path of the file below it. */
  readonly below: string;
  readonly skillId: string;
  readonly validation: ValidationProfile;
}

/** @throws SOURCE_NOT_WRITABLE. */
function newFile(path: string, sources: readonly SkillSource[]): NewFile {
  const source = sources.find((candidate) => candidate.contains(path));
  const skillId = skillIdAt(path, sources);
  if (!source?.writing || skillId === undefined)
    throw sourceNotWritable(basename(path), source?.id ?? 'none', 'no source that may be written reads it as a skill.');
  const { folder, validation } = source.writing;
  const base = futureRealPath(folder);
  return { base, below: relative(base, path).split(sep).join('/'), skillId, validation };
}
