import { describe, expect, it } from 'vitest';
import { applyDiff } from '../../../../extensions/skill_registry/features/proposals/diff/apply-diff.ts';
import { mergeTexts } from '../../../../lib/diff/merge-texts.ts';
import { unifiedDiff } from '../../../../lib/diff/write-diff.ts';
import { hostileDiffs, lines } from '../../../features/proposals/diff/hostile-diffs.ts';
import { seededRandom } from '../../../helpers/seeded-random.ts';

const SPREAD = lines(20_000, (at) => `line ${at}`);

describe('comes to an end with', () => {
  // The others, and larger texts, are in huge-diffs.test.ts.
  it.each(hostileDiffs(1000).filter(([name]) => /blanks|headers|line/.test(name)))('%s', (_, current, diff) => {
    const outcome = applyDiff(current, diff, 'SKILL.md');
    expect(outcome).toEqual({ applied: false, reason: expect.any(String) });
    expect(outcome).toSatisfy(({ reason }: { reason: string }) => reason.length < 2000);
  });

  it('many hunks in a long file', () => {
    const after = SPREAD.replaceAll(/^line (\d+)00$/gm, 'LINE $100');
    const diff = unifiedDiff('SKILL.md', SPREAD, after);
    expect(diff.match(/^@@/gm)).toHaveLength(199);
    const outcome = applyDiff(SPREAD, diff, 'SKILL.md');
    expect(outcome.applied && outcome.text === after).toBe(true);
  });

  it('texts that have nothing in common', () => {
    const random = seededRandom(7);
    const [one, other] = [1, 2].map(() => lines(4000, () => `l${Math.floor(random() * 1e9)}`)) as [string, string];
    const outcome = applyDiff(one, unifiedDiff('SKILL.md', one, other), 'SKILL.md');
    expect(outcome.applied && outcome.text === other).toBe(true);
    expect(mergeTexts(one, other, one)).toEqual({ clean: true, text: other });
    expect(mergeTexts(one, other, `${one}x\n`)).toMatchObject({ clean: false });
  });

  it('a merge of many changes in texts whose lines repeat', () => {
    const random = seededRandom(7);
    const base = lines(20_000, () => `l${Math.floor(random() * 5)}`);
    const rows = base.split('\n');
    const changed = (rest: number): string =>
      rows.map((row, at) => (at % 100 === rest ? `changed ${at}` : row)).join('\n');
    const both = rows.map((row, at) => (at % 100 === 20 || at % 100 === 70 ? `changed ${at}` : row)).join('\n');
    expect(mergeTexts(base, changed(20), changed(70))).toEqual({ clean: true, text: both });
  });
});
