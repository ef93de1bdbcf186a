import { BODY, END, HEADS, type ModelDiff, SKILL, WARM } from './model-diff.ts';

const windows = (text: string): string => text.replaceAll('\n', '\r\n');
const fenced = (text: string): string => `\`\`\`diff\n${text}\`\`\`\n`;

/** What is odd about headers, numbers and what is around a diff. */
export const ODD_FRAMES: readonly ModelDiff[] = [
  { odd: 'nothing', diff: `${HEADS}@@ -12,3 +12,3 @@\n${BODY}`, change: WARM },
  {
    odd: 'wrong line numbers',
    diff: `${HEADS}@@ -3,3 +3,3 @@\n${BODY}`,
    change: WARM,
    notes: ['hunk 1 was found 9 lines further down'],
  },
  { odd: 'wrong counts, too large', diff: `${HEADS}@@ -12,30 +12,44 @@\n${BODY}`, change: WARM },
  { odd: 'wrong counts, too small', diff: `${HEADS}@@ -12,1 +12,1 @@\n${BODY}`, change: WARM },
  { odd: 'numbers that are all zero', diff: `${HEADS}@@ -0,0 +0,0 @@\n${BODY}`, change: WARM },
  { odd: 'no last newline', diff: `${HEADS}@@ -12,3 +12,3 @@\n${BODY.trimEnd()}`, change: WARM },
  { odd: 'CRLF against LF', diff: windows(`${HEADS}@@ -12,3 +12,3 @@\n${BODY}`), change: WARM },
  {
    odd: 'LF against CRLF',
    diff: `${HEADS}@@ -12,3 +12,3 @@\n${BODY}`,
    current: windows(SKILL),
    change: WARM,
  },
  {
    odd: 'no BOM against one, at the first line',
    diff: '@@ -1,2 +1,3 @@\n ---\n+# comment\n name: tea\n',
    current: `\ufeff${SKILL}`,
    change: ['---\nname', '---\n# comment\nname'],
  },
  { odd: 'no prefixes a/ and b/', diff: `--- SKILL.md\n+++ SKILL.md\n@@ -12,3 +12,3 @@\n${BODY}`, change: WARM },
  { odd: 'names that begin with ./', diff: `--- ./SKILL.md\n+++ ./SKILL.md\n@@ -12,3 +12,3 @@\n${BODY}`, change: WARM },
  {
    odd: 'time stamps behind the names',
    diff: `--- SKILL.md\t2024-01-01 10:00:00.000 +0000\n+++ SKILL.md 2024-01-02\n@@ -12,3 +12,3 @@\n${BODY}`,
    change: WARM,
  },
  {
    odd: 'remarks behind the names',
    diff: `--- SKILL.md (original)\n+++ SKILL.md (updated)\n@@ -12,3 +12,3 @@\n${BODY}`,
    change: WARM,
  },
  { odd: 'placeholders for names', diff: `--- original\n+++ modified\n@@ -12,3 +12,3 @@\n${BODY}`, change: WARM },
  {
    odd: 'the header lines of git',
    diff: `diff --git a/SKILL.md b/SKILL.md\nindex 83db48f..bf269f4 100644\n${HEADS}@@ -12,3 +12,3 @@ ## Steps\n${BODY}`,
    change: WARM,
  },
  {
    odd: 'the header lines of git and no others',
    diff: `diff --git a/SKILL.md b/SKILL.md\n@@ -12,3 +12,3 @@\n${BODY}`,
    change: WARM,
  },
  { odd: 'the signature of a mail', diff: `${HEADS}@@ -12,3 +12,3 @@\n${BODY}-- \n2.39.0\n\n`, change: WARM },
  { odd: 'only one of the two names', diff: `+++ b/SKILL.md\n@@ -12,3 +12,3 @@\n${BODY}`, change: WARM },
  { odd: 'no file headers', diff: `@@ -12,3 +12,3 @@\n${BODY}`, change: WARM },
  { odd: 'no headers at all', diff: BODY, change: WARM },
  { odd: 'file headers and no @@', diff: `${HEADS}${BODY}`, change: WARM },
  { odd: '@@ without numbers', diff: `${HEADS}@@\n${BODY}`, change: WARM },
  { odd: '@@ @@', diff: `${HEADS}@@ @@\n${BODY}`, change: WARM },
  { odd: '@@ ... @@ with a heading', diff: `${HEADS}@@ ... @@ ## Steps\n${BODY}`, change: WARM },
  { odd: '@@ with a heading alone', diff: `@@ ## Steps\n${BODY}`, change: WARM },
  { odd: '@@ with half the numbers', diff: `@@ -12 @@\n${BODY}`, change: WARM },
  {
    odd: 'a fence and prose around it',
    diff: `Here is the change:\n\n${fenced(`${HEADS}@@ -12,3 +12,3 @@\n${BODY}`)}\nIt does this:\n- warm *well*\n- no more\n`,
    change: WARM,
  },
  {
    odd: 'a fence that is never closed, and wrong counts',
    diff: `\`\`\`diff\n${HEADS}@@ -12,9 +12,9 @@\n${BODY}`,
    change: WARM,
  },
  { odd: 'a fence without language', diff: `\`\`\`\n@@ -1 +1 @@\n${BODY}\`\`\`\n`, change: WARM },
  { odd: 'a fence and no headers', diff: fenced(BODY), change: WARM },
  {
    odd: 'a fence around fences of the file',
    diff: fenced('@@ -20,3 +20,3 @@\n ```bash\n-brew --tea\n+brew --green\n   --hot\n ```\n'),
    change: ['brew --tea', 'brew --green'],
  },
  {
    odd: 'fences of the file that lost their blank, in a fence',
    diff: fenced('@@ ... @@\n```bash\n-brew --tea\n+brew --green\n   --hot\n```\n\n-The end.\n+The very end.\n'),
    change: ['brew --tea\n  --hot\n```\n\nThe end', 'brew --green\n  --hot\n```\n\nThe very end'],
  },
  {
    odd: 'one fence of the file that lost its blank, in a fence, and an item of a list to remove below it',
    diff: fenced('@@ -1,6 +1,5 @@\n+\n\n```\n1. step\n-- item\n'),
    current: '\n```\n1. step\n- item\n',
    change: ['\n```\n1. step\n- item\n', '\n\n```\n1. step\n'],
  },
  {
    odd: 'two fences with prose between',
    diff: `First:\n${fenced(`@@ -12,3 +12,3 @@\n${BODY}`)}\nThen:\n\n${fenced('@@ -25 +25 @@\n-The end.\n+Fin.\n')}`,
    change: [
      SKILL.slice(SKILL.indexOf('2.')),
      SKILL.slice(SKILL.indexOf('2.')).replace('pot.', 'pot well.').replace('The end.', 'Fin.'),
    ],
  },
  {
    odd: 'prose after it without a fence',
    diff: `@@ -12,9 +12,9 @@\n${BODY}\nThis makes the tea better.\nI hope it helps.\n`,
    change: WARM,
    notes: ['the text after hunk 1 was ignored', 'hunk 1 has more or fewer lines than its "@@" line says'],
  },
  { odd: 'prose after right counts', diff: `@@ -12,3 +12,3 @@\n${BODY}This makes the tea better.\n`, change: WARM },
  {
    odd: 'the format *** Begin Patch',
    diff: `*** Begin Patch\n*** Update File: SKILL.md\n@@ ## Steps\n${BODY}*** End Patch\n`,
    change: WARM,
  },
  {
    odd: 'the format *** Begin Patch without @@',
    diff: `*** Begin Patch\n*** Update File: SKILL.md\n${BODY}*** End Patch\n`,
    change: WARM,
  },
  {
    odd: 'the format *** Begin Patch, nothing but new lines at the end',
    diff: '*** Begin Patch\n*** Update File: SKILL.md\n@@\n+Really.\n*** End of File\n*** End Patch\n',
    change: [END, `${END}Really.\n`],
  },
  {
    odd: 'headings one below the other',
    diff: `*** Begin Patch\n*** Update File: SKILL.md\n@@ # Tea\n@@ ## Steps\n${BODY}*** End Patch\n`,
    change: WARM,
  },
];
