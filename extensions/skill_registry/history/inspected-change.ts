import { CodedError } from 'skill-registry/kernel';
import { digestOf } from '../../../lib/digest/index.ts';
import type { InspectedFile } from '../inspect/types.ts';
import type { Skill } from '../skill/skill.ts';
import { createSourceReader } from '../sources/source.ts';
import { filesForInspection } from '../sources/walk/files-for-inspection.ts';
import type { ChangeContext } from './change-context.ts';
import { quoted } from './errors.ts';
import type { Decider } from './types.ts';

/** As an inspection reads them. @throws RESOURCE_NOT_FOUND when SKILL.md is gone. */
export function presentFiles(context: ChangeContext, skill: Skill): readonly InspectedFile[] {
  const read = filesForInspection(createSourceReader(context.sources, context)).read(skill);
  return [...read].filter((one) => one !== undefined && 'bytes' in one);
}

/** Of files that are inspected together, in any order. */
export function digestOfFiles(files: readonly InspectedFile[]): string {
  const lines = files.map(({ path, bytes, executable }) =>
    JSON.stringify([path, digestOf(bytes), executable === true]),
  );
  return digestOf(lines.sort().join('\n'));
}

/** Call it inside `exclusively`. @param files - As the decision leaves them. @throws SHOWN_CHANGED. */
export function assertInspected(skillId: string, { inspected }: Decider, files: () => readonly InspectedFile[]): void {
  if (inspected === undefined || inspected === digestOfFiles(files())) return;
  const message = `The files of ${quoted(skillId)} have changed since they were inspected for this decision. Nothing was changed. Look at it again, then decide.`;
  throw new CodedError('SHOWN_CHANGED', message);
}
