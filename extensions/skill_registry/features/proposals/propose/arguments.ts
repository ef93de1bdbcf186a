/** Descriptions are for models. */
import { type FieldsSchema, schema } from '../../../../../lib/arguments/index.ts';
import { by, storedText } from '../../../core/checked-calls.ts';
import { decider, newText } from '../../history/door.ts';
import type { Actor, Decider } from '../../history/types.ts';
import type { ProposalEdit, ProposalFilter, ProposalInput } from './types.ts';

export const proposalInput: FieldsSchema<ProposalInput> = schema((z) =>
  z.strictObject({
    skillId: z.string(),
    kind: z.enum(['update', 'create', 'delete']).optional(),
    oldString: storedText().optional().describe('A text that occurs once in the file, exactly.'),
    newString: storedText().optional().describe('What takes its place.'),
    diff: storedText().optional().describe('Or a unified diff against the file as it is.'),
    content: z.union([storedText(), newText()], { error: 'a text or a function' }).optional(),
    remove: z.literal(true).optional(),
    path: z.string().optional().describe('Relative to the skill. Default: SKILL.md.'),
    justification: storedText().describe('Why the change is needed.'),
    evidence: storedText().optional().describe('What shows it: errors, failed tests, what the user said.'),
    author: by().optional(),
  }),
);

export const proposalFilter: FieldsSchema<ProposalFilter> = schema((z) =>
  z.strictObject({
    author: z.string().optional(),
    skillId: z.string().optional(),
    limit: z.int('a whole number').min(0, 'at least 0').optional(),
  }),
);

export const approval: FieldsSchema<Decider & { readonly version?: string | undefined }> = schema((z) =>
  z.object({ ...decider().shape, version: z.string().optional() }),
);

export const opinion: FieldsSchema<Actor & { readonly reason: string; readonly version?: string | undefined }> = schema(
  (z) => z.object({ by: by(), reason: storedText(), version: z.string().optional() }),
);

export const proposalEdit: FieldsSchema<ProposalEdit> = schema((z) =>
  z.object({ by: by(), content: storedText(), version: z.string().optional() }),
);
