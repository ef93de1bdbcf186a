import { z } from '#zod';

/**
 * The JSON Schema of the frontmatter of a SKILL.md, for editors: the fields of agentskills.io as the standard wants them, and those of
 * this registry. Fields of other clients are accepted.
 */
export function frontmatterSchema(): Readonly<Record<string, unknown>> {
  const texts = z.union([z.string(), z.array(z.string())]);
  const fields = z.looseObject({
    name: z
      .string()
      .max(64)
      .regex(/^[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*$/u)
      .regex(/^[^\p{Lu}]*$/u)
      .meta({
        description: 'The name of the folder: lowercase letters, digits and single hyphens, at most 64 characters.',
      }),
    description: z
      .string()
      .min(1)
      .max(1024)
      .meta({ description: 'What the skill does and when to use it. It stands in every prompt.' }),
    license: z.string().optional().meta({ description: 'The licence, or the file that has it.' }),
    compatibility: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .meta({ description: 'What the skill needs: programs, network.' }),
    metadata: z
      .looseObject({})
      .optional()
      .meta({ description: 'Anything else. Keys that are read here: tags, draft, and the conditions of a gate.' }),
    'allowed-tools': z
      .string()
      .optional()
      .meta({ description: 'Tools that the skill asks permission for: Read Bash(git add *). Shown, never granted.' }),
    when_to_use: z.string().optional().meta({ description: 'Stands after the description.' }),
    tags: texts.optional().meta({ description: 'Words that lists and search filter by.' }),
    trigger_keywords: texts.optional().meta({ description: 'Words and phrases for which search finds it.' }),
    requires: texts.optional().meta({ description: 'Ids of skills to read first.' }),
    arguments: texts.optional().meta({ description: 'Names of the arguments of the slash command, in order.' }),
    'argument-hint': z.string().optional().meta({ description: 'Shown after the slash command.' }),
    'disable-model-invocation': z.boolean().optional().meta({ description: 'true: only people and bindings load it.' }),
    'user-invocable': z.boolean().optional().meta({ description: 'false: there is no slash command.' }),
    version: z.string().optional().meta({ description: 'The version, as text: "1.0".' }),
    author: z.union([z.string(), z.null()]).optional().meta({ description: 'Who wrote it.' }),
    references: z
      .array(z.string())
      .optional()
      .meta({ description: 'Files below references/, for the profile strict.' }),
    scripts: z.array(z.string()).optional().meta({ description: 'Files below scripts/, for the profile strict.' }),
    assets: z.array(z.string()).optional().meta({ description: 'Files below assets/, for the profile strict.' }),
    manifest_schema: z.int().optional().meta({ description: 'For the profile strict.' }),
    sandbox_profile: z.union([z.string(), z.null()]).optional().meta({ description: 'For the profile strict.' }),
  });
  const { $schema: _, ...schema } = z.toJSONSchema(fields, { io: 'input' });
  return schema;
}
