import { CodedError } from 'skill-registry/kernel';
import { digestOf } from '../../../../lib/digest/index.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { asReadForInspection, filesForInspection } from '../guard/files-for-inspection.ts';
import { digestOfRead, type ReadPart } from '../guard/inspect-files.ts';
import { inspectedName } from '../guard/recorded-files.ts';
import type { ChangeContext } from './change-context.ts';
import { quoted } from './errors.ts';
import type { PlannedChange } from './journal/writer.ts';
import { lastDecided } from './revisions.ts';
import type { Decider } from './types.ts';

/** A skill as a change leaves it, for an inspection. */
export interface FilesAfter {
  /** As it is now; undefined for a new one. */
  readonly skill: Skill | undefined;
  /** As an inspection reads them. @throws RESOURCE_NOT_FOUND when the SKILL.md of `skill` is gone. */
  files(): readonly ReadPart[];
  /**
   * Of what the change writes, and of the change before it. It is compared when nothing was found: other files of the
   * skill may change meanwhile, as a log does. Default: all files are compared.
   */
  readonly change?: string;
}

/** @param key - `SkillLocation.key`. @param skill - As it is now; undefined for a new one. */
export function afterChanges(
  context: ChangeContext,
  key: string,
  skill: Skill | undefined,
  changes: PlannedChange['changes'],
): FilesAfter {
  const written = changes.map(({ path, after, mode }) => [path, after && digestOf(after), mode]);
  return {
    skill,
    change: digestOf(JSON.stringify([lastDecided(context.writer.database(), key), written])),
    files() {
      const present = skill && filesForInspection(context.sources, context.limits.file_bytes).read(skill);
      return changedFiles([...(present ?? [])], changes);
    },
  };
}

/** Call it inside `exclusively`. @param after - As the decision leaves it. @throws SHOWN_CHANGED. */
export function assertInspected(skillId: string, { inspected }: Decider, after: () => FilesAfter): void {
  if (inspected === undefined) return;
  const { change, files } = inspected === null ? {} : after();
  if (inspected !== null && (inspected === change || (files && inspected === digestOfRead(files())))) return;
  const message = `The files of ${quoted(skillId)} have changed since they were inspected for this decision. Nothing was changed. Look at it again, then decide.`;
  throw new CodedError('SHOWN_CHANGED', message);
}

// --- internal ---

/** A file without a new mode keeps its own. */
function changedFiles(present: readonly ReadPart[], changes: PlannedChange['changes']): readonly ReadPart[] {
  const names = new Set(changes.map(({ path }) => inspectedName(path)));
  const modes = new Map(present.flatMap((one) => (one && 'path' in one ? [[one.path, one.executable === true]] : [])));
  const written = changes.flatMap(({ path, after, mode }) => {
    const name = inspectedName(path);
    const executable = mode === undefined ? modes.get(name) === true : (mode & 0o111) !== 0;
    return after === null ? [] : [...asReadForInspection([{ path: name, bytes: after, executable }])];
  });
  // A note on SKILL.md is about the whole skill.
  const isChanged = (one: ReadPart): boolean =>
    one !== undefined && ('path' in one ? names.has(one.path) : one.file !== 'SKILL.md' && names.has(one.file));
  return [...written, ...present.filter((one) => !isChanged(one))];
}
