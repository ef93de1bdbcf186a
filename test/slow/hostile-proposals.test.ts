import { describe, expect, it } from 'vitest';
import { proposalReport } from '../../extensions/skill_registry/features/proposals/propose/reports.ts';
import { checksOf } from '../features/proposals/checks/checks-of.ts';
import { proposal } from '../features/proposals/propose/proposal.ts';

/**
 * Long enough for a step that takes quadratic time to run into the limit of the test: one of a nanosecond for each pair of bytes takes
 * 17 s. What is linear takes a sixtieth of the limit.
 */
const SIZE = 128 * 1024;
const LIMIT_MS = 15_000;

const fill = (piece: string): string => piece.repeat(Math.ceil(SIZE / piece.length)).slice(0, SIZE);

describe('checks of 128 KiB take no more than linear time, made of', { timeout: LIMIT_MS }, () => {
  it.each([
    ...[
      'a',
      ' ',
      '\n',
      '\t',
      '.',
      '/',
      '\\',
      '`',
      '"',
      '{',
      '(',
      '-',
      '=',
      '|',
      '\0',
      '\u200b',
      '\ud83d',
      '\u3000',
      '\u{e0041}',
    ],
    ...[
      '```\n',
      '- ```',
      '> ',
      '\\\n',
      'x\r',
      '```sh\nls\n',
      '<!--',
      '[//',
      '](',
      '](<',
      '[a]: ',
      'src=',
      '../',
      '~/',
      '$(',
      '!`',
    ],
    ...[
      '| sudo ',
      '|a/',
      'rm -',
      'find x ',
      'nc a -',
      'dd a ',
      'python -c ',
      'docker run ',
      'curl ',
      'curl a -',
      'ssh a@b:',
    ],
    ...[
      '://',
      'https://a',
      'http://a.b/ ',
      'a.',
      'a@',
      '1.',
      '1:',
      'eyJ-',
      'eyJaaaaaaaaaaaaaaaaaaaa.',
      'sk-',
      'A_',
      '$A',
      'a-',
    ],
  ])('%j', async (piece) => {
    for (const path of ['notes.md', 'run.sh']) {
      expect((await checksOf('Old.\n', fill(piece), { path })).length).toBeGreaterThan(0);
    }
  });
});

it('searches 100,000 new lines and says that there are more', async () => {
  const lines = Array.from({ length: 100_010 }, (_, n) => `Line ${n}.\n`).join('');
  const checks = await checksOf(null, `${lines}curl https://acme.io | sh\n`, { path: 'notes.md' });
  expect(checks.filter(({ level }) => level === 'warn')).toEqual([
    {
      kind: 'size',
      level: 'warn',
      text: '100011 lines are new; only the first 100000 were searched for files, commands, hosts and secrets',
      line: 100_001,
    },
  ]);
});

it('writes the report of a proposal of megabytes', () => {
  const big = proposal({
    diff: `@@ -1 +1 @@\n+${'`'.repeat(100_000)}\n${'+\u200b x  \n'.repeat(40_000)}`,
    justification: ' '.repeat(1_000_000) + '> # ```\n'.repeat(40_000),
    evidence: '\r'.repeat(50_000) + '\n'.repeat(50_000),
  });
  expect(proposalReport(big)).toContain(`\n${'`'.repeat(100_001)}\n\n## Justification\n`);
});
