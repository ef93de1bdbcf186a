import { expect, it } from 'vitest';
import { parseSkill } from '../../../extensions/skill_registry/core/skill/parse-skill.ts';

it('compares the name with the directory, which is the id, however both write one letter', () => {
  const codes = (name: string, directory: string) =>
    parseSkill(`---\nname: ${name}\ndescription: Makes tea.\n---\nB\n`, '', directory).problems.map(({ code }) => code);
  expect(codes('caf\u00e9', 'cafe\u0301')).toEqual([]);
  expect(codes('cafe\u0301', 'caf\u00e9')).toEqual([]);
  expect(codes('cafe', 'caf\u00e9')).toEqual(['NAME_MISMATCH']);
});
