import { MAX_DIFF_BYTES } from '../../../../extensions/skill_registry/features/proposals/diff/apply-diff.ts';

const fitting = (piece: string): string => piece.repeat(Math.floor(MAX_DIFF_BYTES / piece.length));

/** Diffs of up to the size that is allowed that fit, or almost fit, in very many places; with the text they are for. */
export function hostileDiffs(size: number): readonly (readonly [name: string, current: string, diff: string])[] {
  const same = 'a\n'.repeat(size);
  const periodic = `${'a\n'.repeat(300)}b\n`.repeat(size / 300);
  return [
    ['very many hunks', same, lines(30_000, (at) => `@@\n a\n+${at}`).slice(0, MAX_DIFF_BYTES)],
    ['very much context that fits everywhere', same, `@@\n${' a\n'.repeat(80_000)}+b\n`],
    ['very much context that fits nowhere', same, `@@\n${' a\n'.repeat(80_000)}-x\n`],
    ['context that almost fits everywhere', periodic, lines(200, (at) => `@@\n${' a\n'.repeat(301)}-b\n+${at}`)],
    ['much context indented less', same.replaceAll('a', '  a'), `@@\n${' a\n'.repeat(80_000)}-a\n+b\n`],
    ['stale context', same, fitting('@@\n q\n w\n a\n a\n-a\n a\n a\n e\n r\n')],
    ['one heading for very many hunks', `a\n# A\na\n${'b\n'.repeat(size)}`, fitting('@@ # A\n a\n+b\n')],
    [
      'very many hunks under one heading',
      `a\n# A\na\n${'b\n'.repeat(size)}`,
      lines(15_000, (at) => `@@ # A\n a\n+${at}`),
    ],
    ['very many headers', same, `${'--- x\n+++ y\n'.repeat(20_000)}@@\n-a\n+b\n`],
    ['names of blanks', same, `${`--- ${' '.repeat(1000)}x\n+++ y\n`.repeat(250)}@@\n-a\n+b\n`],
    ['one name of blanks', same, `--- ${' '.repeat(200_000)}x\n+++ y\n@@\n-a\n+b\n`],
    ['a @@ line of blanks', same, `@@${' '.repeat(200_000)}@ x\n-a\n+b\n`],
    ['a fence with blanks', same, `\`\`\`${' '.repeat(200_000)}!\n@@\n-a\n+b\n`],
    ['very many fences', same, `\`\`\`diff\n@@\n${'```\n'.repeat(60_000)}-a\n+b\n`],
    ['a header of git without end', same, `diff --git${' b/'.repeat(80_000)}\n@@\n-a\n+b\n`],
    ['one long line', 'x'.repeat(2 * size), `@@\n-${'x'.repeat(200_000)}\n+y\n`],
  ];
}

/** A text of so many lines. @param make - A line, by its 0-based number. */
export function lines(count: number, make: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => `${make(at)}\n`).join('');
}
