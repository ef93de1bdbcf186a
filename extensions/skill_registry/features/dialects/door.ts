import { resolve } from 'node:path';
import { defineTool, type Tool } from 'skill-registry/kernel';
import { schema, type Z } from '../../../../lib/arguments/index.ts';
import { futureRealPath } from '../../../../lib/files/index.ts';
import type { ServedTool } from '../../core/api.ts';
import { text, words } from '../../core/checked-calls.ts';
import type { Core, Feature } from '../../core/feature.ts';
import { contentWithNote } from '../../core/read/reading.ts';
import type { MakeTool, Opened, ToolRegistry } from '../../core/seams.ts';
import { withoutHiddenText } from '../../core/tools/index.ts';
import { dialectsConfig } from './config.ts';
import { loadSkillTool } from './load-skill.ts';
import { skillTool } from './skill.ts';

/** The tools and role prompts of five other designs. Needs proposals. */
export const dialects: Feature = { id: 'dialects', config: dialectsConfig, open };

// --- internal ---

const roleOptions = schema((z) =>
  z.object({ templates: words(), variables: z.object({}).catchall(z.unknown()).optional() }).optional(),
);

const TOOLS: Readonly<Record<string, MakeTool>> = {
  load_skill: loadSkillTool,
  skill: skillTool,
  skill__activate: activateSkillTool,
  skill__read_resource: readResourceTool,
};

function servedOf({ dialect, tools }: Core['config']): readonly ServedTool[] {
  const served = dialect.length > 0 ? tools.filter((name) => Object.hasOwn(TOOLS, name)) : [];
  // It also changes skills, so it needs an author.
  return served.map((name) => ({ name, always: true, ...(name === 'skill' && { needsAgent: true }) }));
}

function open(core: Core): Opened {
  const { call, catalog, config, reading, root, scopes } = core;
  return {
    tools: TOOLS,
    servedTools: servedOf(config),
    admin: {
      resolveRolePrompt: call.later(
        'admin.resolveRolePrompt(role, options)',
        [text, roleOptions],
        async (role, { templates = 'templates/roles', variables = {} } = {}) => {
          core.assertOpen();
          const { rolePrompt } = await import('./roles.ts');
          const skills = { read: reading.read.bind(reading), config, scopes, snapshot: () => catalog.snapshot() };
          return rolePrompt(skills, role, futureRealPath(resolve(root, templates)), variables);
        },
      ),
    },
  };
}

/** As in PromptKit. There is no `skill__deactivate`: nothing is kept active, and a skill grants no tools. */
function activateSkillTool(registry: Pick<ToolRegistry, 'read'>, z: Z): Tool {
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

function readResourceTool(registry: Pick<ToolRegistry, 'readResource'>, z: Z): Tool {
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
