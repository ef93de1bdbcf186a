import { describe, expect, it } from 'vitest';
import { expectEqualOrAbstain } from '../../helpers/equal-or-abstain.ts';
import { anyCharacter, fc } from '../../helpers/properties.ts';

describe('a scan', () => {
  it.each([
    'name: a\ndescription: Plain words, and more (really).\n',
    'name: a\r\ndescription: b\r\n',
    'name: "a"\ndescription: \'b: c # d\'\nversion: 3\n',
    'tags:\n  - one\n  - "two"\nmetadata:\n  author: me\n  version: "1.0"\nlicense: MIT\n',
    'tags:\n- one\n- two\nname: a\n',
    'metadata:\n  tool:\n    needs:\n      bins: ["a"]\n      env:\n      - B\n      - C\n    emoji: x\n  last: y\nname: a\n',
    'tags: [a, b c, "d"]\nempty:\nuser-invocable: false\n',
    'description: Größe über alles – 日本語\n',
    'description: >\n  One line\n  and another.\nname: a\n',
    'description: |-\n    a: b\n    # c\n',
    'metadata: {"a": {"b": [1, "x y", true]}, "c": null}\n',
    'version: 1.0\nother: 1.2.3\n\nname: a\n\n',
    'description: https://example.org/a?b=c#d\n',
    'description: \'it\'\'s\'\nother: "a \\"b\\" \\\\"\n',
    'metadata: {"run": "sh -c \\"x\\""}\n',
    'emoji: 🦞\nupdated: 2025-01\nempty: \n',
    'install:\n  - id: brew\n    bins: [a]\n  - id: npm\n    script: |\n      one\n        two\n\n      three\nlast: x\n',
    '# c\na:\n  # d\n  b: 1\n\n  c: 2\n',
    'description: >\n  One\n  two\n\n  three\n\n\n  end\n\nname: a\n',
    'description: |-\n  a\n\n  b\n\n',
    'description: Note: this: that\nname: a\nother: b:\n',
  ])('reads %j', (yaml) => {
    expect(expectEqualOrAbstain(yaml)).toBe(true);
  });

  it.each([
    'description: a: b\n  c\n',
    'description: a: b\n  # c\n',
    'description: a: b # c\n',
    'description: a\n  b\n',
    'a: "\\/\\x41"\n',
    'a: {"b": "\\u0041"}\n',
    'a: &x 1\nb: *x\n',
    'a: 0x10\n',
    'a: 1e3\n',
    'a: .inf\n',
    'a: b # c\n',
    'a: 1\na: 2\n',
    '__proto__: 1\n',
    'a: "\\u0041"\n',
    'a: !!str 1\n',
    'a: {b: c}\n',
    'a: {"b": 1, "b": 2}\n',
    'a: |\n  b\n\n',
    'a: >\n  b\n   c\n',
    'description: >\n  One\n  two\n\n  three\n   - deeper\n\n   - deeper\n  end\n\nname: a\n',
    'a: |2\n  b\n',
    'a: b\n\n  c\n',
    'a:\n\n  - b\n\n  - c\n',
    'a: 1.\n',
    '# c\na: b\n',
    'a:\n  b:\n    c: d\n',
    '---\na: b\n',
    'a: b\n...\n',
    'true: x\n',
    '\ta: b\n',
    'a: \tb\n',
    '',
  ])('leaves %j to the package, or says the same', (yaml) => {
    expectEqualOrAbstain(yaml);
  });

  const nasty = fc.constantFrom(
    ...[
      'a',
      'B',
      'ä',
      '日',
      '😀',
      ' ',
      '  ',
      ':',
      ': ',
      ' #',
      '#',
      '-',
      '- ',
      '"',
      "'",
      '\\',
      '\\n',
      ',',
      '[',
      ']',
      '{',
      '}',
    ],
    ...[
      '|',
      '>',
      '&',
      '*',
      '!',
      '%',
      '@',
      '`',
      '?',
      '? ',
      '~',
      '=',
      '<<',
      '\t',
      '\n',
      '\r\n',
      '\r',
      '\n  ',
      '\n- ',
      '\n\n',
    ],
    ...[
      '0',
      '1',
      '9',
      '.',
      '+',
      '_',
      'e',
      'x',
      'o',
      '0x1F',
      '1_000',
      '1:30',
      '2024-01-01',
      '2024-01-01T00:00:00Z',
      '.nan',
    ],
    ...[
      'null',
      'Null',
      'true',
      'False',
      'yes',
      'no',
      'on',
      'off',
      '---',
      '...',
      '\ufeff',
      '\u0085',
      '\u2028',
      '\u00a0',
      '\u0001',
    ],
    ...[
      'a: b',
      'k: v\n',
      '- x\n',
      '"q"',
      "'s'",
      "''",
      '""',
      '[a, b]',
      '[]',
      '{}',
      '1.0',
      '-1',
      '0.10',
      '007',
      '\ud800',
    ],
  );
  const scalar = fc.oneof(
    fc.array(nasty, { maxLength: 5 }).map((parts) => parts.join('')),
    fc.string({ maxLength: 12 }),
    fc.string({ unit: anyCharacter, maxLength: 6 }),
    fc.double().map(String),
    fc.integer().map(String),
  );
  const key = fc.oneof(
    fc.constantFrom(
      'name',
      'description',
      'tags',
      'a-b',
      'a_b',
      'null',
      'true',
      '__proto__',
      'constructor',
      'y',
      'n',
      '1',
      'é',
      '',
    ),
    scalar,
  );
  const line = fc.oneof(
    fc.tuple(fc.stringMatching(/^[a-z]{1,3}$/), scalar).map(([k, v]) => `${k}: ${v}`),
    fc.stringMatching(/^[a-z]{1,3}: [a-z0-9. ,]{1,8}[a-z]$/),
    fc.tuple(key, scalar).map(([k, v]) => `${k}: ${v}`),
    fc.tuple(key, scalar).map(([k, v]) => `  ${k}: ${v}`),
    fc
      .tuple(fc.nat({ max: 4 }), fc.stringMatching(/^[ab]$/), fc.constantFrom('', ' 1', ' x', ' - y'))
      .map(([n, k, v]) => `${' '.repeat(n)}${k}:${v}`),
    fc.nat({ max: 4 }).map((n) => `${' '.repeat(n)}- x`),
    key.map((k) => `${k}:`),
    scalar.map((v) => `- ${v}`),
    scalar.map((v) => `  - ${v}`),
    scalar.map((v) => `    ${v}`),
    scalar,
    fc.json({ maxDepth: 2 }).map((text) => `json: ${text}`),
    fc.constantFrom('', ' ', '# c', 'description: >-', 'b: |', 'd: >', 'x: [a,', 'y: "', "z: '"),
  );
  const newline = fc.constantFrom('\n', '\r\n', '\n', '\r');

  it('equals the package or abstains, whatever the frontmatter', () => {
    let read = 0;
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), newline, (rows, end) => {
        if (expectEqualOrAbstain(rows.map((row) => row + end).join(''))) read += 1;
      }),
      { numRuns: 2_000 },
    );
    // Else nothing was compared.
    expect(read).toBeGreaterThan(50);
  });

  it('equals the package or abstains, however fields are nested', () => {
    const row = fc
      .tuple(fc.nat({ max: 4 }), fc.constantFrom('a:', 'b:', 'c: x', 'd: [y]', '- z', '', 'e: |', 'f', '-'))
      .map(([depth, text]) => ' '.repeat(depth) + text);
    fc.assert(
      fc.property(fc.array(row, { maxLength: 6 }), (rows) => {
        expectEqualOrAbstain(`top:\n${rows.join('\n')}\nend: x\n`);
      }),
      { numRuns: 2_000 },
    );
  });

  it('equals the package or abstains for every value of a field', () => {
    const value = fc
      .tuple(scalar, fc.constantFrom('', '"', "'", ' ', '[', ']'))
      .map(([v, q]) => q + v + q.replace('[', ']'));
    fc.assert(
      fc.property(value, (text) => {
        expectEqualOrAbstain(`name: ${text}\n`);
        expectEqualOrAbstain(`tags: [${text}, b]\n`);
        expectEqualOrAbstain(`metadata:\n  a: ${text}\n  b: c\n`);
        expectEqualOrAbstain(`tags:\n  - ${text}\nname: a\n`);
      }),
      { numRuns: 1_000 },
    );
  });
});
