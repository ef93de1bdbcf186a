import type { Command } from 'skill-registry/kernel';
import type { SkillRegistry } from './api.ts';
import { proposalsCommand } from './proposals-command.ts';

/** What people type: `/skills`, `/skills reload`, and `/skills:<id> [args]` for every skill a person may invoke. */
export function skillCommands(registry: SkillRegistry): readonly Command[] {
  const invocable = registry.snapshot().skills.filter((skill) => skill.userInvocable);
  return [
    {
      name: 'skills',
      usage: '[reload]',
      choices: ['reload'],
      description: 'The skills there are; reload looks at every source now',
      async execute(args) {
        if (args === 'reload') {
          const { skills } = await registry.refresh();
          return { kind: 'print', text: `Reloaded ${skills.length} skill(s).` };
        }
        if (args !== '') return { kind: 'print', text: `/skills takes nothing or "reload", not "${args}".` };
        return { kind: 'print', text: await listText(registry) };
      },
    },
    proposalsCommand(registry),
    ...invocable.map(
      (skill): Command => ({
        name: `skills:${skill.id}`,
        aliases: [skill.id],
        usage: skill.argumentHint ?? '[args]',
        description: skill.description,
        hidden: true,
        async execute(args, turn) {
          return { kind: 'send', message: await registry.apply(skill.id, args, turn) };
        },
      }),
    ),
  ];
}

// --- internal ---

/** More are counted in the background. */
const COUNT_UP_TO = 200;

async function listText(registry: SkillRegistry): Promise<string> {
  const { skills } = registry.snapshot();
  if (skills.length === 0) return 'No skills. Add a folder with a SKILL.md to one of the sources.';
  const counts = await registry.tokenCounts({ atMost: COUNT_UP_TO });
  const width = skills.reduce((most, { id }) => Math.max(most, id.length), 0);
  const rows = skills.map((skill) => {
    const tokens = counts.get(skill.id);
    return `  ${skill.id.padEnd(width)}  ${String(tokens?.l2 ?? '-').padStart(6)} tokens  ${skill.description}`;
  });
  return [...rows, '', '/skills:<id> [args] applies one; /<id> does, too.'].join('\n');
}
