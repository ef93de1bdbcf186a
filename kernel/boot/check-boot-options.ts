import { checkArgument, elsewhere, type FieldsSchema, schema } from '../../lib/arguments/index.ts';
import type { InternalBootOptions } from './kernel.ts';

/** @throws INVALID_ARGUMENT, also for an unknown option. */
export function checkBootOptions(options: unknown): void {
  checkArgument('boot: options', bootOptions, options);
}

// --- internal ---

const bootOptions: FieldsSchema<InternalBootOptions> = schema((z) =>
  z.strictObject(
    {
      root: z.string(),
      config: z.object({}).catchall(z.object({}).catchall(z.unknown())).optional(),
      enable: z.array(z.string()).optional(),
      trust: z.boolean().optional(),
      // process.env is not a plain object, which a record requires.
      environment: z.object({}).catchall(z.string().optional()).optional(),
      onLog: z.custom<InternalBootOptions['onLog']>((value) => typeof value === 'function', 'a function').optional(),
      signal: z.instanceof(AbortSignal, { error: 'an AbortSignal' }).optional(),
      budgets: z.custom<InternalBootOptions['budgets']>().optional(),
    },
    elsewhere({ rootDir: 'It is called root.' }, ['budgets']),
  ),
);
