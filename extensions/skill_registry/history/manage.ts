import { adoptLineEndings } from '../../../lib/diff/index.ts';
import { resourceNotFound } from '../../../lib/files/index.ts';
import { invalidArgument } from '../skill/errors.ts';
import { type ChangeContext, findLocation, newLocation } from './change-context.ts';
import { noChange } from './errors.ts';
import { archiveFolder } from './journal-entries.ts';
import { assertRemovable, bytesAt, checkNewName, checkSize, checkValid, filePath, textOf } from './skill-location.ts';
import type { FileContent, Management } from './types.ts';

/** Changes without review. */
export function createManagement(context: ChangeContext): Management {
  const { writer } = context;
  return {
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
      const revision = await writer.exclusively(() => {
        const location = findLocation(context, skillId, turn);
        writer.assertFinished(location.key);
        const target = filePath(path, location);
        const before = bytesAt(location, target, context.limits);
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
        return writer.apply({ location, changes: [{ path: target, after }], kind: 'tool', by, reason });
      });
      await context.refresh();
      return revision;
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

function bytesAfter(before: Buffer | null, content: FileContent, path: string): Buffer | null {
  if (content === null) return null;
  if (before === null) {
    if (typeof content === 'string') return Buffer.from(content);
    throw resourceNotFound(path);
  }
  const present = textOf(before, path);
  return Buffer.from(adoptLineEndings(present, typeof content === 'string' ? content : content(present)));
}
