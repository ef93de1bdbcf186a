import { describe, expect, it } from 'vitest';
import { applyDiff, MAX_DIFF_BYTES } from '../../../../extensions/skill_registry/features/proposals/diff/apply-diff.ts';
import { unifiedDiff } from '../../../../lib/diff/write-diff.ts';
import { BODY, HEADS, SKILL } from './model-diff.ts';

interface Refused {
  readonly odd: string;
  readonly diff: string;
  readonly current?: string;
  readonly reason: RegExp;
}

const LIST = '# One\n- step\n- step\n\n# Two\n- step\n- step\n';

const PLACES: readonly Refused[] = [
  {
    odd: 'lines that stand in two places, whatever the numbers say',
    diff: '@@ -5,2 +5,2 @@\n-- step\n+- stop\n - step\n',
    current: LIST,
    reason: /Hunk 1 fits at 2 positions \(from lines 2, 6\): add more unchanged lines .* Line numbers are not used/,
  },
  {
    odd: 'numbers that other hunks confirm, and two places all the same',
    diff: `@@ -1 +1 @@\n-# One\n+# 1\n@@ -6,2 +6,2 @@\n-- step\n+- stop\n - step\n`,
    current: LIST,
    reason: /Hunk 2 fits at 2 positions/,
  },
  {
    odd: 'a count that wants one line more, which might be a blank one',
    diff: '@@ -1,3 +1,2 @@\n-- step\n - step\n',
    current: '- step\n- step\n- step\n\n',
    reason: /fits at 2 positions/,
  },
  {
    odd: 'a heading that is there twice',
    diff: '@@ ## Two\n-step\n+stop\n',
    current: '## Two\nstep\n## Two\nstep\n',
    reason: /fits at 2 positions/,
  },
  {
    odd: 'many places',
    diff: '@@ -1 +1 @@\n-a\n+b\n',
    current: 'a\n'.repeat(3000),
    reason: /fits at 1000 or more positions \(from lines 1, 2, 3, 4, 5, 6, 7, 8, \.\.\.\)/,
  },
  {
    odd: 'the same hunk twice with the same number, which two places fit',
    diff: '@@ -1,2 +1,2 @@\n-- step\n+- stop\n - step\n'.repeat(2),
    current: LIST,
    reason: /Hunk 1 fits at 2 positions/,
  },
  {
    odd: 'three times the same hunk for two places',
    diff: '@@ -1,2 +1,2 @@\n-- step\n+- stop\n - step\n'.repeat(3),
    current: LIST,
    reason: /Hunk 1 fits at 2 positions/,
  },
  {
    odd: 'the same hunk with two numbers for one place',
    diff: `@@ -12,3 +12,3 @@\n${BODY}@@ -20,3 +20,3 @@\n${BODY}`,
    reason: /Hunk 1 and hunk 2 are equal, but fit at one position only: write it once/,
  },
  {
    odd: 'a line the file has otherwise',
    diff: '@@ -12,3 +12,3 @@\n 1. Boil the water.\n-2. Heat the pot.\n+2. Cool the pot.\n 3. Add the leaves.\n',
    reason:
      /Hunk 1 does not fit anywhere\. The nearest position is line 12, where 2 of its 3 .* lines fit: where the diff has "2\. Heat the pot\.", the file has "2\. Warm the pot\." \(line 13\)/,
  },
  {
    odd: 'a difference far along a long line',
    diff: `@@ @@\n-${'x'.repeat(500)} new\n+y\n last\n`,
    current: `${'x'.repeat(500)} old\nlast\n`,
    reason: /where the diff has …"x+ new", the file has …"x+ old" \(line 1\)/,
  },
  {
    odd: 'a difference nobody sees',
    diff: '@@ @@\n-a b\n+c\n last\n',
    current: 'a\u00a0b\nlast\n',
    reason: /has "a b", the file has "a\\u\{a0\}b"/,
  },
  {
    odd: 'lines past the end of the file',
    diff: '@@ -25,2 +25,2 @@\n-The end.\n+Fin.\n more\n',
    reason: /where the diff has "more", the file has no line/,
  },
  {
    odd: 'lines the file has nowhere',
    diff: '@@ -1,2 +1,2 @@\n-coffee\n+cocoa\n milk\n',
    reason: /The file has no line like "coffee"\./,
  },
  {
    odd: 'a removed line in one place and its context in another',
    diff: '@@ -14,3 +14,3 @@\n # Tea\n-- Use fresh water.\n+- Use water.\n The end.\n',
    reason: /does not fit anywhere/,
  },
  {
    odd: 'only new lines and nothing around them',
    diff: `${HEADS}@@ -12,0 +13,1 @@\n+2a. Wait.\n`,
    reason: /Hunk 1 only adds lines, with no unchanged line around them.*add the unchanged lines before and after/,
  },
  {
    odd: 'one line that is indented less, too little to shift by',
    diff: '@@ @@\n---hot\n+--cold\n',
    reason: /where the diff has "--hot", the file has " {2}--hot"/,
  },
  {
    odd: 'new lines below a line indented less, which may be meant as they are',
    diff: '@@ @@\n - a\n - b\n+- c\n',
    current: 'x:\n  - a\n  - b\n',
    reason: /does not fit anywhere/,
  },
  {
    odd: 'hunks about the same line',
    diff: '@@ -12,2 +12,2 @@\n-1. Boil the water.\n+1. Boil.\n 2. Warm the pot.\n@@ -13 +13 @@\n-2. Warm the pot.\n+2. Warm.\n',
    reason: /Both hunk 1 and hunk 2 are about line 13, which one of them removes: make one hunk of them/,
  },
  {
    odd: 'hunks that add in the same place',
    diff: '@@ @@\n 1. Boil the water.\n+1a. Wait.\n@@ @@\n+1b. Sing.\n 2. Warm the pot.\n',
    reason: /Both hunk 1 and hunk 2 add lines before line 13: make one hunk/,
  },
  {
    odd: 'more than one hunk that does not fit',
    diff: '@@ @@\n-tea\n+x\n@@ @@\n-coffee\n+y\n@@ @@\n-a\n+b\n@@ @@\n-c\n+d\n@@ @@\n-e\n+f\n',
    reason: /Hunk 1 does not fit.*Hunk 2 does not fit.*There may be more\./,
  },
  {
    odd: 'new lines below an old one, which stand there already',
    diff: '@@ @@\n 1. Boil the water.\n+2. Warm the pot.\n',
    reason: /The lines that hunk 1 adds are already in the file, from line 13\. Leave the hunk out/,
  },
  {
    odd: 'new lines above an old one, which stand there already',
    diff: '@@ @@\n+1. Boil the water.\n 2. Warm the pot.\n',
    reason: /are already in the file, from line 12/,
  },
  {
    odd: 'a change that has been made',
    diff: '@@ -12,3 +12,3 @@\n 1. Boil the water.\n-2. Heat the pot.\n+2. Warm the pot.\n 3. Add the leaves.\n',
    reason: /Hunk 1 seems to be applied already: .* from line 12\. Leave it out/,
  },
  {
    odd: 'a line to remove that is gone',
    diff: '@@ -12,3 +12,2 @@\n 1. Boil the water.\n-1a. Wait.\n 2. Warm the pot.\n',
    reason: /seems to be applied already/,
  },
  {
    odd: 'lines to remove from an empty file',
    diff: '@@ -1 +1 @@\n-a\n+b\n',
    current: '',
    reason: /the file is empty/,
  },
];

