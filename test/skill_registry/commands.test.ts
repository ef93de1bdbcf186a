import { expect, it } from 'vitest';
import { skillCommands } from '../../extensions/skill_registry/commands.ts';
import { skill } from '../helpers/boot-root.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { skillMd } from '../helpers/temp-folder.ts';

it('keeps /skills to a hundred lines of eighty columns, and finds the rest by words', async () => {
  const many = Object.assign(
    {},
    ...Array.from({ length: 120 }, (_, at) => skill(`skill-${at}`, { description: 'Long words. '.repeat(20).trim() })),
  );
  const { registry } = await openRegistry({ ...many, ...skill('tea', { description: 'Brews oolong.' }) });
  const run = async (args: string): Promise<string> => {
    const result = await skillCommands(registry)
      .find(({ name }) => name === 'skills')
      ?.execute(args, {});
    return result?.kind === 'print' ? result.text : '';
  };
  const lines = (await run('')).split('\n');
  expect(lines.filter((line) => line.startsWith('skill-'))).toHaveLength(100);
  expect(lines.every((line) => line.length <= 80)).toBe(true);
  expect(lines).toContain('... 21 more: /skills <words> finds them');
  expect(await run('oolong')).toMatch(/^SKILL +DESCRIPTION\ntea +Brews oolong\.$/);
  expect(await run('te')).toContain('tea');
  expect(await run('quantum chromodynamics')).toContain('No skill fits');
});

it('has a command for every skill but those that its author keeps from people', async () => {
  const two = { 'skills/proposals approve/SKILL.md': skillMd({ name: 'proposals approve', description: 'Of tea.' }) };
  const { registry } = await openRegistry({
    ...skill('tea'),
    ...skill('quiet', { 'user-invocable': 'false' }),
    ...two,
  });
  const names = skillCommands(registry).flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(names.filter((name) => /tea|quiet/.test(name))).toEqual(['skills:tea', 'tea']);
  // A bare one would be taken for /proposals with arguments.
  expect(names.filter((name) => name.includes('proposals'))).toEqual(['proposals', 'skills:proposals approve']);
});

it('applies a skill by the name of its frontmatter, too, where that can mean no other', async () => {
  const { registry } = await openRegistry({
    ...skill('tea', { name: 'green-tea' }),
    ...skill('cup', { name: 'pot' }),
    ...skill('pot'),
    ...skill('one', { name: 'same' }),
    ...skill('two', { name: 'same' }),
    ...skill('odd', { name: 'Odd One' }),
  });
  const commands = skillCommands(registry);
  expect(commands.flatMap(({ aliases = [] }) => aliases.filter((alias) => alias.includes(':')))).toEqual([
    'skills:green-tea',
  ]);
  const tea = commands.find(({ name }) => name === 'skills:tea');
  expect(await tea?.execute('hot', {})).toMatchObject({ message: expect.stringContaining('Apply Skill "tea"') });
});

it('lists where each skill comes from when there are several sources, and how many problems there are', async () => {
  const tree = {
    ...skill('tea', { name: 'green-tea' }),
    'more/cup/SKILL.md': skillMd({ name: 'cup', description: 'Of clay.' }),
  };
  const { registry } = await openRegistry(tree, { sources: [{ path: 'skills' }, { path: 'more' }] });
  const result = await skillCommands(registry)[0]?.execute('', {});
  expect(result).toMatchObject({
    text: expect.stringMatching(/^SKILL +SOURCE +TOKENS.*\ntea +skills +\d+ .*\ncup +more +\d+ +Of clay\./),
  });
  expect(result).toMatchObject({ text: expect.stringContaining('1 problem: skill-registry doctor says which') });
});
