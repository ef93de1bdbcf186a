const ORIGIN = 'extensions/skill_registry/origin';
const KINDS = 'extensions/skill_registry/sources/kinds';
const PUBLISH = 'test/skill_registry/origin/publish.test.ts';
const READ = 'test/slow/skill_registry/origin/well-known-source.test.ts';
const PARTS = 'test/slow/skill_registry/origin/hostile-parts.test.ts';
const HOSTILE = 'test/slow/skill_registry/origin/hostile-pages.test.ts';

/** What leaves this machine, and what comes from a page. */
export const pages = [
  {
    title: 'A skill with a block finding is published',
    file: `${ORIGIN}/publish/publish.ts`,
    find: "if (verdict === 'block' && worst) {",
    replace: "if (verdict === 'warn' && worst) {",
    test: PUBLISH,
    name: 'refuses a skill that an inspection would hold',
  },
  {
    title: 'A key is published that nobody has allowed',
    file: `${ORIGIN}/publish/publish.ts`,
    find: 'if (left.length === 0) return undefined;',
    replace: 'if (left.length < 100) return undefined;',
    test: PUBLISH,
    name: 'refuses a key by file and line',
  },
  {
    title: 'Two keys that begin alike and are equally long are one finding',
    file: 'lib/text/keys.ts',
    find: 'digestOf(secret)',
    replace: "digestOf('')",
    test: PUBLISH,
    name: 'refuses a key by file and line',
  },
  {
    title: 'A part of an index with another digest is used',
    file: `${ORIGIN}/well-known/page-parts.ts`,
    find: 'assertDigest(bytes, { digest, name: url });',
    replace: '',
    test: PARTS,
    name: 'a part has other bytes',
  },
  {
    title: 'A skill of one part takes the place of that of another',
    file: `${ORIGIN}/well-known/page-parts.ts`,
    find: 'if (entries.has(entry.name)) throw',
    replace: 'if (!entry.name) throw',
    test: PARTS,
    name: 'names a skill in two parts',
  },
  {
    title: 'An index is published that no reader takes',
    file: `${ORIGIN}/publish/page-documents.ts`,
    find: 'return Math.min(limits.entries, ',
    replace: 'return Math.max(limits.entries, ',
    test: 'test/skill_registry/origin/page-parts.test.ts',
    name: 'shows others a valid index',
  },
  {
    title: 'A page is written that is larger than any reader takes',
    file: `${ORIGIN}/publish/publish.ts`,
    find: 'const over = counted.find(({ has, most }) => has > most);',
    replace: 'const over = counted.find(({ has, most }) => has > most * 1000);',
    test: 'test/skill_registry/origin/page-parts.test.ts',
    name: 'is not written when nobody could read it',
  },
  {
    title: 'A private skill of the home directory is published without being named',
    file: `${ORIGIN}/publish/choose-published.ts`,
    find: ' || !homeFolders(homedir()).includes(location)',
    replace: ' || homeFolders(homedir()).length > 0',
    test: PUBLISH,
    name: 'publishes what belongs to the root',
  },
  {
    title: 'An artifact is removed that somebody may just be fetching',
    file: `${ORIGIN}/publish/published-folder.ts`,
    find: 'const kept = [...before.entries, ',
    replace: 'const kept = [',
    test: PUBLISH,
    name: 'keeps what the page before named for one more time',
  },
  {
    title: 'An artifact with another digest is used',
    file: `${ORIGIN}/well-known/open-page.ts`,
    find: 'assertDigest(bytes, { digest, name });',
    replace: '',
    test: HOSTILE,
    name: 'another digest',
  },
  {
    title: 'A copy that was changed on this machine is handed out',
    file: `${KINDS}/well-known-source.ts`,
    find: 'if (digestOf(bytes) === file.digest) return bytes;',
    replace: 'if (bytes) return bytes;',
    test: READ,
    name: 'hands out no byte of its copy that the page did not have',
  },
  {
    title: 'A copy that was changed on this machine is opened',
    file: `${KINDS}/well-known-copy.ts`,
    find: 'if (stampOf(folder, skill) !== skill.stamp && !isIntact(folder, skill)) damaged.add(skill);',
    replace: '',
    test: READ,
    name: 'hands out no byte of its copy that the page did not have',
  },
  {
    title: 'A page leads to http: elsewhere',
    file: 'lib/fetch/download.ts',
    find: "if (protocol !== 'https:' && !(protocol === 'http:' && isHere && before.protocol === 'http:'))",
    replace: "if (protocol !== 'https:' && protocol !== 'http:')",
    test: HOSTILE,
    name: 'is followed on this machine and refused to http elsewhere',
  },
  {
    title: 'A root that nobody has approved has its page asked',
    file: 'extensions/skill_registry/sources/make-sources.ts',
    find: '  if (!trusted) {\n    const problems = [unapprovedRootProblem(',
    replace: '  if (trusted === undefined) {\n    const problems = [unapprovedRootProblem(',
    test: READ,
    name: 'is not asked in a root that nobody has approved',
  },
];
