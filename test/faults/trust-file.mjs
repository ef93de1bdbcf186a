const TRUST = 'lib/trust/index.ts';

/** What a person has decided on this machine: the file that says it. */
export const trustFile = [
  {
    title: 'A decision to revoke approves',
    file: TRUST,
    find: "one.kind === kind && one.path === real && one.action === 'allow'",
    replace: 'one.kind === kind && one.path === real',
    test: 'test/lib/trust/trust.test.ts',
    name: 'allows nothing until somebody has decided, and the last decision counts',
  },
  {
    title: 'What lies below an approved folder is approved',
    file: TRUST,
    find: "one.path === real && one.action === 'allow'",
    replace: "real?.startsWith(one.path) && one.action === 'allow'",
    test: 'test/lib/trust/trust.test.ts',
    name: 'goes by real path, so that neither a link nor a parent nor a child is approved with it',
  },
  {
    title: 'A trust file that others can write approves',
    file: TRUST,
    find: "if (file.mode & 0o022) return 'others can write it (chmod 600 it)';",
    replace: '',
    test: 'test/lib/trust/trust.test.ts',
    name: 'approves nothing when it is writable by everybody',
  },
  {
    title: 'A trust file that is a link approves',
    file: TRUST,
    find: 'openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)',
    replace: 'openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)',
    test: 'test/lib/trust/trust.test.ts',
    name: 'approves nothing when it is a link',
  },
  {
    title: 'A decision is written behind half a line, and read as a part of it',
    file: TRUST,
    find: "return last.toString() === '\\n';",
    replace: "return last.toString() !== '';",
    test: 'test/slow/kill-trust.test.ts',
    name: 'a process that is killed while it writes a line, in the middle of it, leaves the decisions before it',
  },
  {
    title: 'A line that is cut ends the reading of the trust file',
    file: TRUST,
    find: 'if (!decision) continue;',
    replace: 'if (!decision) break;',
    test: 'test/lib/trust/cut-lines.test.ts',
    name: 'keeps what was decided before and takes what is decided next, wherever the line is cut',
  },
  {
    title: 'A decision of which the disk takes only a part is said to be recorded',
    file: TRUST,
    find: 'if (written < bytes.length - 1)',
    replace: 'if (written < 0)',
    test: 'test/slow/kill-trust.test.ts',
    name: 'says that a decision has no effect of which the disk takes only a part, and keeps the others',
  },
  {
    title: 'One more decision makes the trust file too large to be used',
    file: TRUST,
    find: 'if (size > MAX_BYTES) throw',
    replace: 'if (size < 0) throw',
    test: 'test/lib/trust/cut-lines.test.ts',
    name: 'takes no line that would make the file too large to be used',
  },
];
