import { describe, expect, it } from 'vitest';
import { bodyOf, splitFrontmatter } from '../../../extensions/skill_registry/core/skill/frontmatter.ts';
import { parseSkill } from '../../../extensions/skill_registry/core/skill/parse-skill.ts';

/** What stands between the fences, on which line it starts, and what follows. */
function split(text: string): { yaml: string | undefined; line: number; body: string; oddity: string | undefined } {
  const { yaml, yamlLine, bodyOffset, oddity } = splitFrontmatter(text);
  return { yaml, line: yamlLine, body: text.slice(bodyOffset), oddity };
}

describe('a fence', () => {
  it.each([
    ['lines that end with LF', '---\nname: a\n---\nbody\n', 'name: a\n', 'body\n'],
    ['a byte order mark', '\ufeff---\nname: a\n---\nbody', 'name: a\n', 'body'],
    ['lines that end with CRLF', '---\r\nname: a\r\n---\r\nbody\r\n', 'name: a\r\n', 'body\r\n'],
    ['lines that end with CR alone', '---\rname: a\r---\rbody\r', 'name: a\r', 'body\r'],
    ['mixed line ends', '---\r\nname: a\n---\rbody', 'name: a\n', 'body'],
    ['blanks after the hyphens', '--- \t\nname: a\n---\t \nbody', 'name: a\n', 'body'],
    ['hyphens inside a value', '---\nname: a --- b\nx: "---"\n---\nbody', 'name: a --- b\nx: "---"\n', 'body'],
    ['an indented --- inside a block', '---\nx: |\n  ---\n---\nbody', 'x: |\n  ---\n', 'body'],
    ['four hyphens inside', '---\nx: 1\n----\n---\nbody', 'x: 1\n----\n', 'body'],
    ['no last line end', '---\nname: a\n---', 'name: a\n', ''],
    ['a rule in the body', '---\nname: a\n---\none\n---\ntwo', 'name: a\n', 'one\n---\ntwo'],
    ['nothing between them', '---\n---\nbody', '', 'body'],
    ['nothing but them', '---\n---', '', ''],
  ])('is found with %s', (_, text, yaml, body) => {
    expect(split(text)).toEqual({ yaml, line: 2, body, oddity: undefined });
  });

  it.each([
    ['four hyphens', '----\nname: a\n----\nbody'],
    ['two hyphens', '--\nname: a\n--\nbody'],
    ['an indented opening', '  ---\nname: a\n---\nbody'],
    ['words after it', '--- yaml\nname: a\n---\nbody'],
    ['another language', '---js\nname: a\n---\nbody'],
    ['text before it', 'Words.\n---\nname: a\n---\n'],
    ['plus signs', '+++\nname = "a"\n+++\nbody'],
  ])('is not one with %s: all of it is body', (_, text) => {
    expect(split(text)).toEqual({ yaml: undefined, line: 1, body: text, oddity: undefined });
  });

  it('counts lines from the file, blank ones before it included, and says so', () => {
    const text = '\ufeff\n \t\r\n---\nname: a\n---\nbody';
    expect(split(text)).toEqual({ yaml: 'name: a\n', line: 4, body: 'body', oddity: 'leading-blank' });
  });
});

describe('a fence that is never closed', () => {
  it.each([
    [
      'at the first line that is no YAML',
      '---\nname: a\nx:\n  - b\n- c\nWords.\nmore: words',
      'name: a\nx:\n  - b\n- c\n',
    ],
    ['at a blank line', '---\nname: a\n\n# Title\n', 'name: a\n'],
    ['at an indented closing fence and what follows', '---\nname: a\n  ---\n\nbody', 'name: a\n  ---\n'],
    ['at the end of the file', '---\nname: a', 'name: a'],
    ['at once', '---\n', ''],
    ['at once without a line end', '---', ''],
  ])('ends %s', (_, text, yaml) => {
    expect(split(text)).toEqual({ yaml, line: 2, body: text.slice('---\n'.length + yaml.length), oddity: 'unclosed' });
  });
});

describe('the body', () => {
  it.each([
    ['without frontmatter', '\ufeff\n# Title\n\nText. \n', '# Title\n\nText.'],
    ['after CRLF fences', '---\r\nname: a\r\n---\r\n\r\nOne\r\ntwo\r\n', 'One\r\ntwo'],
    ['of nothing', '', ''],
    ['of a byte order mark', '\ufeff', ''],
    ['of white space', ' \n\t\r\n', ''],
  ])('is trimmed %s', (_, text, body) => {
    expect(bodyOf(text)).toBe(body);
  });
});

it.each([
  ['one text with commas, as the standard has room for', 'metadata: { tags: "a, b c" }', ['a', 'b c']],
  ['a list', 'metadata: { tags: [a, b] }', ['a', 'b']],
  ['both places, each once', 'tags: [a, b]\nmetadata: { tags: "b, c" }', ['a', 'b', 'c']],
])('reads tags in metadata: %s', (_title, fields, tags) => {
  const { header, problems } = parseSkill(
    `---\nname: tidy\ndescription: Reviews code.\n${fields}\n---\nText.\n`,
    'SKILL.md',
    'tidy',
  );
  expect(header?.tags).toEqual(tags);
  expect(problems).toEqual([]);
});
