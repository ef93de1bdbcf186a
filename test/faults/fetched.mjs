/** What is fetched and unpacked, and where the lock of a root may lead. */
export const fetched = [
  {
    title: 'https elsewhere redirects to https on this machine',
    in: 'assertMayLead',
    swap: ['!isLoopback(before.hostname)', "before.hostname === ''"],
    test: 'is led from https elsewhere to 127.0.0.1 over https neither',
  },
  {
    title: 'The address of no machine is taken for that of another one',
    in: 'isLoopback',
    text: ['|0\\.0\\.0\\.0|', '|'],
    test: 'is led from https elsewhere to 0.0.0.0 over https neither',
  },
  {
    title: "A wider list of git's protocols",
    in: 'runnerIn',
    swap: ["'https:ssh'", "'https:ssh:file:git'"],
    test: 'goes from https to no other protocol',
  },
  {
    title: 'What comes after the end of a tar is not counted',
    in: 'visitTar',
    swap: ['size += chunk.length;', 'if (!hasEnded) size += chunk.length;'],
    test: 'refuses more than 512 MiB as they come',
  },
  {
    title: 'A tar without a first header is unpacked',
    in: 'visitTar',
    swap: ['chunk.subarray(0, BLOCK).every((byte) => byte === 0)', 'chunk.length < 0'],
    test: 'is refused at its first block',
  },
  {
    title: 'The name before the content of a file in a zip is not read',
    in: 'assertOneName',
    swap: ['before.equals(listed)', 'before.length > 0'],
    test: 'is refused when a file of it has two names',
  },
  {
    title: 'A size below zero in a header of a tar is passed over',
    in: 'limitHeaders',
    text: ['\\bsize=(?!\\d{1,15}\\n)/m', '\\bsize=(?!-?\\d{1,15}\\n)/m'],
    test: 'is refused with a size of "-1"',
  },
  {
    title: 'A repository may have a pipe that git reads',
    in: 'isEndless',
    swap: ["kind === 'other'", 'false'],
    test: 'refuses a pipe for a HEAD',
  },
  {
    title: 'A lock names a skill in the home of a person',
    in: 'lockScopes',
    swap: ['isInside(path, real) && !isOfPerson(path)', 'isInside(path, real) || isOfPerson(path)'],
    test: 'is never what lies in the home of a person',
  },
  {
    title: 'A folder of agents behind a link is one of the root',
    in: 'agentFolders',
    swap: ['futureRealPath(folder) === folder', 'futureRealPath(folder) !== root'],
    test: 'has no place behind a link',
  },
  {
    title: 'A change where another tool installs is not undone after a kill',
    in: 'installFolders',
    swap: ['agentFolders(root)', 'agentFolders(root).slice(0, 0)'],
    test: 'is undone when the process that changed it was killed',
  },
];
