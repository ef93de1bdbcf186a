import { fenced, type Row, validates } from './row.ts';

/** A row for a name; the directory is spelled the same unless given. */
function named(id: string, says: string, name: string, errors: readonly string[] = [], directory = name): Row {
  return validates(id, says, fenced(`name: ${name}`, 'description: d'), errors, { directory });
}

function invalid(name: string): string {
  return `Skill name '${name}' contains invalid characters. Only letters, digits, and hyphens are allowed.`;
}

function upper(name: string): string {
  return `Skill name '${name}' must be lowercase`;
}

const HYPHEN_AT_END = 'Skill name cannot start or end with a hyphen';

export const NAME_ROWS: readonly Row[] = [
  named('N01', 'takes 64 characters', 'a'.repeat(64)),
  named('N01', 'refuses 65 characters', 'a'.repeat(65), [
    `Skill name '${'a'.repeat(65)}' exceeds 64 character limit (65 chars)`,
  ]),
  named('N02', 'gives three reasons in order', 'A_B-', [upper('A_B-'), HYPHEN_AT_END, invalid('A_B-')]),
  named('N03', 'gives one reason for a hyphen alone', '"-"', [HYPHEN_AT_END], '-'),
  named('N04', 'compares the directory with letter case', 'a', ["Directory name 'A' must match skill name 'a'"], 'A'),
  ...['straße', 'навык', 'abc\u0661', 'λόγος', 'λόγοσ'].map((name) => named('N05', `takes ${name}`, name)),
  ...[
    ['x²', 'x2'],
    ['ａｂｃ', 'abc'],
    ['ﬁ', 'fi'],
    ['ⅷ', 'viii'],
    ['①', '1'],
    ['ª', 'a'],
  ].map(([name = '', directory]) => named('N06', `takes ${name} in the directory ${directory}`, name, [], directory)),
  named('N07', 'takes a full-width hyphen', 'a\uff0db'),
  named('N07', 'takes a small hyphen', 'a\ufe63b', [], 'a-b'),
  ...['a\u2013b', 'a\u2212b'].map((name) => named('N08', `refuses the dash in ${name}`, name, [invalid(name)])),
  // NFKC makes it U+2010.
  named('N08', 'refuses a hyphen that does not break', 'a\u2011b', [invalid('a\u2010b')]),
  named('N09', 'refuses Devanagari vowel signs', 'कौशल', [invalid('कौशल')]),
  named('N09', 'refuses Thai vowel signs', 'ทักษะ', [invalid('ทักษะ')]),
  ...[
    ['an emoji', 'a😀'],
    ['a joiner', 'a\u200db'],
    ['a soft hyphen', 'a\u00adb'],
    ['a combining mark alone', '\u0301'],
  ].map(([what, name = '']) => named('N10', `refuses ${what}`, name, [invalid(name)])),
  ...[
    ['İ', 'İ'],
    ['ǅ', 'Dž'],
    ['\u212a', 'K'],
    ['𝐀', 'A'],
    ['Ა', 'Ა'],
  ].map(([name = '', shown = '']) => named('N11', `refuses the capital ${name}`, name, [upper(shown)])),
  named('N12', 'counts characters, not UTF-16 units', '\u{20000}'.repeat(60)),
  named('N13', 'counts what NFKC has made of a name', '㌀'.repeat(17), [
    `Skill name '${'アパート'.repeat(17)}' exceeds 64 character limit (68 chars)`,
  ]),
  validates('N14', 'takes a description of 1,024 emoji', fenced('name: a', `description: ${'😀'.repeat(1024)}`), []),
  ...[
    [500, []],
    [501, ['Compatibility exceeds 500 character limit (501 chars)']],
  ].map(([length, errors]) =>
    validates(
      'N15',
      `judges a compatibility of ${length} characters`,
      fenced('name: a', 'description: d', `compatibility: ${'x'.repeat(length as number)}`),
      errors as readonly string[],
    ),
  ),
];
