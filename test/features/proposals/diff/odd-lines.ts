import { BODY, END, HEADS, type ModelDiff, SKILL, WARM } from './model-diff.ts';

/** What is odd about lines and places. */
export const ODD_LINES: readonly ModelDiff[] = [
  {
    odd: 'blank context lines that lost their blank',
    diff: '@@ -9,5 +9,5 @@\n\n ## Steps\n\n-1. Boil the water.\n+1. Boil water.\n',
    change: ['1. Boil the water.', '1. Boil water.'],
  },
  {
    odd: 'context lines that lost their blank',
    diff: '@@ ... @@\n1. Boil the water.\n-2. Warm the pot.\n+2. Warm the pot well.\n3. Add the leaves.\n',
    change: WARM,
  },
  {
    odd: 'indented context lines that lost their blank',
    diff: '@@ -22,2 +22,2 @@\n-brew --tea\n+brew --green\n  --hot\n',
    change: ['brew --tea', 'brew --green'],
    notes: ['unchanged lines without their leading blank were accepted in hunk 1'],
  },
  {
    odd: 'a frontmatter fence that lost its blank',
    diff: '@@ -1,4 +1,4 @@\n---\n name: tea\n-description: Brew tea.\n+description: Brew good tea.\n---\n',
    change: ['Brew tea', 'Brew good tea'],
  },
  {
    odd: 'frontmatter fences that go',
    diff: '@@ -1,4 +1 @@\n----\n-name: tea\n-description: Brew tea.\n----\n+Tea.\n',
    change: ['---\nname: tea\ndescription: Brew tea.\n---', 'Tea.'],
  },
  {
    odd: 'TOML fences that change',
    diff: `${HEADS}@@ -1,3 +1,3 @@\n-+++\n+---\n title = 1\n-+++\n+---\n`,
    current: '+++\ntitle = 1\n+++\n',
    change: ['+++\ntitle = 1\n+++', '---\ntitle = 1\n---'],
  },
  {
    odd: 'items of lists with - and +',
    diff: '@@ -1,3 +1,3 @@\n - one\n-- two\n-+ three\n++ three\n+- four\n',
    current: '- one\n- two\n+ three\n',
    change: ['- two\n+ three', '+ three\n- four'],
  },
  {
    odd: 'lines like file headers',
    diff: '@@ -1,3 +1,3 @@\n keep\n--- x\n+++ y\n last\n',
    current: 'keep\n-- x\nlast\n',
    change: ['-- x', '++ y'],
  },
  {
    odd: 'blanks at ends of lines the file has not',
    diff: `@@ -12,3 +12,3 @@\n${BODY.replaceAll('.\n', '.  \n').replace('well.  ', 'well.')}`,
    change: WARM,
    notes: ['blanks at the ends of lines were ignored in hunk 1'],
  },
  {
    odd: 'no blanks at ends of lines where the file has some',
    diff: '@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n',
    current: 'one  \ntwo \nthree\t\n',
    change: ['two ', '2'],
    notes: ['blanks at the ends of lines were ignored in hunk 1'],
  },
  {
    odd: 'less indentation than the file',
    diff: '@@ -1,3 +1,4 @@\n - a\n-- b\n+- B\n+  - c\n - d\n',
    current: 'x:\n  - a\n  - b\n  - d\n',
    change: ['  - b\n', '  - B\n    - c\n'],
    notes: ['hunk 1 was indented as the file is', 'hunk 1 was found 1 line further down'],
  },
  {
    odd: 'more indentation than the file: blanks behind the signs',
    diff: '@@ @@\n  1. Boil the water.\n- 2. Warm the pot.\n+ 2. Warm the pot well.\n  3. Add the leaves.\n',
    change: WARM,
    notes: ['hunk 1 was indented as the file is'],
  },
  {
    odd: 'a stale outer context line',
    diff: '@@ -10,5 +10,5 @@\n ## Steps to take\n \n 1. Boil the water.\n-2. Warm the pot.\n+2. Warm the pot well.\n 3. Add the leaves.\n',
    change: WARM,
    notes: ['1 outer unchanged line of hunk 1 did not fit and was ignored'],
  },
  {
    odd: 'two stale outer context lines on each side',
    diff: '@@ -9,9 +9,8 @@\n a\n b\n 1. Boil the water.\n-2. Warm the pot.\n-3. Add the leaves.\n+2. Add leaves.\n \n ## Notes\n c\n d\n',
    change: ['2. Warm the pot.\n3. Add the leaves.', '2. Add leaves.'],
    notes: ['4 outer unchanged lines of hunk 1 did not fit and were ignored', 'hunk 1 was found 1 line further down'],
  },
  {
    odd: 'several hunks that drifted',
    diff: `${HEADS}@@ -2,2 +2,2 @@\n name: tea\n-description: Brew tea.\n+description: Brew it.\n@@ -30,2 +30,2 @@\n \n-The end.\n+Fin.\n`,
    change: [
      SKILL.slice(SKILL.indexOf('desc')),
      SKILL.slice(SKILL.indexOf('desc')).replace('Brew tea.', 'Brew it.').replace('The end.', 'Fin.'),
    ],
    notes: ['hunk 2 was found 5 lines further up'],
  },
  {
    odd: 'hunks out of order',
    diff: '@@ -26 +26 @@\n-The end.\n+Fin.\n@@ -6 +6 @@\n-# Tea\n+# Good tea\n',
    change: [
      SKILL.slice(SKILL.indexOf('# Tea')),
      SKILL.slice(SKILL.indexOf('# Tea')).replace('# Tea', '# Good tea').replace('The end.', 'Fin.'),
    ],
    notes: ['the hunks are not in the order of the file: hunk 2 comes earlier'],
  },
  {
    odd: 'the same hunk twice',
    diff: `@@ -12,3 +12,3 @@\n${BODY}@@ -12,3 +12,3 @@\n${BODY}`,
    change: WARM,
    notes: ['hunk 2 repeated hunk 1 and was left out'],
  },
  {
    odd: 'the same hunk twice for the same lines at two places',
    diff: '@@ -1,2 +1,2 @@\n-old\n+new\n x\n@@ -4,2 +4,2 @@\n-old\n+new\n x\n',
    current: 'old\nx\n-\nold\nx\n',
    change: ['old\nx\n-\nold\nx\n', 'new\nx\n-\nnew\nx\n'],
  },
  {
    odd: 'hunks whose context overlaps',
    diff: '@@ -12,2 +12,2 @@\n-1. Boil the water.\n+1. Boil water.\n 2. Warm the pot.\n@@ -13,2 +13,2 @@\n 2. Warm the pot.\n-3. Add the leaves.\n+3. Add leaves.\n',
    change: [
      '1. Boil the water.\n2. Warm the pot.\n3. Add the leaves.',
      '1. Boil water.\n2. Warm the pot.\n3. Add leaves.',
    ],
  },
  {
    odd: 'a hunk that changes nothing beside one that does',
    diff: `@@ -1,2 +1,2 @@\n ---\n name: tea\n@@ -12,3 +12,3 @@\n${BODY}`,
    change: WARM,
  },
  {
    odd: 'a heading that tells one place from another',
    diff: '@@ ## Two\n - step\n+- stop\n',
    current: '## One\n- step\n\n## Two\n- step\n\n## Three\n- step\n',
    change: ['## Two\n- step\n', '## Two\n- step\n- stop\n'],
    notes: ['of 3 positions for hunk 1 the one under "## Two" was used'],
  },
  {
    odd: 'new lines for an empty file',
    diff: '--- /dev/null\n+++ b/SKILL.md\n@@ -0,0 +1,2 @@\n+one\n+two\n',
    current: '',
    change: ['', 'one\ntwo\n'],
  },
  {
    odd: '*** Add File for an empty file',
    diff: '*** Begin Patch\n*** Add File: SKILL.md\n+one\n+two\n*** End Patch\n',
    current: '',
    change: ['', 'one\ntwo\n'],
  },
  {
    odd: 'all lines gone',
    diff: '@@ -1,2 +0,0 @@\n-one\n-two\n',
    current: 'one\ntwo\n',
    change: ['one\ntwo\n', ''],
  },
  {
    odd: 'a new last line for a file without a last line end',
    diff: '@@ -2 +2,2 @@\n two\n+three\n',
    current: 'one\ntwo',
    change: ['two', 'two\nthree'],
  },
  {
    odd: 'a false remark that both texts lack the last line end',
    diff: '@@ -25,2 +25,2 @@\n \n-The end.\n\\ No newline at end of file\n+Fin.\n\\ No newline at end of file\n',
    change: ['The end.\n', 'Fin.\n'],
  },
  {
    odd: 'a remark about the last line end in the middle of the file',
    diff: `@@ -12,3 +12,3 @@\n${BODY}\\ No newline at end of file\n`,
    change: WARM,
  },
  {
    odd: 'a last line end that goes',
    diff: '@@ -26 +26 @@\n-The end.\n+The end.\n\\ No newline at end of file\n',
    change: [END, 'The end.'],
  },
  {
    odd: 'mixed line ends around it',
    diff: '@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n',
    current: 'one\r\ntwo\r\nthree\nfour\r\n',
    change: ['two', '2'],
  },
  {
    odd: 'characters of many bytes',
    diff: '@@ -1,2 +1,2 @@\n 茶 🍵\n-naïve\n+naïve “tea”\n',
    current: '茶 🍵\nnaïve\n',
    change: ['naïve', 'naïve “tea”'],
  },
];
