import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { validateSkill } from 'skill-registry';
import { describe, expect, it } from 'vitest';
import { encodingFault } from '../../../extensions/skill_registry/core/sources/walk/encoding-fault.ts';
import { corpusFolder, unpackCorpus } from '../../helpers/corpus.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { seededRandom } from '../../helpers/seeded-random.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

const TEXT = skillMd({ name: 'tea', description: 'Brews tea.' }, 'Boil water, then wait. '.repeat(20));
const FRENCH = skillMd(
  { name: 'tea', description: 'Préparer le thé à l’anglaise.'.replace('’', "'") },
  "Faire bouillir l'eau fraîche, chauffer la théière, infuser cinq minutes après l'ébullition, goûter, servir très chaud.",
);
const RUSSIAN = 'Вскипятите воду, прогрейте чайник и подождите пять минут. ';

/** A single-byte encoding of Cyrillic letters: each becomes one byte from 0xc0 on. */
const cyrillic = (text: string): Buffer =>
  Buffer.from(
    [...text].map((char) => (char < '\x80' ? char.charCodeAt(0) : 0xc0 + ((char.charCodeAt(0) - 0x410) & 63))),
  );
const bigEndian = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
const utf32 = (text: string): Buffer => Buffer.concat([...text].map((char) => Buffer.of(char.charCodeAt(0), 0, 0, 0)));
const random = (length: number, seed: number): Buffer => {
  const next = seededRandom(seed);
  return Buffer.from(Array.from({ length }, () => Math.floor(next() * 256)));
};

const NO_TEXT: readonly (readonly [what: string, bytes: Buffer, message: RegExp])[] = [
  [
    '3,000 random bytes',
    random(3000, 1),
    /not UTF-8 text \([\d,]+ of its [\d,]+ characters are invalid\).*save it as UTF-8; else remove it\.$/,
  ],
  ['40 random bytes', random(40, 2), /not UTF-8 text/],
  ['a compressed file', gzipSync(random(500, 3)), /not UTF-8 text/],
  ['zeros, as a crash leaves them', Buffer.alloc(3000), /not UTF-8 text/],
  ['frontmatter, then zeros', Buffer.concat([Buffer.from(TEXT), Buffer.alloc(1000)]), /not UTF-8 text/],
  ['frontmatter, then random bytes', Buffer.concat([Buffer.from(TEXT), random(3000, 4)]), /not UTF-8 text/],
  ['Russian in another encoding', cyrillic(skillMd({ name: 'tea' }, RUSSIAN.repeat(5))), /not UTF-8 text/],
  [
    'UTF-16',
    Buffer.from(`\ufeff${TEXT}`, 'utf16le'),
    /is UTF-16 \(little-endian\), expected UTF-8.*iconv -f UTF-16 -t UTF-8/,
  ],
  ['UTF-16, big-endian', bigEndian(`\ufeff${TEXT}`), /is UTF-16 \(big-endian\)/],
  ['UTF-16 of a few letters', Buffer.from('\ufeff# Tea', 'utf16le'), /is UTF-16/],
  ['UTF-16 without a mark', Buffer.from(TEXT, 'utf16le'), /not UTF-8 text/],
  ['UTF-32 without a mark', utf32(TEXT), /not UTF-8 text/],
  [
    'UTF-32 with a mark',
    Buffer.concat([Buffer.of(0xff, 0xfe, 0, 0), utf32(TEXT)]),
    /is UTF-32 \(little-endian\).*iconv -f UTF-32/,
  ],
];

const A_FEW_ODD: readonly (readonly [what: string, bytes: Buffer])[] = [
  ['French in Latin-1', Buffer.from(FRENCH, 'latin1')],
  ['one odd byte in six', Buffer.from('# Caf\xe9', 'latin1')],
  ['eight odd bytes in a row', Buffer.concat([Buffer.from(TEXT.slice(0, 60)), Buffer.alloc(8, 0xff)])],
  ['a character cut in half', Buffer.from(`${TEXT}日本`).subarray(0, -1)],
  ['some from another encoding in a long text', Buffer.concat([Buffer.from(TEXT), cyrillic('чайник и вода')])],
];

