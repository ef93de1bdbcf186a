/** Schemas of the arguments of changes. */
import { checkArgument, type FieldsSchema, type Schema, schema } from '../../../lib/arguments/index.ts';
import type { Actor, FileContent } from './types.ts';

const WHOLE = 'a text in whole characters, without half of a surrogate pair';

// In this mode only half of a pair is a surrogate.
const isWhole = (text: string): boolean => !/\p{Cs}/u.test(text);

/** Half of a surrogate pair could not be stored. */
export const storedText: Schema<string> = schema((z) => z.string().refine(isWhole, WHOLE));

export const CONTROL: RegExp = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

const isAuthor = (name: string): boolean =>
  name === 'unknown' || (/^(person|agent):.*\S/su.test(name) && name.length <= 200 && !CONTROL.test(name));

/** Who did something: it decides what is allowed, and stands in histories and reports. */
export const by: Schema<string> = schema((z) =>
  z
    .string()
    .refine(isWhole, WHOLE)
    .refine(isAuthor, 'person:<name>, agent:<id> or unknown, with at most 200 characters and no control characters'),
);

export const actor: FieldsSchema<Actor> = schema((z) => z.object({ by: by(), reason: storedText().optional() }));

/** A function that makes the new text of the present one. What it gives is checked like a text. */
export const newText: Schema<(present: string) => string> = schema((z) =>
  z
    .custom<(present: string) => string>((value) => typeof value === 'function', 'a function')
    .transform((make) => (present: string) => checkArgument('what the function gives', storedText, make(present))),
);

export const fileContent: Schema<FileContent> = schema((z) =>
  z.union([storedText(), z.null(), newText()], { error: 'a text, null or a function' }),
);
