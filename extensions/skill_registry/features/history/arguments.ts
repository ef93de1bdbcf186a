import { checkArgument, type FieldsSchema, type Schema, schema } from '../../../../lib/arguments/index.ts';
import type { Actor, Decider, FileContent } from './types.ts';

const WHOLE = 'a text in whole characters, without half of a surrogate pair';

// With the flag `u`, only half of a pair matches.
const isWhole = (text: string): boolean => !/\p{Cs}/u.test(text);

/** Half of a surrogate pair cannot be stored. */
export const storedText: Schema<string> = schema((z) => z.string().refine(isWhole, WHOLE));

export const CONTROL: RegExp = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

const isAuthor = (name: string): boolean =>
  name === 'unknown' || (/^(person|agent):.*\S/su.test(name) && name.length <= 200 && !CONTROL.test(name));

/** Who did something. It decides what is allowed; histories and reports show it. */
export const by: Schema<string> = schema((z) =>
  z
    .string()
    .refine(isWhole, WHOLE)
    .refine(isAuthor, 'person:<name>, agent:<id> or unknown, with at most 200 characters and no control characters'),
);

export const actor: FieldsSchema<Actor> = schema((z) => z.object({ by: by(), reason: storedText().optional() }));

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
