import { z } from '#zod';

/** For editors: the fields of agentskills.io and of this registry. Accepts fields of other clients. */
export function frontmatterSchema(): Readonly<Record<string, unknown>> {
  const texts = z.union([z.string(), z.array(z.string())]);
  const list = z.array(z.string());
  const name = z
    .string()
    .max(64)
    .regex(/^[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*$/u)
    .regex(/^[^\p{Lu}]*$/u);
  const fields = z.looseObject({
    name: name.meta({
      description: 'The name of the folder: lowercase letters, digits and single hyphens, at most 64 characters.',
    }),
    description: z
      .string()
      .min(1)
      .max(1024)
      .meta({ description: 'What the skill does and when to use it. It stands in every prompt.' }),
    license: may(z.string(), 'The licence, or the file that has it.'),
    compatibility: may(z.string().min(1).max(500), 'What the skill needs: programs, network.'),
    metadata: may(
      z.looseObject({}),
      'Anything else. Keys that are read here: tags, paths, draft, and the conditions of a gate.',
    ),
    'allowed-tools': may(
      z.string(),
      'Tools that the skill asks permission for: Read Bash(git add *). Shown, never granted.',
    ),
    when_to_use: may(z.string(), 'Stands after the description.'),
    tags: may(texts, 'Words that lists and search filter by.'),
    trigger_keywords: may(texts, 'Words and phrases for which search finds it.'),
    paths: may(texts, 'Globs of files for which it is shown: src/**/*.ts.'),
    requires: may(texts, 'Ids of skills to read first.'),
    arguments: may(texts, 'Names of the arguments of the slash command, in order.'),
    'argument-hint': may(z.string(), 'Shown after the slash command.'),
    'disable-model-invocation': may(z.boolean(), 'true: only people and bindings load it.'),
    'user-invocable': may(z.boolean(), 'false: there is no slash command.'),
    version: may(z.string(), 'The version, as text: "1.0".'),
    author: may(z.union([z.string(), z.null()]), 'Who wrote it.'),
    references: may(list, 'Files below references/, for the profile strict.'),
    scripts: may(list, 'Files below scripts/, for the profile strict.'),
    assets: may(list, 'Files below assets/, for the profile strict.'),
    manifest_schema: may(z.int(), 'For the profile strict.'),
    sandbox_profile: may(z.union([z.string(), z.null()]), 'For the profile strict.'),
  });
  const { $schema: _, ...schema } = z.toJSONSchema(fields, { io: 'input' });
  return schema;
}

// --- internal ---

function may(type: z.ZodType, description: string): z.ZodType {
  return type.optional().meta({ description });
}
