import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createBreaks } from '../../../lib/breaks/index.ts';
import type { Skill } from '../skill/skill.ts';
import type { ChangeContext } from './change-context.ts';
import { addRevision, lastRevision, type RevisionNote, recordPresent } from './revisions.ts';
import { skillKey } from './skill-location.ts';
import { readSkillTree, recordedFiles } from './skill-tree.ts';
import type { Revision } from './types.ts';

/** Records changes of skills that the registry did not make itself. */
export interface RevisionRecorder {
  /**
   * Records one skill now. Call it inside `Writer.exclusively`.
   *
   * @param note - Of a change that the registry made. Default: one that it found.
   * @returns undefined when the skill has no files any more.
   */
  record(skill: Skill, note?: Omit<RevisionNote, 'at'>): Revision | undefined;
  /**
   * Records all skills that have changed since the last call. Stops when another process is writing; the next call continues.
   *
   * @throws HISTORY_DAMAGED.
   */
  recordAll(signal: AbortSignal): Promise<void>;
}

/** Skills recorded in one transaction. */
const SLICE = 25;

export function createRevisionRecorder(context: ChangeContext): RevisionRecorder {
  const { writer } = context;
  /** By the skill's key: the stamp of its files when they were recorded. */
  const recorded = new Map<string, string>();

  const recordIn: RevisionRecorder['record'] = (skill, note) => {
    const source = context.sources().find(({ id }) => id === skill.source);
    if (!source) return undefined;
    const key = skillKey(skill, context.root);
    const stamp = stampOf(skill);
    const tree = readSkillTree(skill, source, context.limits.file_bytes);
    // It was removed after the snapshot, and its last content is recorded already.
    if (tree.files.length === 0) return undefined;
    const [database, at] = [writer.database(), writer.now()];
    if (note) database.transaction(() => addRevision(database, key, skill.id, tree, { ...note, at }));
    else recordPresent(database, { key, skillId: skill.id }, tree, at);
    recorded.set(key, stamp);
    return lastRevision(database, key);
  };

  return {
    record: recordIn,
    async recordAll(signal) {
      const takeBreak = createBreaks();
      const due: Skill[] = [];
      const writeDue = (): boolean => {
        const slice = due.splice(0);
        if (slice.length === 0) return true;
        const written = writer.ifFree(() => {
          for (const skill of slice) recordIn(skill);
          return true;
        });
        return written === true;
      };
      for (const skill of context.snapshot().byQualifiedId.values()) {
        // A skill on another machine has its history there.
        if (skill.remote) continue;
        await takeBreak();
        if (signal.aborted) return;
        if (recorded.get(skillKey(skill, context.root)) !== stampOf(skill)) due.push(skill);
        if (due.length >= SLICE && !writeDue()) return;
      }
      writeDue();
    },
  };
}

// --- internal ---

/** Sizes and times of the skill's files: it changes when one of them does. Reads no content. */
function stampOf({ dir, digest, file }: Skill): string {
  if (dir === null) return `${file} ${digest}`;
  const files = filesIfThere(dir).map(({ path, size }) => {
    const stats = statSync(join(dir, path), { throwIfNoEntry: false });
    return [path, size, stats?.mtimeMs, stats?.ctimeMs];
  });
  return JSON.stringify([digest, files]);
}

function filesIfThere(dir: string): ReturnType<typeof recordedFiles> {
  try {
    return recordedFiles(dir);
  } catch {
    return [];
  }
}
