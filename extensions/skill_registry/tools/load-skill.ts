import { defineTool, isCodedError, type Tool, z } from 'skill-registry/kernel';
import { withoutPaths } from '../../../kernel/host.ts';
import { withNote } from '../../../lib/text/index.ts';
import type { ReadSkill } from '../read/types.ts';
import { handedOver } from './list-and-read-skills.ts';
import type { SkillsForTools } from './skills-for-tools.ts';

/**
 * The one tool of the Bernstein design, with its result keys: `name, body, available_references, available_scripts,
 * reference_content, script_content, error`; those that do not apply are null. Failures stand in `error`.
 */
export function loadSkillTool(registry: Pick<SkillsForTools, 'read' | 'readResource'>): Tool {
  return defineTool({
    name: 'load_skill',
    description:
      'Loads one skill: its instructions, or one of its references or scripts as text. Scripts are never run.',
    input: z.strictObject({
      name: z.string().describe('The id as it stands in the list of available skills.'),
      reference: z.string().optional().describe('A file of references/: guide.md'),
      script: z.string().optional().describe('A file of scripts/: lint.sh'),
    }),
    async execute({ name, reference, script }, { turn }) {
      const nothing = { reference_content: null, script_content: null, error: null };
      let skill: ReadSkill;
      try {
        skill = await registry.read(name, { audience: 'model' }, turn);
      } catch (error) {
        const failed = { ...nothing, error: describe(error) };
        return { success: true, name, body: '', available_references: [], available_scripts: [], ...failed };
      }
      const files = async (bucket: string, file: string | undefined): Promise<string | null> =>
        file === undefined
          ? null
          : told(await handedOver(await registry.readResource(name, `${bucket}/${file}`, turn)));
      const found = {
        name,
        body: reference === undefined && script === undefined ? told(skill) : null,
        available_references: filesIn('references', skill),
        available_scripts: filesIn('scripts', skill),
      };
      try {
        const [reference_content, script_content] = [
          await files('references', reference),
          await files('scripts', script),
        ];
        return { success: true, ...found, reference_content, script_content, error: null };
      } catch (error) {
        return { success: true, ...found, ...nothing, error: describe(error) };
      }
    },
  });
}

// --- internal ---

/** The keys of the result are fixed, so the text itself says how many characters of it were left out. */
function told({ content, hiddenLeftOut: leftOut = 0 }: Pick<ReadSkill, 'content' | 'hiddenLeftOut'>): string {
  return withNote({ text: content, leftOut });
}

function describe(error: unknown): string {
  return isCodedError(error) ? `${error.code}: ${withoutPaths(error)}` : withoutPaths(error);
}

function filesIn(bucket: string, { resources }: ReadSkill): readonly string[] {
  return resources.filter(({ path }) => path.startsWith(`${bucket}/`)).map(({ path }) => path.slice(bucket.length + 1));
}
