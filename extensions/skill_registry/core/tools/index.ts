import { defineTool, runTool, type Tool } from 'skill-registry/kernel';
import { type Z, zod } from '../../../../lib/arguments/index.ts';
import { countTokens, toWire, type Wire, withoutHidden } from '../../../../lib/text/index.ts';
import { loadedMessage } from '../read/reading.ts';
import type { ResourceContent, SkillContent } from '../read/types.ts';
import type { MakeTool, ToolRegistry } from '../seams.ts';
import { namedFiles } from '../search/for-files.ts';
import type { ListedSkill, ListQuery, SkillList } from '../search/types.ts';
import { invalidArgument } from '../skill/errors.ts';

export const CORE_TOOLS: Readonly<Record<string, MakeTool>> = {
  list_skills: listSkillsTool,
  read_skill: readSkillTool,
  read_skill_resource: readSkillResourceTool,
};

/**
 * Tools scan first when the agent does not see the skill: it may just have been written. @throws INVALID_ARGUMENT.
 */
export function makeTools(
  names: readonly string[],
  makers: Readonly<Record<string, MakeTool>>,
  registry: ToolRegistry,
): readonly Tool[] {
  return names.map((name) => {
    const make = Object.hasOwn(makers, name) ? makers[name] : undefined;
    if (make) return lookingFirst(make(registry, zod()), registry);
    throw invalidArgument(`There is no tool ${JSON.stringify(name)}. Tools: ${Object.keys(makers).join(', ')}.`);
  });
}

type Read = SkillContent | ResourceContent;

export async function withoutHiddenText(read: Read): Promise<Read & Pick<SkillContent, 'hiddenLeftOut'>> {
  const { text, leftOut } = withoutHidden(read.content);
  if (leftOut === 0) return read;
  const approxTokens = await countTokens(text);
  const message = 'message' in read ? { message: loadedMessage(read.skillId, approxTokens) } : {};
  return { ...read, content: text, hiddenLeftOut: leftOut, approxTokens, ...message };
}

export function listForModels(
  list: SkillList,
): Omit<SkillList, 'skills'> & { readonly skills: readonly Wire<ListedSkill>[] } {
  return { ...list, skills: list.skills.map(toWire) };
}

// --- internal ---

function listSkillsTool(registry: Pick<ToolRegistry, 'list' | 'prepareQuery'>, z: Z): Tool {
  return defineTool({
    name: 'list_skills',
    description:
      'Lists the skills there are for you: procedural knowledge for particular kinds of task. ' +
      'Always check available skills before starting a complex task. Give a query to find skills among many: ' +
      'the nearest are listed, the best first. Those marked weak may not fit: when none does, work without a skill.',
    input: z.strictObject({
      query: z.string().max(500).optional().describe('What the skill is for, or its name.'),
      tag: z.string().max(100).optional().describe('Only skills with this tag.'),
      source: z.string().max(200).optional().describe('Only skills of this source.'),
      paths: namedFiles().describe('Files of the task: skills for them are listed too.'),
      limit: z.int().min(1).max(200).optional().describe('At most this many. Default: 20.'),
    }),
    execute: async (given, { turn }) => {
      if (given.query?.trim()) await registry.prepareQuery(given.query, turn);
      return { success: true, ...listForModels(registry.list(given as ListQuery, turn)) };
    },
  });
}

function readSkillTool(registry: Pick<ToolRegistry, 'read'>, z: Z): Tool {
  return defineTool({
    name: 'read_skill',
    description:
      'Loads the full instructions of one skill and lists its files. ' +
      'Do this before you act whenever a skill fits the task.',
    input: z.strictObject({
      skill_id: z.string().describe('The id as it stands in the list of available skills.'),
      view: z.enum(['body', 'raw']).optional().describe('raw: with the frontmatter. Default: body.'),
      again: z.boolean().optional().describe('true: in full, also when this conversation has it. Default: false.'),
    }),
    execute: async ({ skill_id, view, again = false }, { turn }) => {
      const read = await registry.read(skill_id, { audience: 'model', again, ...(view ? { view } : {}) }, turn);
      if (!read.repeated) return { success: true, ...toWire(read) };
      const { skillId, content, repeated, digest } = read;
      return { success: true, ...toWire({ skillId, content, repeated, digest }) };
    },
  });
}

function readSkillResourceTool(registry: Pick<ToolRegistry, 'readResource'>, z: Z): Tool {
  return defineTool({
    name: 'read_skill_resource',
    description:
      'Reads one file of a skill: a template, a reference, a checklist. Scripts are given as text, never run.',
    input: z.strictObject({
      skill_id: z.string().describe('The id of the skill the file belongs to.'),
      path: z.string().describe('Relative to the skill, as it is listed there: references/guide.md'),
    }),
    execute: async ({ skill_id, path }, { turn }) => ({
      success: true,
      ...toWire(await withoutHiddenText(await registry.readResource(skill_id, path, turn))),
    }),
  });
}

/** `execute` never throws, also when a program calls it with invalid values. */
function lookingFirst(tool: Tool, { visible, refresh }: Pick<ToolRegistry, 'visible' | 'refresh'>): Tool {
  const execute: Tool['execute'] = async (args: Readonly<Record<string, unknown>>, given) => {
    const turn = given?.turn ?? {};
    const asked = args.skill_id ?? args.name ?? args.skill_name;
    const isSeen = visible(turn).some(({ id, qualifiedId }) => id === asked || qualifiedId === asked);
    // A failed scan is a problem of the sources; the answer then comes from the last snapshot.
    if (!isSeen) await refresh().catch(() => undefined);
    return tool.execute(args as never, { turn, signal: given?.signal ?? new AbortController().signal });
  };
  return { ...tool, execute: (args, call) => runTool({ ...tool, execute }, args, call) };
}