const FORMS: readonly Refused[] = [
  { odd: 'nothing', diff: ' \n\n', reason: /The diff is empty\. Write a unified diff/ },
  {
    odd: 'prose',
    diff: 'Please warm the pot well.\n',
    reason: /not a diff; it begins with "Please warm.*whole new text, give it as content/,
  },
  { odd: 'the whole text', diff: SKILL, reason: /This is not a diff; it begins with "---"/ },
  { odd: 'headers alone', diff: HEADS, reason: /has headers, but no line that is removed or added/ },
  { odd: 'only context', diff: '@@ -1,2 +1,2 @@\n ---\n name: tea\n', reason: /changes nothing: none of its lines/ },
  {
    odd: 'a change to the same',
    diff: '@@ @@\n-# Tea\n+# Tea\n',
    reason: /changes nothing: the file already has this text/,
  },
  {
    odd: 'another file',
    diff: `--- a/references/pots.md\n+++ b/references/pots.md\n@@ -12,3 +12,3 @@\n${BODY}`,
    reason:
      /is for "references\/pots\.md", but the proposal is for SKILL\.md\. .*write "--- a\/SKILL\.md".*path argument/,
  },
  {
    odd: 'another file in the header of git alone',
    diff: `diff --git a/pots.md b/pots.md\n@@ -12,3 +12,3 @@\n${BODY}`,
    reason: /is for "pots\.md"/,
  },
  {
    odd: 'another file in *** Update File',
    diff: `*** Begin Patch\n*** Update File: pots.md\n@@\n${BODY}*** End Patch\n`,
    reason: /is for "pots\.md"/,
  },
  {
    odd: 'two files',
    diff: `${HEADS}@@ -12,3 +12,3 @@\n${BODY}--- a/pots.md\n+++ b/pots.md\n@@ -1 +1 @@\n-a\n+b\n`,
    reason: /for more than one file \(SKILL\.md, "pots\.md"\).*one file at a time/,
  },
  {
    odd: 'another name afterwards',
    diff: `--- a/SKILL.md\n+++ b/TEA.md\n@@ -12,3 +12,3 @@\n${BODY}`,
    reason: /more than one file .*or renames one/,
  },
  {
    odd: 'a rename',
    diff: `diff --git a/SKILL.md b/TEA.md\nrename from SKILL.md\nrename to TEA.md\n`,
    reason: /renames or copies the file/,
  },
  {
    odd: '*** Move to',
    diff: `*** Update File: SKILL.md\n*** Move to: x.md\n@@\n${BODY}`,
    reason: /renames or copies/,
  },
  { odd: 'a deletion', diff: unifiedDiff('SKILL.md', SKILL, null), reason: /deletes the file/ },
  {
    odd: '*** Delete File',
    diff: '*** Begin Patch\n*** Delete File: SKILL.md\n*** End Patch\n',
    reason: /deletes the file/,
  },
  {
    odd: 'a creation of what is there',
    diff: unifiedDiff('SKILL.md', null, 'Tea.\n'),
    reason: /creates the file, but the file exists and has text: make a diff against its current text/,
  },
  {
    odd: '*** Add File for what is there',
    diff: '*** Begin Patch\n*** Add File: SKILL.md\n+Tea.\n*** End Patch\n',
    reason: /creates the file, but the file exists/,
  },
  { odd: 'a merge', diff: '@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n', reason: /one of a merge/ },
  { odd: 'a binary file', diff: 'diff --git a/SKILL.md b/SKILL.md\nGIT binary patch\nliteral 3\n', reason: /binary/ },
  {
    odd: 'a context diff',
    diff: '*** SKILL.md\n--- SKILL.md\n***************\n*** 1,2 ****\n! a\n--- 1,2 ----\n! b\n',
    reason: /context diff, not a unified diff/,
  },
  { odd: 'a plain diff', diff: '13c13\n< 2. Warm the pot.\n---\n> 2. Warm it.\n', reason: /format of plain "diff"/ },
  {
    odd: 'a block to search and replace',
    diff: '<<<<<<< SEARCH\n2. Warm the pot.\n=======\n2. Warm it.\n>>>>>>> REPLACE\n',
    reason: /block to search and replace, not a unified diff/,
  },
  {
    odd: 'a change before the first @@',
    diff: `+0. Sing.\n@@ -12,3 +12,3 @@\n${BODY}`,
    reason: /"\+0\. Sing\." looks like a change, but is outside of every hunk/,
  },
  {
    odd: 'a change after the end of the patch',
    diff: `*** Begin Patch\n*** Update File: SKILL.md\n@@\n${BODY}*** End Patch\n+4. Wait.\n`,
    reason: /"\+4\. Wait\." looks like a change, but is outside/,
  },
];

describe('refuses', () => {
  it.each([...PLACES, ...FORMS])('$odd', ({ diff, current = SKILL, reason }) => {
    const outcome = applyDiff(current, diff, 'SKILL.md');
    expect(outcome).toEqual({ applied: false, reason: expect.stringMatching(reason) });
  });

  it('what has been applied, when it comes a second time', () => {
    const after = SKILL.replace('3. Add the leaves.\n', '3. Add the leaves.\n4. Wait.\n').replace('The end.\n', '');
    const diff = unifiedDiff('SKILL.md', SKILL, after);
    expect(applyDiff(after, diff, 'SKILL.md')).toEqual({
      applied: false,
      reason: expect.stringMatching(/applied already/),
    });
  });

  it('a diff over the size that is allowed, unread', () => {
    const line = '+é\n';
    const diff = `@@ -0,0 +1 @@\n${line.repeat(MAX_DIFF_BYTES / 4)}`;
    expect(applyDiff('', diff, 'x.md')).toEqual({
      applied: false,
      reason: expect.stringMatching(/too large: 262144 bytes .*has 26\d{4}/),
    });
    expect(applyDiff('', diff.slice(0, -90), 'x.md')).toMatchObject({ applied: true });
  });
});
