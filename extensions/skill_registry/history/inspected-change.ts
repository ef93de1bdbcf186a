import { CodedError } from 'skill-registry/kernel';
import type { Skill } from '../skill/skill.ts';
import { createSourceReader } from '../sources/source.ts';
import { filesForInspection } from '../sources/walk/files-for-inspection.ts';
import { digestOfRead, type ReadPart } from '../trust/inspect-files.ts';
import type { ChangeContext } from './change-context.ts';
import { quoted } from './errors.ts';
import type { Decider } from './types.ts';

/** A skill as a change leaves it, for an inspection. */
export interface FilesAfter {
  /** As it is now; undefined for a new one. */
  readonly skill: Skill | undefined;
  readonly files: readonly ReadPart[];
  /**
   * Of what the change writes, and of the change before it. It is compared when nothing was found: other files of the
   * skill may change meanwhile, as a log does. Default: all files are compared.
   */
  readonly change?: string;
}

/** As an inspection reads them. @throws RESOURCE_NOT_FOUND when SKILL.md is gone. */
export function presentFiles(context: ChangeContext, skill: Skill): readonly ReadPart[] {
  return [...filesForInspection(createSourceReader(context.sources, context)).read(skill)];
}

/** Call it inside `exclusively`. @param after - As the decision leaves it. @throws SHOWN_CHANGED. */
export function assertInspected(
  skillId: string,
  { inspected }: Decider,
  after: () => Pick<FilesAfter, 'files' | 'change'>,
): void {
  if (inspected === undefined) return;
  const { files, change } = inspected === null ? {} : after();
  if (inspected !== null && (inspected === change || (files && inspected === digestOfRead(files)))) return;
  const message = `The files of ${quoted(skillId)} have changed since they were inspected for this decision. Nothing was changed. Look at it again, then decide.`;
  throw new CodedError('SHOWN_CHANGED', message);
}
