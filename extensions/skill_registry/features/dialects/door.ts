import { resolve } from 'node:path';
import { schema } from '../../../../lib/arguments/index.ts';
import { futureRealPath } from '../../../../lib/files/index.ts';
import { text, words } from '../../core/checked-calls.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import { dialectsConfig } from './config.ts';
import { loadSkillTool } from './load-skill.ts';
import { activateSkillTool, readResourceTool } from './promptkit.ts';
import { skillTool } from './skill.ts';

/** The tools and role prompts of five other designs. Needs proposals and the history. */
export const dialects: Feature = { id: 'dialects', config: dialectsConfig, open };

// --- internal ---

const roleOptions = schema((z) =>
  z.object({ templates: words(), variables: z.object({}).catchall(z.unknown()).optional() }).optional(),
);

function open(core: Core): Opened {
  const { call, catalog, config, reading, root } = core;
  return {
    tools: {
      load_skill: loadSkillTool,
      skill: skillTool,
      skill__activate: activateSkillTool,
      skill__read_resource: readResourceTool,
    },
    admin: {
      resolveRolePrompt: call.later(
        'admin.resolveRolePrompt(role, options)',
        [text, roleOptions],
        async (role, { templates = 'templates/roles', variables = {} } = {}) => {
          core.assertOpen();
          const { rolePrompt } = await import('./roles.ts');
          const skills = { read: readAsPerson(reading), config, snapshot: () => catalog.snapshot() };
          return rolePrompt(skills, role, futureRealPath(resolve(root, templates)), variables);
        },
      ),
    },
  };
}

function readAsPerson(reading: Core['reading']): Core['reading']['read'] {
  return (id, options, turn) => reading.read(id, { audience: turn ? 'model' : 'person', ...options }, turn);
}
