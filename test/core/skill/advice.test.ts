import { expect, it } from 'vitest';
import { parseSkill } from '../../../extensions/skill_registry/core/skill/parse-skill.ts';

const problemsOf = (frontmatter: string, directory: string) =>
  parseSkill(`---\n${frontmatter}\n---\nText.\n`, 'SKILL.md', directory).problems;

it.each(['tea', '123', '1e5', '0x1', 'true', 'null', 'no', '2026-01-01', 'навык', 'a'])(
  'gives the line that mends a missing name, as it has to be written: %s',
  (directory) => {
    const [missing] = problemsOf('description: x.', directory);
    const line = /Write (name: .+)$/.exec(missing?.message ?? '')?.[1] ?? '';
    expect(problemsOf(`${line}\ndescription: x.`, directory)).toEqual([]);
  },
);

it.each(['my skill', '- x', 'Tea', "o'clock", 'a #b', '1.0', '~', '[x]'])(
  'says that a directory has to be renamed whose name can be no name: %s',
  (directory) => {
    const [missing] = problemsOf('description: x.', directory);
    expect(missing?.message).toMatch(/is used\. Rename the directory: 1-64 lowercase .+\. Then write that as name\.$/);
  },
);

it.each(['Use when: x', 'Use "x": y\\z', "It's: 'so'", '@x: y', 'a: b: c', '`x`: y'])(
  'says how to write a value so that it is valid, whatever quotes are in it: %s',
  (value) => {
    const problems = problemsOf(`name: tea\ndescription: ${value}`, 'tea');
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/Put it in single quotes, and write each ' in it twice\.$/),
    ]);
    expect(problemsOf(`name: tea\ndescription: '${value.replaceAll("'", "''")}'`, 'tea')).toEqual([]);
  },
);
