/** Code that agents wrote: what a yes puts into effect, and what becomes of one that was interrupted. */
export const heldCode = [
  {
    title: 'An approval that fails leaves a part of it in effect',
    in: 'putInEffect',
    drop: 'undoApproval(rootDir, name, files, error);',
    test: 'an approval that fails leaves nothing of it in effect, says so, and can be repeated: with links',
  },
  {
    title: 'What is replaced by an approval cannot be brought back where there are no links',
    in: 'undoApproval',
    swap: ['before ?? undefined', 'before?.subarray(0, 0)'],
    test: 'an approval that fails leaves nothing of it in effect, says so, and can be repeated: without links',
  },
  {
    title: 'A no leaves in effect what an approval that died had written',
    in: 'revokeExtension',
    drop: 'settleApproval(root, name);',
    test: 'revoke takes back an approval that was left in the middle',
  },
  {
    title: 'What a person has written since goes with an approval that is taken back',
    in: 'restoreFile',
    drop: 'hexDigestOf(now) !== after',
    test: 'takes back nothing that a person has written into an approval that was left in the middle',
  },
  {
    title: 'What an agent writes while an approval is under way is lost',
    in: 'deleteApproved',
    swap: [
      `readIfThere(waiting, \`\${name}/files/\${path}\`, true)?.equals(after)`,
      `readIfThere(waiting, \`\${name}/files/\${path}\`, true)`,
    ],
    test: 'keeps waiting what an agent writes while an approval is under way',
  },
  {
    title: 'Code is approved by a digest without the file that it replaces',
    in: 'digestOfChange',
    swap: ["before ?? '-'", 'before === undefined'],
    test: 'is not approved by the digest of another difference with the same new text',
  },
  {
    title: 'Code that was approved halfway is loaded',
    in: 'discoverExtensions',
    swap: ["origin === 'root' && isHalf(basename(dir))", "origin !== 'root' && isHalf(basename(dir))"],
    test: 'loads nothing of an extension whose approval cannot be undone',
    build: true,
  },
  {
    title: 'An approval that was interrupted is undone where nobody has approved the root',
    in: 'settleApproval',
    swap: ['!trusted', 'trusted === undefined'],
    test: 'undoes nothing where nobody has approved the root',
    build: true,
  },
  {
    title: 'A start undoes an approval that another process is in the middle of',
    in: 'undoIfInterrupted',
    swap: [
      'underHeldLock(root.dir, () => settleApproval(root, name))',
      "name === '' ? underHeldLock(root.dir, () => {}) : settleApproval(root, name)",
    ],
    test: 'leaves an approval alone that another process is in the middle of',
    build: true,
  },
  {
    title: 'Of an approval that was killed after its last step nobody hears that it is in effect',
    in: 'approve',
    swap: ['digestOfChange(last) === digest', "digestOfChange(last) === ''"],
    test: 'does not say of an approval that was killed after its last step that it has no effect',
    build: true,
  },
  {
    title: 'A database that came with a root is the lock of what waits',
    in: 'underHeldLock',
    swap: ['stats.isFile() && stats.size === 0', 'stats.size >= 0'],
    test: 'opens no lock that came with the root: a journal beside it',
  },
];
