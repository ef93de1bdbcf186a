import { defineTool, type Tool, z } from 'skill-registry/kernel';
import type { SkillsForTools } from './skills-for-tools.ts';

export function listSkillsTool(registry: Pick<SkillsForTools, 'list' | 'searchReady'>): Tool {
  return defineTool({
    name: 'list_skills',
    description:
      'Lists the skills you can load: procedural knowledge for particular kinds of task. ' +
      'Always check available skills before starting a complex task. Give a query to find skills among many.',
    input: z.strictObject({
      query: z.string().max(500).optional().describe('What the skill is to be for, or its name.'),
      tag: z.string().max(100).optional().describe('Only skills with this tag.'),
      source: z.string().max(200).optional().describe('Only skills of this source.'),
      limit: z.int().min(1).max(200).optional().describe('At most this many. Default: 20.'),
    }),
    execute: async ({ query, tag, source, limit }, { turn }) => {
      const given = Object.entries({ query, tag, source, limit }).filter(([, value]) => value !== undefined);
      if (query?.trim()) await registry.searchReady(query);
      return { success: true, ...registry.list(Object.fromEntries(given), turn) };
    },
  });
}
