import { defineTool, type Tool } from 'skill-registry/kernel';
import type { Z } from '../../../../lib/arguments/index.ts';
import { contentWithNote } from '../../core/read/reading.ts';
import type { ToolRegistry } from '../../core/seams.ts';
import { withoutHiddenText } from '../../core/tools/list-and-read-skills.ts';

/** As in PromptKit. There is no `skill__deactivate`: nothing is kept active, and a skill grants no tools. */
export function activateSkillTool(registry: Pick<ToolRegistry, 'read'>, z: Z): Tool {
  return defineTool({
    name: 'skill__activate',
    description:
      'Activates a skill: gives its full instructions. Do this before you act whenever a skill fits the task.',
    input: z.strictObject({ name: z.string().describe('The id as it stands in the list of available skills.') }),
    async execute({ name }, { turn }) {
      const read = await registry.read(name, { audience: 'model' }, turn);
      return { success: true, instructions: contentWithNote(read), files: read.resources.map(({ path }) => path) };
    },
  });
}

/** As in PromptKit. */
export function readResourceTool(registry: Pick<ToolRegistry, 'readResource'>, z: Z): Tool {
  return defineTool({
    name: 'skill__read_resource',
    description: 'Reads one file of a skill. Scripts are given as text, never run.',
    input: z.strictObject({
      skill_name: z.string().describe('The id of the skill the file belongs to.'),
      path: z.string().describe('Relative to the skill, as it is listed there: references/guide.md'),
    }),
    async execute({ skill_name, path }, { turn }) {
      const read = await withoutHiddenText(await registry.readResource(skill_name, path, turn));
      return { success: true, content: contentWithNote(read) };
    },
  });
}
