import { checkArgument, type FieldsSchema, type Schema, schema } from '../../../../lib/arguments/index.ts';
import { by, storedText } from '../../core/checked-calls.ts';
import type { Decider, FileContent } from './types.ts';

export const decider: FieldsSchema<Decider> = schema((z) =>
  z.object({ by: by(), reason: storedText().optional(), inspected: z.string().nullish() }),
);

/** Makes the new text from the present one. Its result is checked like a text. */
export const newText: Schema<(present: string) => string> = schema((z) =>
  z
    .custom<(present: string) => string>((value) => typeof value === 'function', 'a function')
    .transform((make) => (present: string) => checkArgument('what the function gives', storedText, make(present))),
);

export const fileContent: Schema<FileContent> = schema((z) =>
  z.union([storedText(), z.null(), newText()], { error: 'a text, null or a function' }),
);
