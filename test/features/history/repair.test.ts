import { expect, it } from 'vitest';
import { bodyOf } from '../../../extensions/skill_registry/core/skill/frontmatter.ts';
import { parseSkill } from '../../../extensions/skill_registry/core/skill/parse-skill.ts';
import { repairSkill } from '../../../extensions/skill_registry/features/history/repair.ts';
import { fc } from '../../helpers/properties.ts';

const BODY = '# Tea\n\nBoil water.\n';

it.each([
  ['a byte order mark', '\ufeff---\nname: tea\ndescription: D.\n---\nB\n', '---\nname: tea\ndescription: D.\n---\nB\n'],
  ['blank lines', '\n \n---\nname: tea\ndescription: D.\n---\nB\n', '---\nname: tea\ndescription: D.\n---\nB\n'],
  [
    'a value that YAML refuses',
    "---\nname: tea\ndescription: Use it: that's why\n  and more\ntags: [a]\n---\nB\n",
    "---\nname: tea\ndescription: 'Use it: that''s why and more'\ntags: [a]\n---\nB\n",
  ],
  ['no end', '---\nname: tea\ndescription: D.\n\n# Tea\n', '---\nname: tea\ndescription: D.\n---\n\n# Tea\n'],
  ['no name', '---\ndescription: D.\n---\nB\n', '---\nname: tea\ndescription: D.\n---\nB\n'],
  ['an empty name', '---\ndescription: D.\nname:\n---\nB\n', '---\ndescription: D.\nname: tea\n---\nB\n'],
  ['a name in capitals', '---\nname: Tea\ndescription: D.\n---\nB\n', '---\nname: tea\ndescription: D.\n---\nB\n'],
  [
    'another name, with the line ends of Windows',
    '---\r\nname: coffee # why\r\ndescription: D.\r\n---\r\nB\r\n',
    '---\r\nname: tea\r\ndescription: D.\r\n---\r\nB\r\n',
  ],
  [
    'a text without frontmatter that begins with prose',
    '# Tea\r\n\r\nHow to make: green tea.\r\nIt is easy.\r\n\r\nBoil.',
    '---\r\nname: tea\r\ndescription: "How to make: green tea. It is easy."\r\n---\r\n\r\n# Tea\r\n\r\nHow to make: green tea.\r\nIt is easy.\r\n\r\nBoil.',
  ],
  ['the line ends of old', '---\rname: Tea\rdescription: D.\r---\rB', '---\rname: tea\rdescription: D.\r---\rB'],
])('writes down how the loader reads %s', (_what, text, repaired) => {
  expect(repairSkill(text, 'tea')?.text).toBe(repaired);
  expect(repairSkill(repaired, 'tea')).toBeUndefined();
});

it.each([
  ['is right', `---\nname: tea\ndescription: D.\n---\n${BODY}`, 'tea'],
  ['has no frontmatter and no sentence for a description', BODY, 'tea'],
  ['lacks only the first line of its frontmatter', 'name: tea\ndescription: Makes tea of all kinds.\n---\nB\n', 'tea'],
  ['begins with a table', '| a | b |\n|---|---|\n| how to | make green tea |\n', 'tea'],
  ['begins with a list of fields', 'Owner: the people of tea and coffee\n\nBoil.\n', 'tea'],
  ['begins with a quotation below its heading', '# Tea\n\n> how to make green tea\n', 'tea'],
  ['begins with more than a description', `# Tea\n\nMake ${'green tea '.repeat(50)}.\n`, 'tea'],
  ['begins with code', '```\nboil the water for tea\n```\n', 'tea'],
  [
    'has a tab before a key',
    '---\nname: tea\ndescription: D.\nmetadata:\n\tversion: 1\n\tauthor: ada\n---\nB\n',
    'tea',
  ],
  ['has a tab before a field', '---\nname: tea\ndescription: D.\n\tlicense: MIT\n---\nB\n', 'tea'],
  ['has a tab before a list', '---\nname: tea\ndescription: D.\ntags:\n\t- a\n\t- b: c\n---\nB\n', 'tea'],
  ['has a blank before a field', '---\nname: Tea\n license: MIT\ndescription: D.\n---\nB\n', 'tea'],
  ['is no YAML, so that nobody knows what was meant', '---\nname: tea\nno field\ndescription: D.\n---\nB\n', 'tea'],
  ['lies in a directory whose name is no valid name', '---\nname: tea\ndescription: D.\n---\nB\n', 'My Tea'],
  ['is empty', '', 'tea'],
])('leaves alone what %s', (_what, text, directory) => {
  expect(repairSkill(text, directory)).toBeUndefined();
});

it('takes indented words with a colon as a part of the sentence above, where no field is called so', () => {
  const text = '---\nname: tea\ndescription: Makes tea.\n  Triggers: green, black\n---\nB\n';
  expect(repairSkill(text, 'tea')?.text).toContain("description: 'Makes tea. Triggers: green, black'\n");
});

it('calls the file SKILL.md, and changes its text only where that is wrong as well', () => {
  const text = '---\nname: tea\ndescription: D.\n---\nB\n';
  const renamed = 'the file skill.md was renamed to SKILL.md, which other programs look for';
  expect(repairSkill(text, 'tea', 'skill.md')).toEqual({ text, done: [renamed] });
  const done = ['the byte order mark was removed', renamed];
  expect(repairSkill(`\ufeff${text}`, 'tea', 'skill.md')).toEqual({ text, done });
});

it('quotes a name that YAML would not read as text', () => {
  expect(repairSkill('---\ndescription: D.\n---\nB\n', '123')?.text).toContain('name: "123"\n');
});

const line = fc.oneof(
  fc.constantFrom('---', 'name: Tea', 'name:', 'description: a: b', 'description: `x`', '  more: text', 'tags: [a', ''),
  fc.string({ maxLength: 20 }),
);

it('changes neither the body nor any field but the name, and is done after one time', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), (lines, end) => {
      const text = ['---', ...lines].join(end);
      const repair = repairSkill(text, 'tea');
      if (!repair) return;
      const [was, is] = [parseSkill(text, '', 'tea'), parseSkill(repair.text, '', 'tea')];
      expect({ ...is.header, name: '' }).toEqual({ ...was.header, name: '' });
      expect(bodyOf(repair.text)).toBe(bodyOf(text));
      expect(is.problems.length).toBeLessThan(was.problems.length);
      expect(repairSkill(repair.text, 'tea')).toBeUndefined();
    }),
  );
});
