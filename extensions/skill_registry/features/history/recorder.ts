import { statSync } from 'node:fs';
import { join } from 'node:path';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { recordedFiles } from '../guard/recorded-files.ts';
import type { ChangeContext } from './change-context.ts';
import { type RevisionNote, recordPresent } from './revisions.ts';
import { skillKey } from './skill-location.ts';
import { readSkillTree } from './skill-tree.ts';
import type { Revision } from './types.ts';

const SLICE = 25;

/** Records what it finds on disk. */
export class RevisionRecorder {
  readonly #context: ChangeContext;
  /** By the skill's key: the stamp of its files when recorded. */
  readonly #recorded = new Map<string, string>();

  constructor(context: ChangeContext) {
    this.#context = context;
  }

  /** Call it inside `Writer.exclusively`. @param note - Default: the change was found on disk. */
  record(skill: Skill, note?: Omit<RevisionNote, 'at'>): Revision | undefined {
    const { limits, root, sources, writer } = this.#context;
    const source = sources().find(({ id }) => id === skill.source);
    if (!source) return undefined;
    const key = skillKey(skill, root);
    const stamp = stampOf(skill);
    const tree = readSkillTree(skill, source, limits.file_bytes);
    // Removed after the snapshot; its last content is already recorded.
    if (tree.files.length === 0) return undefined;
    const revision = recordPresent(writer.database(), { key, skillId: skill.id }, tree, writer.now(), note);
    this.#recorded.set(key, stamp);
    return revision;
  }

  /** Stops when another process writes; the next call continues. @throws HISTORY_DAMAGED. */
  async recordAll(signal: AbortSignal): Promise<void> {
    const { root, snapshot, writer } = this.#context;
    const due: Skill[] = [];
    const writeDue = (): boolean => {
      const slice = due.splice(0);
      return slice.length === 0 || writer.ifFree(() => slice.map((skill) => this.record(skill))) !== undefined;
    };
    for (const skill of snapshot().byQualifiedId.values()) {
      // A skill on another machine has its history there.
      if (skill.remote) continue;
      await takeBreak();
      if (signal.aborted) return;
      if (this.#recorded.get(skillKey(skill, root)) !== stampOf(skill)) due.push(skill);
      if (due.length >= SLICE && !writeDue()) return;
    }
    writeDue();
  }
}

// --- internal ---

/** Changes with the size or time of any file. Reads no content. */
function stampOf({ dir, digest, file }: Skill): string {
  if (dir === null) return `${file} ${digest}`;
  const files = withFallback(() => recordedFiles(dir), []).map(({ path, size }) => {
    const stats = statSync(join(dir, path), { throwIfNoEntry: false });
    return [path, size, stats?.mtimeMs, stats?.ctimeMs];
  });
  return JSON.stringify([digest, files]);
}
