import { describeError, type Problem } from 'skill-registry/kernel';
import { characterChecks } from './checks/characters.ts';
import { fieldChecks } from './checks/fields.ts';
import { listChecks } from './checks/findings.ts';
import { sizeChecks } from './checks/size.ts';
import { surfaceChecks } from './checks/surface.ts';
import { tokenChecks } from './checks/tokens.ts';
import { validationChecks } from './checks/validation.ts';
import { oneLine } from './hidden-characters.ts';

/** One computed fact about a proposed change. */
export interface Check {
  readonly kind:
    | 'tokens'
    | 'validation'
    | 'identity'
    | 'visibility'
    | 'permissions'
    | 'references'
    | 'shell'
    | 'network'
    | 'secrets'
    | 'characters'
    | 'retrieval'
    | 'size'
    | 'diff';
  /** `warning`: a reviewer should look at it. */
  readonly level: 'info' | 'warning';
  /** One line without control or invisible characters (they are shown as U+XXXX). */
  readonly text: string;
  /** 1-based line in the new text. */
  readonly line?: number;
}

export interface CheckInput {
  readonly skillId: string;
  /** Relative to the skill. */
  readonly path: string;
  /** Whether `path` is the skill's SKILL.md. */
  readonly isSkillFile: boolean;
  /** null: the file (or skill) is new. */
  readonly before: string | null;
  /** null: it is to be removed. */
  readonly after: string | null;
  /** Files the skill has, relative paths; for newly referenced files that do not exist. */
  readonly files: readonly string[];
  /** Problems of a text under the source's profile; asked for SKILL.md only. */
  readonly problemsOf: (text: string) => readonly Problem[];
  /** Which trigger queries change their top hit; absent while there is no search. */
  readonly retrieval?: (after: string) => Promise<readonly string[]>;
}

/**
 * What a change does, computed from the texts and from nothing its author says of it. Of what a text reaches for only that
 * is told which is new against `before`. At most 20 checks of one kind, warnings first; the rest is counted.
 *
 * Takes linear time, with breaks for other work.
 */
export async function runChecks(input: CheckInput): Promise<readonly Check[]> {
  return [
    ...(await tokenChecks(input)),
    ...validationChecks(input),
    ...fieldChecks(input),
    ...(await surfaceChecks(input)),
    ...(input.after === null ? [] : characterChecks(input.before ?? '', input.after)),
    ...(await retrievalChecks(input)),
    ...sizeChecks(input),
  ];
}

// --- internal ---

async function retrievalChecks({ after, isSkillFile, retrieval }: CheckInput): Promise<readonly Check[]> {
  if (!retrieval || !isSkillFile || after === null) return [];
  try {
    const changed = await retrieval(after);
    if (changed.length === 0) {
      return [{ kind: 'retrieval', level: 'info', text: 'No stored trigger query changes its top hit' }];
    }
    return listChecks(
      'retrieval',
      changed.map((text) => ({ key: text, level: 'warning', what: oneLine(text, 300) })),
    );
  } catch (error) {
    const text = `The effect on retrieval could not be computed: ${oneLine(describeError(error), 300)}`;
    return [{ kind: 'retrieval', level: 'warning', text }];
  }
}
