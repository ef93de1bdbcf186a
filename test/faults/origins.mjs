const ORIGIN = 'extensions/skill_registry/origin';
const TESTS = 'test/skill_registry/origin';

/** What is brought in, and what the lock says of it. */
export const origins = [
  {
    title: 'A link in a skill is copied',
    file: `${ORIGIN}/offer.ts`,
    find: "if (kind === 'link')",
    replace: "if (kind === 'link' && inner === '')",
    test: `${TESTS}/refused.test.ts`,
    name: 'refuses a link, and writes nothing',
  },
  {
    title: 'A command is an address of git',
    file: `${ORIGIN}/address.ts`,
    find: "new Set(['https:', 'ssh:', 'file:'])",
    replace: "new Set(['https:', 'ssh:', 'file:', 'ext:'])",
    test: `${TESTS}/address.test.ts`,
    name: 'holds an entry of a lock to the same rules: an address that is a command',
  },
  {
    title: 'The lock of a root that nobody approved is followed',
    file: `${ORIGIN}/origins.ts`,
    find: 'if (!mayFollowLock) throw rootNotApproved();',
    replace: "if (!mayFollowLock && context.root === '') throw rootNotApproved();",
    test: `${TESTS}/lock.test.ts`,
    name: 'does nothing that the lock of a root asks for which nobody has approved',
  },
  {
    title: 'What is restored is not compared with the lock',
    file: `${ORIGIN}/restore.ts`,
    find: 'if (!isAsLocked(files, entry)) {',
    replace: 'if (files.length === 0) {',
    test: `${TESTS}/lock.test.ts`,
    name: 'restores nothing when one of the skills cannot be restored',
  },
  {
    title: 'A tag that has moved is followed',
    file: `${ORIGIN}/update.ts`,
    find: 'if (offer.at.isTag && commit !== undefined)',
    replace: "if (offer.at.isTag && commit === '')",
    test: `${TESTS}/update.test.ts`,
    name: 'does not follow a tag that has moved: the commit of the lock wins, and it is said',
  },
  {
    title: 'An update overwrites what somebody changed here',
    file: `${ORIGIN}/merge-files.ts`,
    find: "if (there === installed?.line) return { file: mine, change: 'kept' };",
    replace: "if (there === installed?.line) return { file: theirs, change: 'kept' };",
    test: `${TESTS}/update.test.ts`,
    name: 'keeps what somebody changed here, and merges it with what is newer',
  },
  {
    title: 'A bad entry beside the skill in an archive is passed over',
    file: 'lib/fetch/archive.ts',
    find: 'assertPlain(entry.path, kind, shown);',
    replace: '',
    test: 'test/slow/skill_registry/origin/refused.test.ts',
    name: 'refuses a link beside the skill',
  },
  {
    title: 'What git fetches is as large as a server likes',
    file: 'extensions/skill_registry/origin/git.ts',
    find: 'if (isTooLarge()) reject',
    replace: 'if (maxBytes < 0) reject',
    test: 'test/slow/skill_registry/origin/fetched-size.test.ts',
    name: 'fetches no more than it may',
  },
  {
    title: 'A lock names a program, and nobody says so',
    file: 'extensions/skill_registry/origin/lock.ts',
    find: 'return whyNoOrigin(value as LockEntry, root);',
    replace: 'return root === "" ? whyNoOrigin(value as LockEntry, root) : undefined;',
    test: 'test/slow/skill_registry/origin/lock.test.ts',
    name: 'says that an entry with a program for an address is refused',
  },
];
