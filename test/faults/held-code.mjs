const DECIDE_HELD = 'kernel/held/approve-or-revoke.ts';
const DECIDE_HELD_TESTS = 'test/kernel/held/approve-or-revoke.test.ts';
const UNDO = 'kernel/held/undo-approval.ts';
const HALF_TESTS = 'test/kernel/held/half-approved.test.ts';

/** Code that agents wrote: what a yes puts into effect, and what becomes of one that was interrupted. */
export const heldCode = [
  {
    title: 'An approval that fails leaves a part of it in effect',
    file: DECIDE_HELD,
    find: 'undoApproval(rootDir, name, files, error);',
    replace: '',
    test: DECIDE_HELD_TESTS,
    name: 'an approval that fails leaves nothing of it in effect, says so, and can be repeated: with links',
  },
  {
    title: 'What is replaced by an approval cannot be brought back where there are no links',
    file: UNDO,
    find: 'restoreFile(live, name, one, before ?? undefined);',
    replace: 'restoreFile(live, name, one, before?.subarray(0, 0));',
    test: DECIDE_HELD_TESTS,
    name: 'an approval that fails leaves nothing of it in effect, says so, and can be repeated: without links',
  },
  {
    title: 'A no leaves in effect what an approval that died had written',
    file: DECIDE_HELD,
    find: 'settleApproval(root, name);\n    return deleteHeld',
    replace: 'return deleteHeld',
    test: DECIDE_HELD_TESTS,
    name: 'revoke takes back an approval that was left in the middle',
  },
  {
    title: 'What a person has written since goes with an approval that is taken back',
    file: UNDO,
    find: 'if (now === null || before === after || hexDigestOf(now) !== after) return;',
    replace: 'if (now === null || before === after) return;',
    test: DECIDE_HELD_TESTS,
    name: 'takes back nothing that a person has written into an approval that was left in the middle',
  },
  {
    title: 'What an agent writes while an approval is under way is lost',
    file: UNDO,
    find: '?.equals(after)) removeHeldFile(',
    replace: ') removeHeldFile(',
    test: DECIDE_HELD_TESTS,
    name: 'keeps waiting what an agent writes while an approval is under way',
  },
  {
    title: 'Code is approved by a digest without the file that it replaces',
    file: 'kernel/held/held-extensions.ts',
    find: "before ?? '-'",
    replace: 'before === undefined',
    test: HALF_TESTS,
    name: 'is not approved by the digest of another difference with the same new text',
  },
  {
    title: 'Code that was approved halfway is loaded',
    file: 'kernel/boot/discover.ts',
    find: "origin === 'root' && isHalf(",
    replace: "origin !== 'root' && isHalf(",
    test: HALF_TESTS,
    name: 'loads nothing of an extension whose approval cannot be undone',
  },
  {
    title: 'An approval that was interrupted is undone where nobody has approved the root',
    file: UNDO,
    find: 'if (!trusted) throw',
    replace: 'if (trusted === undefined) throw',
    test: HALF_TESTS,
    name: 'undoes nothing where nobody has approved the root',
  },
  {
    title: 'A start undoes an approval that another process is in the middle of',
    file: UNDO,
    find: 'underHeldLock(root.dir, () => settleApproval(root, name));',
    replace: 'settleApproval(root, name);',
    test: HALF_TESTS,
    name: 'leaves an approval alone that another process is in the middle of',
  },
  {
    title: 'Of an approval that was killed after its last step nobody hears that it is in effect',
    file: DECIDE_HELD,
    find: 'digestOfChange(last) === digest',
    replace: "digestOfChange(last) === ''",
    test: HALF_TESTS,
    name: 'does not say of an approval that was killed after its last step that it has no effect',
  },
  {
    title: 'A database that came with a root is the lock of what waits',
    file: 'kernel/held/held-lock.ts',
    find: 'stats.isFile() && stats.size === 0',
    replace: 'stats.size >= 0',
    test: HALF_TESTS,
    name: 'opens no lock that came with the root: a journal beside it',
  },
];
