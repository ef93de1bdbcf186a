/** What a person has decided on this machine: the file that says it. */
export const trustFile = [
  {
    title: 'A decision to revoke approves',
    in: 'openTrust.allows',
    drop: "one.action === 'allow'",
    test: 'allows nothing until somebody has decided, and the last decision counts',
  },
  {
    title: 'What lies below an approved folder is approved',
    in: 'openTrust.allows',
    swap: ['one.path === real', 'real?.startsWith(one.path)'],
    test: 'goes by real path, so that neither a link nor a parent nor a child is approved with it',
  },
  {
    title: 'A trust file that others can write approves',
    in: 'whyOthers',
    never: 'file.mode & 0o022',
    test: 'approves nothing when it is writable by everybody',
  },
  {
    title: 'A trust file that is a link approves',
    in: 'openTrust.read',
    swap: ['constants.O_RDONLY | constants.O_NOFOLLOW', 'constants.O_RDONLY'],
    test: 'approves nothing when it is a link',
  },
  {
    title: 'A decision is written behind half a line, and read as a part of it',
    in: 'endsWithNewline',
    swap: ["last.toString() === '\\n'", "last.toString() !== ''"],
    test: 'a process that is killed while it writes a line, in the middle of it, leaves the decisions before it',
  },
  {
    title: 'A line that is cut ends the reading of the trust file',
    in: 'lastDecisions',
    swap: ['continue;', 'break;'],
    test: 'keeps what was decided before and takes what is decided next, wherever the line is cut',
  },
  {
    title: 'A decision of which the disk takes only a part is said to be recorded',
    in: 'append',
    swap: ['bytes.length - 1', '0'],
    test: 'says that a decision has no effect of which the disk takes only a part, and keeps the others',
  },
  {
    title: 'One more decision makes the trust file too large to be used',
    in: 'append',
    swap: ['size > MAX_BYTES', 'size < 0'],
    test: 'takes no line that would make the file too large to be used',
  },
  {
    title: 'A revoked source is taken from by another spelling of its address',
    in: 'decisionAbout.isAbout',
    swap: [
      "placeOf(path) === place && (action === 'revoke' || queryOf(path) === queryOf(source))",
      "(path === source || place === path) && (action === 'revoke' || queryOf(path) === queryOf(source))",
    ],
    test: 'is not taken from once it is revoked, also not as',
    build: true,
  },
];