describe.each(['folder', 'single file'] as const)('a skill in a %s', (kind) => {
  const file = kind === 'folder' ? 'skills/tea/SKILL.md' : 'tea.md';
  const open = (bytes: Buffer) =>
    openRegistry({ [file]: bytes }, { sources: [{ path: kind === 'folder' ? 'skills' : file }] });

  it.each(NO_TEXT)('that is no UTF-8 text is an error and no skill: %s', async (_, bytes, message) => {
    const { registry, root } = await open(bytes);
    expect(registry.snapshot().byQualifiedId.size).toBe(0);
    expect(await registry.context('')).toBeNull();
    expect(registry.problems()).toEqual([
      {
        code: 'ENCODING_INVALID',
        severity: 'error',
        file: join(root, file),
        line: expect.any(Number),
        message: expect.stringMatching(message),
      },
    ]);
  });

  it.each(A_FEW_ODD)('with a few odd bytes loads with a warning: %s', async (_, bytes) => {
    const { registry } = await open(bytes);
    expect(registry.snapshot().skills).toHaveLength(1);
    const odd = registry.problems().filter(({ code }) => code === 'ENCODING_INVALID');
    expect(odd).toMatchObject([{ severity: 'warning', message: expect.stringContaining('shown as U+FFFD') }]);
    expect((await registry.read('tea')).content).toContain('\ufffd');
  });
});

it.each(['\0', 'ring the bell: \x07', '\x1b[1mbold\x1b[0m'])(
  'a text with %j is a skill without a word about it',
  async (text) => {
    const { registry } = await openRegistry({ 'skills/tea/SKILL.md': `${TEXT}${text}` });
    expect([registry.list().total, registry.problems()]).toEqual([1, []]);
  },
);

it('a prompt pack that is no UTF-8 text is an error, and one with a few odd bytes a warning', async () => {
  const pack = JSON.stringify({ id: 'p', skills: [{ name: 'tea', description: 'Brews tea.', instructions: 'Thé.' }] });
  const open = (bytes: Buffer) => openRegistry({ 'p.json': bytes }, { sources: [{ pack: 'p.json' }] });
  const { registry } = await open(Buffer.from(`\ufeff${pack}`, 'utf16le'));
  expect(registry.list().total).toBe(0);
  expect(registry.problems()).toMatchObject([
    { code: 'ENCODING_INVALID', severity: 'error', message: expect.stringContaining('is UTF-16') },
  ]);
  const { registry: latin } = await open(Buffer.from(pack, 'latin1'));
  expect(latin.list().total).toBe(1);
  expect(latin.problems()).toMatchObject([{ code: 'ENCODING_INVALID', severity: 'warning' }]);
});

it('every validator refuses what is no text, and says what UTF-16 is', async () => {
  const root = tempFolder({ 'tea/SKILL.md': Buffer.from(`\ufeff${TEXT}`, 'utf16le'), 'cup/SKILL.md': random(3000, 5) });
  for (const profile of ['spec', 'strict'] as const) {
    const [told] = validateSkill(join(root, 'tea'), { profile });
    expect(told).toContain('SKILL.md is UTF-16 (little-endian) text, not UTF-8; save it as UTF-8');
    expect(validateSkill(join(root, 'cup'), { profile })[0]).toContain('SKILL.md is not UTF-8 text; save it as UTF-8');
  }
  const { status, stderr } = await runCommand(['validate', 'tea', 'cup', '--profile', 'lenient'], { cwd: root });
  expect(status).toBe(1);
  expect(stderr).toMatch(/ENCODING_INVALID: The file is UTF-16 \(little-endian\)/);
  expect(stderr).toMatch(/ENCODING_INVALID: The file is not UTF-8 text/);
});

it.skipIf(!existsSync('/usr/bin/iconv'))('is mended by the advice that is given (needs iconv)', async () => {
  const { registry, root } = await openRegistry({ 'skills/tea/SKILL.md': Buffer.from(`\ufeff${TEXT}`, 'utf16le') });
  const [, command = ''] = /with: (iconv .*)$/.exec(registry.problems()[0]?.message ?? '') ?? [];
  const folder = join(root, 'skills/tea');
  const line = command.replace('OLD.md', 'SKILL.md');
  execFileSync('sh', ['-c', `${line} && mv NEW.md SKILL.md`], { cwd: folder });
  await registry.refresh();
  expect([registry.list().total, registry.problems()]).toEqual([1, []]);
});

it.skipIf(corpusFolder === undefined)(
  'no real skill is lost, also with eight bytes spoiled (needs SKILL_CORPUS)',
  async () => {
    const root = unpackCorpus(corpusFolder as string);
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('SKILL.md'));
    expect(files).toHaveLength(1810);
    for (const path of files) {
      const bytes = readFileSync(join(root, path));
      expect([path, encodingFault(bytes)]).toEqual([path, undefined]);
      for (let at = 1; at <= 8; at++) bytes[Math.floor((bytes.length * at) / 9)] = 0xff;
      expect([path, encodingFault(bytes)?.isText]).toEqual([path, true]);
    }
  },
);
