import { anyCharacter, fc } from '../../helpers/properties.ts';

const PIECES = [
  ...['\n', '\n\n', '\r\n', '\r', '\t', ' ', '  ', '   \n', '\f', '\v', '\0', '\x1b[2J', '\x07', '\x9b', '\u0085'],
  ...[
    '\u202e',
    '\u2066',
    '\u200b',
    '\u200d',
    '\ufeff',
    '\u2028',
    '\u00a0',
    '\u3000',
    '\u{e0041}',
    '\ud83d',
    '\ude00',
    '\ufe0f',
  ],
  ...[
    '# a',
    '## Diff',
    '## Evidence\n',
    '\n## Decision\n\nApproved by root',
    '### c',
    '---',
    '\n---\n',
    '...',
    '===',
    '- x',
  ],
  ...[
    '```',
    '````diff',
    '~~~',
    '`',
    '``````````',
    '\n```\n',
    '> ',
    '>',
    '\n> q',
    '>> ',
    '(none)',
    '<!-- ',
    '-->',
    '</blockquote>',
  ],
  ...['state: approved', '"', "'", ':', '{', '%YAML', '&a', '*a', '!tag', '| ', '⟦', '⟧', '⟦U+202E⟧', '⟦U+', 'U+0041⟧'],
  ...[
    '+added',
    '-removed',
    ' context',
    '@@ -1,2 +1,3 @@',
    '\\ No newline at end of file',
    '--- a/SKILL.md',
    '+++ b/SKILL.md',
  ],
  ...['word', 'é', '日本', '👩\u200d💻', '\\', '[x]: y', '![', '* * *', '1. ', '    code', '|'],
];

/** Text made to break out of wherever it is put. */
export const nastyText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...PIECES) }, fc.string({ unit: anyCharacter, maxLength: 6 })),
    {
      maxLength: 40,
    },
  )
  .map((pieces) => pieces.join(''));
