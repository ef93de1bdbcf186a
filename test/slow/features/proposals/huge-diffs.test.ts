import { describe, expect, it } from 'vitest';
import { applyDiff } from '../../../../extensions/skill_registry/features/proposals/diff/apply-diff.ts';
import { mergeTexts } from '../../../../lib/diff/merge-texts.ts';
import { unifiedDiff } from '../../../../lib/diff/write-diff.ts';
import { hostileDiffs, lines } from '../../../features/proposals/diff/hostile-diffs.ts';

/** Files as large as may be read, most of their bytes line ends. */
const SIZE = 2_000_000;
/** So many that a comparison of each line with each other one would not come to an end. */
const REPEATED = 500_000;

describe('in a file of 4 MB comes to an end', () => {
  it.each(hostileDiffs(SIZE))('a diff with %s', (_, current, diff) => {
    expect(applyDiff(current, diff, 'SKILL.md')).toEqual({ applied: false, reason: expect.any(String) });
  });

  it('a file of a million blank lines that gets one', () => {
    const after = `${'\n'.repeat(1_000_000)}x\n`;
    const outcome = applyDiff('\n'.repeat(1_000_000), '@@\n+x\n*** End of File\n', 'SKILL.md');
    expect(outcome).toMatchObject({ applied: true });
    expect(outcome.applied && outcome.text === after).toBe(true);
  });
});

it('comes to an end with a comparison of half a million lines that repeat', () => {
  const same = 'a\n'.repeat(REPEATED);
  const edited = (every: number): string => lines(REPEATED, (at) => (at % every === 1 ? `${at}` : 'a'));
  expect(unifiedDiff('SKILL.md', same, edited(2000))).toContain('\n+2001\n');
  expect(mergeTexts(same, edited(2000), edited(3000))).toHaveProperty('clean');
  expect(unifiedDiff('SKILL.md', edited(2), edited(3))).not.toBe('');
});
