import { describeError } from 'skill-registry/kernel';
import { oneLine } from '../../../lib/text/index.ts';
import { characterChecks } from './characters.ts';
import { fieldChecks } from './fields.ts';
import { type Check, type CheckInput, listChecks } from './findings.ts';
import { sizeChecks } from './size.ts';
import { surfaceChecks } from './surface.ts';
import { tokenChecks } from './tokens.ts';
import { validationChecks } from './validation.ts';

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
