import { type Command, isCodedError } from 'skill-registry/kernel';
import { estimateTokens, formatTable, plural } from '../../lib/text/index.ts';
import type { SkillRegistry } from './api.ts';
import { isName } from './core/skill/field-values.ts';
import type { Skill } from './core/skill/skill.ts';

/** `/skills`, `/skills <words>`, `/skills reload`, and `/skills:<id> [args]` for each skill a person may invoke. */
export function skillCommands(registry: SkillRegistry): readonly Command[] {
  const { skills: all, byId } = registry.snapshot();
  const invocable = all.filter((skill) => skill.userInvocable);
  const uses = new Map<string, number>();
  for (const { name } of all) uses.set(name, (uses.get(name) ?? 0) + 1);
  /** A name that is no id and belongs to one skill only. */
  const isAlias = (name: string): boolean => isName(name) && !byId.has(name) && uses.get(name) === 1;
  return [
    {
      name: 'skills',
      usage: '[reload|words]',
      choices: ['reload'],
      description: 'The skills there are, or those nearest to a query; reload looks at every source now',
      async execute(args) {
        if (args === 'reload') {
          const { skills } = await registry.refresh();
          return { kind: 'print', text: `Reloaded ${plural(skills.length, 'skill')}.` };
        }
        const atWidth = args === '' ? await listText(registry) : await foundText(registry, args);
        return { kind: 'print', text: atWidth(LINE), atWidth };
      },
    },
    ...registry.admin.commands(),
    ...invocable.map(
      (skill): Command => ({
        name: `skills:${skill.id}`,
        // An id with a blank could look like a command and its argument: `proposals approve`.
        aliases: [...(/\s/.test(skill.id) ? [] : [skill.id]), ...(isAlias(skill.name) ? [`skills:${skill.name}`] : [])],
        usage: skill.argumentHint ?? '[args]',
        description: skill.description,
        hidden: true,
        async execute(args, turn) {
          try {
            return { kind: 'send', ...(await registry.admin.prepareMessage(skill.id, args, turn)) };
          } catch (error) {
            // A held or disabled skill goes to no agent; the person gets the reason.
            if (!isCodedError(error, 'SKILL_HELD') && !isCodedError(error, 'SKILL_DISABLED')) throw error;
            return { kind: 'print', text: error.message };
          }
        },
      }),
    ),
  ];
}

// --- internal ---

/** With more skills, the list shows only known token counts. */
const COUNT_UP_TO = 200;
const MAX_SHOWN = 100;
/** Where the channel's width is unknown. */
const LINE = 80;

type AtWidth = (columns: number) => string;

function withHeldReason(skill: Skill | undefined, description: string): string {
  return skill?.heldBecause === undefined ? description : `(held: ${skill.heldBecause}) ${description}`;
}

async function foundText(registry: SkillRegistry, query: string): Promise<AtWidth> {
  await registry.admin.prepareQuery(query, {});
  const { skills, nearest = [], message = '' } = registry.list({ query, audience: 'person' });
  if (skills.length > 0) {
    const { byId } = registry.snapshot();
    const rows = skills.map(({ skillId, description }) => [skillId, withHeldReason(byId.get(skillId), description)]);
    const below = skills[0]?.weak ? `\n${message}` : '';
    return (columns) => `${formatTable(['SKILL', 'DESCRIPTION'], rows, columns)}${below}`;
  }
  return () => `${message}${nearest.length > 0 ? ` Nearest: ${nearest.join(', ')}.` : ''}`;
}

async function listText(registry: SkillRegistry): Promise<AtWidth> {
  const { skills } = registry.snapshot();
  const bySource = new Set(skills.map(({ source }) => source)).size > 1;
  if (skills.length === 0) return () => 'No skills. Add a folder with a SKILL.md to one of the sources.';
  const counts = await registry.admin.tokenCounts({ atMost: COUNT_UP_TO });
  const rows = skills
    .slice(0, MAX_SHOWN)
    .map((skill) => [
      skill.id,
      ...(bySource ? [skill.source] : []),
      counts.get(skill.id)?.l2 ?? (skill.remote ? '-' : estimateTokens(skill.bytes - skill.description.length)),
      withHeldReason(skill, skill.description),
    ]);
  const more = skills.length > MAX_SHOWN ? [`... ${skills.length - MAX_SHOWN} more: /skills <words> finds them`] : [];
  const problems = registry.problems().length;
  const wrong = problems > 0 ? [`${plural(problems, 'problem')}: skill-registry doctor says which`] : [];
  const end = [...more, ...wrong, '', '/skills:<id> [args] applies one; /<id> does, too.'].join('\n');
  const header = ['SKILL', ...(bySource ? ['SOURCE'] : []), 'TOKENS', 'DESCRIPTION'];
  return (columns) => `${formatTable(header, rows, columns)}\n${end}`;
}
