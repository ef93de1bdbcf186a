import { defineTool, isCodedError, type Tool, toolError } from 'skill-registry/kernel';
import { withoutPaths } from '../../../../kernel/host.ts';
import type { Z } from '../../../../lib/arguments/index.ts';
import { showName } from '../../../../lib/text/index.ts';
import { contentWithNote } from '../../core/read/reading.ts';
import type { ToolRegistry } from '../../core/seams.ts';
import type { ResourceInfo } from '../../core/skill/skill.ts';
import { withoutHiddenText } from '../../core/tools/index.ts';

/**
 * The only tool of the Bernstein design, with its result keys: `name, body, available_references, available_scripts,
 * reference_content, script_content, error`. Keys that do not apply are null. `error` says which file cannot be given;
 * without the skill itself the call fails, with all these keys.
 */
export function loadSkillTool(registry: Pick<ToolRegistry, 'read' | 'readResource' | 'resources'>, z: Z): Tool {
  return defineTool({
    name: 'load_skill',
    description:
      'Loads one skill: its instructions, or one of its references or scripts as text. Scripts are never run.',
    input: z.strictObject({
      name: z.string().describe('The id as it stands in the list of available skills.'),
      reference: z.string().nullish().describe('A file of references/: guide.md'),
      script: z.string().nullish().describe('A file of scripts/: lint.sh'),
    }),
    async execute({ name, reference, script }, { turn }) {
      const errors: string[] = [];
      const file = async (bucket: string, path: string | null = null): Promise<string | null> => {
        if (path === null) return null;
        try {
          return contentWithNote(await withoutHiddenText(await registry.readResource(name, `${bucket}/${path}`, turn)));
        } catch (error) {
          if (isCodedError(error, 'SKILL_NOT_FOUND')) throw error;
          errors.push(describe(error));
          return null;
        }
      };
      try {
        // A call for a file alone is no load of the skill.
        const isFile = (reference ?? script ?? null) !== null;
        const body = isFile ? null : contentWithNote(await registry.read(name, { audience: 'model' }, turn));
        const contents = {
          reference_content: await file('references', reference),
          script_content: await file('scripts', script),
        };
        const resources = registry.resources(name, turn);
        return {
          success: true,
          name,
          body,
          available_references: filesIn('references', resources),
          available_scripts: filesIn('scripts', resources),
          ...contents,
          error: errors.join('\n') || null,
        };
      } catch (error) {
        return {
          ...toolError(isCodedError(error) ? error.code : 'TOOL_FAILED', withoutPaths(error)),
          name,
          body: '',
          available_references: [],
          available_scripts: [],
          reference_content: null,
          script_content: null,
        };
      }
    },
  });
}

// --- internal ---

function describe(error: unknown): string {
  return isCodedError(error) ? `${error.code}: ${withoutPaths(error)}` : withoutPaths(error);
}

function filesIn(bucket: string, resources: readonly ResourceInfo[]): readonly string[] {
  const paths = resources.map(({ path }) => showName(path));
  return paths.filter((path) => path.startsWith(`${bucket}/`)).map((path) => path.slice(bucket.length + 1));
}
