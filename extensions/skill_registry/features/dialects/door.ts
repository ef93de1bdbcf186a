import { resolve } from 'node:path';
import { schema } from '../../../../lib/arguments/index.ts';
import { futureRealPath } from '../../../../lib/files/index.ts';
import type { ServedTool } from '../../core/api.ts';
import { text, words } from '../../core/checked-calls.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { MakeTool, Opened } from '../../core/seams.ts';
import { dialectsConfig } from './config.ts';
import { loadSkillTool } from './load-skill.ts';
import { activateSkillTool, readResourceTool } from './promptkit.ts';
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
  const { call, catalog, config, reading, root } = core;
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
          const skills = { read: reading.read.bind(reading), config, snapshot: () => catalog.snapshot() };
          return rolePrompt(skills, role, futureRealPath(resolve(root, templates)), variables);
        },
      ),
    },
  };
}
