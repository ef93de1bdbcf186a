import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyDiff } from '../../../../extensions/skill_registry/features/proposals/diff/apply-diff.ts';
import { unifiedDiff } from '../../../../lib/diff/write-diff.ts';
import { oddText, runs } from '../../../lib/diff/odd-texts.ts';
import { SKILL } from './model-diff.ts';
import { ODD_FRAMES } from './odd-frames.ts';
import { ODD_LINES } from './odd-lines.ts';

describe('applies a diff with', () => {
  it.each([...ODD_FRAMES, ...ODD_LINES])('$odd', ({ diff, current = SKILL, change: [from, to], notes }) => {
    expect(current).toContain(from);
    const outcome = applyDiff(current, diff, 'SKILL.md');
    expect(outcome).toMatchObject({ applied: true, text: current.replace(from, () => to) });
    if (notes) expect(outcome).toMatchObject({ notes });
  });
});

describe('anything given for a diff', () => {
  it('is applied, with a text that differs, or refused with a reason', () => {
    const property = fc.property(oddText, oddText, (current, diff) => {
      const outcome = applyDiff(current, diff, 'SKILL.md');
      if (outcome.applied) expect(outcome.text).not.toBe(current);
      else expect(outcome.reason).toMatch(/[.)]$/);
    });
    fc.assert(property, runs(1000));
  });
});

describe('a diff that is right but written badly', () => {
  const LINES = [
    '',
    '# One',
    '## Two',
    '- item',
    '  - sub',
    '1. step',
    '```',
    '---',
    'key: value',
    'Some words.',
    'more',
  ];
  const text = fc
    .array(fc.constantFrom(...LINES), { maxLength: 24 })
    .map((lines) => lines.map((line) => `${line}\n`).join(''));
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...LINES, 'new')), {
    minLength: 1,
    maxLength: 3,
  });
  const change = fc.tuple(text, edits).map(([before, all]) => {
    const lines = before.split(/(?<=\n)/);
    for (const [at, gone, line] of all) lines.splice(at % (lines.length + 1), gone, `${line}\n`);
    return [before, lines.join('')] as const;
  });

  /** What leaves the meaning of any diff as it was. */
  const HARMLESS: readonly ((diff: string) => string)[] = [
    (diff) => diff.replace(/^@@ -\d+(,\d+)? \+\d+/gm, '@@ -7$1 +3'),
    (diff) => diff.replace(/^--- .*\n\+\+\+ .*\n/, ''),
    (diff) => diff.replaceAll('\n', '\r\n'),
    (diff) => diff.replace(/[ \t]+$/gm, ''),
    (diff) => diff.replace(/(\S)\r?\n$/, '$1'),
    (diff) => `Here:\n\n\`\`\`diff\n${diff.replace(/\n?$/, '\n')}\`\`\`\n\n- That is all.\n`,
  ];
  /** What takes away something that may be needed. */
  const HARMFUL: readonly ((diff: string) => string)[] = [
    (diff) => diff.replace(/^@@ .*@@$/gm, '@@'),
    (diff) => diff.replace(/^@@ .*@@$/gm, '@@ -1,99 +1,99 @@'),
    (diff) => diff.replace(/^ (?=\S)/gm, ''),
    (diff) => diff.replace(/^@@ .*@@\n .*\n/gm, '@@\n'),
    (diff) => diff.replace(/^ +/gm, ' '),
    (diff) => diff.replace(/\n [^\n]*\n$/, '\n'),
    (diff) => `${diff}\nThat is all.\n`,
  ];

  it('is applied as it was meant', () => {
    const property = fc.property(change, fc.subarray([...HARMLESS]), ([before, after], ways) => {
      fc.pre(before !== after);
      const diff = ways.reduce((written, way) => way(written), unifiedDiff('x.md', before, after));
      expect(applyDiff(before, diff, 'x.md')).toMatchObject({ applied: true, text: after });
    });
    fc.assert(property, runs(300));
  });

  it('is applied as it was meant or refused when something is missing', () => {
    const ways = fc.tuple(fc.subarray([...HARMLESS]), fc.constantFrom(...HARMFUL));
    const property = fc.property(change, ways, ([before, after], [harmless, harmful]) => {
      fc.pre(before !== after);
      const diff = [harmful, ...harmless].reduce((written, way) => way(written), unifiedDiff('x.md', before, after));
      const outcome = applyDiff(before, diff, 'x.md');
      if (outcome.applied) expect(outcome.text).toBe(after);
      else expect(outcome.reason).not.toBe('');
    });
    fc.assert(property, runs(300));
  });
});
