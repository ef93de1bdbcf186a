import { adoptLineEndings } from '../../../lib/diff/index.ts';
import { resourceNotFound } from '../../../lib/files/index.ts';
import { invalidArgument } from '../skill/errors.ts';
import { type ChangeContext, findPlace, newPlace } from './change-context.ts';
import { noChange } from './errors.ts';
import { archiveFolder } from './journal-entries.ts';
import { assertRemovable, bytesAt, checkSize, checkValid, filePath, textOf } from './places.ts';
import type { FileContent, Management } from './types.ts';

/** Changes that need no review. */
export function createManagement(context: ChangeContext): Management {
  const { writer } = context;
  return {
    async create(skillId, content, { by, reason }) {
      const revision = await writer.exclusively(() => {
        const place = newPlace(context, skillId);
        const after = Buffer.from(content);
        checkSize(place, place.skillFile, after, context.limits);
        checkValid(place, place.skillFile, null, after);
        return writer.apply({ place, changes: [{ path: place.skillFile, after }], kind: 'created', by, reason });
      });
      await context.refresh();
      return revision;
    },
    async write(skillId, path, content, { by, reason }, turn) {
      const revision = await writer.exclusively(() => {
        const place = findPlace(context, skillId, turn);
        writer.assertSettled(place.key);
        const target = filePath(path, place);
        const before = bytesAt(place, target, context.limits);
        if (content === null && target === place.skillFile) {
          throw invalidArgument('SKILL.md cannot be removed alone; delete the skill.');
        }
        const after = bytesAfter(before, content, target);
        if (after === null ? before === null : before?.equals(after)) throw noChange(target);
        if (after) {
          checkSize(place, target, after, context.limits);
          checkValid(place, target, before, after);
        }
        return writer.apply({ place, changes: [{ path: target, after }], kind: 'tool', by, reason });
      });
      await context.refresh();
      return revision;
    },
    async remove(skillId, { by, reason }, turn) {
      const revision = await writer.exclusively(() => {
        const place = findPlace(context, skillId, turn);
        assertRemovable(place);
        const move = { direction: 'out', folder: archiveFolder(place) } as const;
        return writer.apply({ place, changes: [], move, kind: 'removed', by, reason });
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
