/** What leaves this machine, and what comes from a page. */
export const pages = [
  {
    title: 'A skill with a block finding is published',
    in: 'prepare',
    swap: ["'block'", "'warn'"],
    test: 'refuses a skill that an inspection would hold',
  },
  {
    title: 'A key is published that nobody has allowed',
    in: 'keysReason',
    swap: ['left.length === 0', 'left.length < 100'],
    test: 'refuses a key by file and line',
  },
  {
    title: 'Two keys that begin alike and are equally long are one finding',
    in: 'maskedKey',
    swap: ['digestOf(secret)', "digestOf('')"],
    test: 'refuses a key by file and line',
  },
  {
    title: 'A part of an index with another digest is used',
    in: 'fetchPart',
    drop: 'assertDigest(bytes, { digest, name: url });',
    test: 'a part has other bytes',
  },
  {
    title: 'A skill of one part takes the place of that of another',
    in: 'readParts',
    swap: ['entries.has(entry.name)', '!entry.name'],
    test: 'names a skill in two parts',
  },
  {
    title: 'An index is published that no reader takes',
    in: 'countThatFits',
    swap: ['min', 'max'],
    test: 'shows others a valid index',
  },
  {
    title: 'A page is written that is larger than any reader takes',
    in: 'assertReadable',
    swap: ['has > most', 'has > most * 1000'],
    test: 'is not written when nobody could read it',
  },
  {
    title: 'A private skill of the home directory is published without being named',
    in: 'isOfRoot',
    swap: ['!homeFolders(homedir()).includes(location)', 'homeFolders(homedir()).length > 0'],
    test: 'publishes what belongs to the root',
  },
  {
    title: 'An artifact is removed that somebody may just be fetching',
    in: 'writePublished',
    drop: '...before.entries',
    test: 'keeps what the page before named for one more time',
  },
  {
    title: 'An artifact with another digest is used',
    in: 'fetchArtifact',
    drop: 'assertDigest(bytes, { digest, name });',
    test: 'one bad skill of a page is left out, and the others are used: another digest',
  },
  {
    title: 'A copy that was changed on this machine is handed out',
    in: 'createWellKnownSource.read',
    swap: ['digestOf(bytes) === file.digest', 'bytes'],
    test: 'hands out no byte of its copy that the page did not have',
  },
  {
    title: 'A copy that was changed on this machine is opened',
    in: 'damagedSkills',
    never: 'stampOf(folder, skill) !== skill.stamp && !isIntact(folder, skill)',
    test: 'hands out no byte of its copy that the page did not have',
  },
  {
    title: 'A page leads to http: elsewhere',
    in: 'assertMayLead',
    swap: ["!(protocol === 'http:' && isHere && before.protocol === 'http:')", "protocol !== 'http:'"],
    test: 'is followed on this machine and refused to http elsewhere',
  },
  {
    title: 'A root that nobody has approved has its page asked',
    in: 'openPageSource',
    swap: ['!trusted', 'trusted === undefined'],
    test: 'is not asked in a root that nobody has approved',
  },
];
