import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyDiff } from '../../../../extensions/skill_registry/features/proposals/diff/apply-diff.ts';
import { unifiedDiff } from '../../../../lib/diff/write-diff.ts';
import { oddChange, runs } from '../../../lib/diff/odd-texts.ts';

const PATH = 'SKILL.md';
const numbered = (count: number, end = '\n'): string =>
  Array.from({ length: count }, (_, at) => `line ${at + 1}${end}`).join('');

/** The diff, checked to lead back to `after`. */
function roundTrip(before: string | null, after: string, path = PATH): string {
  const diff = unifiedDiff(path, before, after);
  if (before === after) expect(diff).toBe('');
  else expect(applyDiff(before ?? '', diff, path)).toEqual({ applied: true, text: after, notes: [] });
  return diff;
}

describe('a diff of ours', () => {
  it('has the usual form, with three lines of context', () => {
    const diff = roundTrip(numbered(12), numbered(12).replace('line 5\n', 'LINE 5\nnew\n'));
    expect(diff).toBe(`--- a/SKILL.md
+++ b/SKILL.md
@@ -2,7 +2,8 @@
 line 2
 line 3
 line 4
-line 5
+LINE 5
+new
 line 6
 line 7
 line 8
`);
  });

  it('joins changes whose context touches, and parts others', () => {
    const changed = (lines: readonly number[]): string =>
      lines.reduce((text, line) => text.replace(`line ${line}\n`, `LINE ${line}\n`), numbered(30));
    expect(roundTrip(numbered(30), changed([5, 12])).match(/^@@.*/gm)).toEqual(['@@ -2,14 +2,14 @@']);
    expect(roundTrip(numbered(30), changed([5, 13])).match(/^@@.*/gm)).toEqual([
      '@@ -2,7 +2,7 @@',
      '@@ -10,7 +10,7 @@',
    ]);
  });

  it('shows as much context as makes each place the only one', () => {
    const steps = '- step\n'.repeat(40);
    const before = `# One\n${steps}# Two\n${steps}`;
    const after = before.replace('# Two\n- step\n- step\n- step\n- step\n', '# Two\n- step\n- step\n- step\n- stop\n');
    expect(roundTrip(before, after)).toContain(' # Two\n');
    roundTrip('a\n'.repeat(50), 'a\n'.repeat(51));
    roundTrip('a\n'.repeat(50), `${'a\n'.repeat(25)}b\n${'a\n'.repeat(25)}`);
  });

  it('is empty for equal texts', () => {
    expect(unifiedDiff(PATH, 'a\n', 'a\n')).toBe('');
    expect(unifiedDiff(PATH, null, null)).toBe('');
  });

  it('shows a file that is not there as /dev/null', () => {
    expect(roundTrip(null, 'a\nb\n')).toBe('--- /dev/null\n+++ b/SKILL.md\n@@ -0,0 +1,2 @@\n+a\n+b\n');
    expect(unifiedDiff(PATH, 'a\n', null)).toBe('--- a/SKILL.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n');
    expect(unifiedDiff(PATH, null, '')).toBe('--- /dev/null\n+++ b/SKILL.md\n');
  });

  it('says where a last line has no end', () => {
    expect(roundTrip('a\nb', 'a\nb\n')).toContain('-b\n\\ No newline at end of file\n+b\n');
    expect(roundTrip('a\nb\n', 'a\nb')).toContain('-b\n+b\n\\ No newline at end of file\n');
    expect(roundTrip('a\nb', 'c\nb')).toContain(' b\n\\ No newline at end of file\n');
  });

  it('says once which end added lines have, and at a line where it is another', () => {
    expect(roundTrip('a\n', 'b\r\nc\r\nd\n')).toBe(`added lines end with CRLF
--- a/SKILL.md
+++ b/SKILL.md
@@ -1 +1,3 @@
-a
+b
+c
+d
\\ Line ends with LF
`);
    const windows = roundTrip(numbered(9, '\r\n'), numbered(9, '\r\n').replace('line 5', 'LINE 5'));
    expect(windows).not.toMatch(/\r|ends? with/);
  });

  it('says what becomes of a byte order mark', () => {
    expect(roundTrip('\ufeffa\n', 'a\n')).toBe('byte order mark removed\n--- a/SKILL.md\n+++ b/SKILL.md\n');
    expect(roundTrip('a\n', '\ufeffb\n')).toContain('byte order mark added\n---');
    expect(roundTrip('\ufeffa\n', '\ufeffb\n')).not.toContain('byte order mark');
  });

  it('carries frontmatter fences, lists and other lines that look like a diff', () => {
    const before = '---\nname: x\n---\n+++\ntitle = "y"\n+++\n- one\n- two\n+ three\n--- x\n+++ y\n@@ -1 +1 @@\n```\n';
    roundTrip(before, 'none\n');
    roundTrip(before, '');
    roundTrip('none\n', before);
    roundTrip('', before);
    roundTrip(before, before.replace('---\nname', 'name').replace('--- x\n', '').replace('```', '````'));
    roundTrip(before, before.replaceAll('\n', '\r'));
  });

  it.each([
    'references/my notes.md',
    'a/b.md',
    'b/x.md',
    ' odd ',
    'x (old)',
    'tab\there',
    '"quoted"',
    'neu 2020-01-01',
  ])('names the file %j so that it is read again', (path) => {
    roundTrip('a\n', 'b\n', path);
  });

  it('leads from any text to any other, byte for byte', () => {
    const property = fc.property(oddChange, ([before, after]) => {
      const diff = roundTrip(before, after);
      if (before !== '') expect(applyDiff('', unifiedDiff(PATH, null, before), PATH)).toMatchObject({ text: before });
      // It is one line per line, whatever stands in the texts.
      expect(diff).not.toMatch(/\r/);
    });
    fc.assert(property, runs(800));
  });
});
