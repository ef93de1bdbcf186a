import type { TurnContext } from 'skill-registry/kernel';
import {
  checkArguments,
  elsewhere,
  type FieldsSchema,
  type Schema,
  type SchemasFor,
  schema,
} from '../../../lib/arguments/index.ts';
import { namedFiles } from './search/for-files.ts';

export interface Actor {
  /** `person:<name>`, `agent:<id>` or `unknown`; at most 200 characters, no control characters. */
  readonly by: string;
  readonly reason?: string | undefined;
}

/** Checks arguments first (INVALID_ARGUMENT, nothing is stored), and adds the workflow state to `turn`. */
export interface CheckedCalls {
  /** @param signature - For messages: `registry.list(query, turn)`. @param schemas - In order. */
  now<Parameters extends readonly unknown[], Result>(
    signature: string,
    schemas: NoInfer<SchemasFor<Parameters>>,
    run: (...given: Parameters) => Result,
  ): (...given: Parameters) => Result;
  /** The returned promise rejects. */
  later<Parameters extends readonly unknown[], Result>(
    signature: string,
    schemas: NoInfer<SchemasFor<Parameters>>,
    run: (...given: Parameters) => Promise<Result>,
  ): (...given: Parameters) => Promise<Result>;
}

/** @param isChecked - False: no zod is loaded; for a program whose calls the compiler checks. */
export function createCheckedCalls(at: (turn: TurnContext) => TurnContext, isChecked: boolean): CheckedCalls {
  const check = <Parameters extends readonly unknown[]>(
    signature: string,
    schemas: SchemasFor<Parameters>,
    given: Parameters,
  ): Parameters => {
    const values = isChecked ? checkArguments(signature, schemas, given) : given;
    const position = (schemas as readonly unknown[]).indexOf(turn);
    const found = values[position] as TurnContext | undefined;
    return found ? (values.with(position, at(found)) as unknown as Parameters) : values;
  };
  return {
    now:
      (signature, schemas, run) =>
      (...given) =>
        run(...check(signature, schemas as SchemasFor<typeof given>, given)),
    later:
      (signature, schemas, run) =>
      async (...given) =>
        run(...check(signature, schemas as SchemasFor<typeof given>, given)),
  };
}

// --- schemas of several functions ---

export const text: Schema<string> = schema((z) => z.string());
export const words: Schema<string | undefined> = schema((z) => z.string().optional());
export const texts: Schema<readonly string[]> = schema((z) => z.array(z.string()).readonly());
// biome-ignore lint/suspicious/noExplicitAny: it is checked elsewhere.
export const anything: Schema<any> = schema((z) => z.any());
export const audience: Schema<'model' | 'person' | undefined> = schema((z) => z.enum(['model', 'person']).optional());
export const revision: Schema<string | number> = schema((z) =>
  z.union([z.int(), z.string()], { error: 'a number or the beginning of a digest' }),
);

export function aFunction<Called extends (...given: never[]) => unknown>(): Schema<Called> {
  return schema((z) => z.custom<Called>((value) => typeof value === 'function', 'a function'));
}

const WHOLE = 'a text in whole characters, without half of a surrogate pair';

// With the flag `u`, only half of a pair matches.
const isWhole = (text: string): boolean => !/\p{Cs}/u.test(text);

/** Half of a surrogate pair cannot be stored. */
export const storedText: Schema<string> = schema((z) => z.string().refine(isWhole, WHOLE));

const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

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

/** Not ignored, as other keys of hosts are: without the field an agent would be given what all agents see. */
const MEANT = { agent: 'agentId', agent_id: 'agentId', bound_skills: 'boundSkills', thread: 'threadId' };

const fieldsOfTurn: Schema<TurnContext> = schema((z) => {
  const absent = (field: string) => z.undefined(`absent: the field is called ${field}`).optional();
  const word = z.string().optional();
  const list = z.array(z.string()).optional();
  const name = z.string().refine((id) => !CONTROL.test(id), 'a name without control characters');
  const fields = z.looseObject({
    ...Object.fromEntries(Object.entries(MEANT).map(([key, field]) => [key, absent(field)])),
    agentId: name.optional(),
    channelId: word,
    userId: word,
    threadId: word,
    ownThread: z.literal(true).optional(),
    connectionId: word,
    client: word,
    paths: namedFiles(),
    model: word,
    boundSkills: list,
    givenSkills: list,
    tools: list,
    preview: z.literal(true).optional(),
    remoteClient: z.literal(true).optional(),
    workflowState: z.looseObject({ pack: z.string(), state: word }).optional(),
  });
  return fields.transform((checked) => checked as TurnContext);
});

export const turn: Schema<TurnContext | undefined> = schema(() => fieldsOfTurn().optional());

/** The turn that a question is about. Its workflow is not filled in. */
export const ofTurn: Schema<TurnContext> = schema((z) => z.preprocess((given) => given ?? {}, fieldsOfTurn()));

const OF_TURN = 'It belongs to the turn, which is the argument after this one.';

/** Fields that people put into the options by mistake. */
export const notOfTurn: ReturnType<typeof elsewhere> = elsewhere({
  agentId: OF_TURN,
  threadId: OF_TURN,
  boundSkills: OF_TURN,
});
