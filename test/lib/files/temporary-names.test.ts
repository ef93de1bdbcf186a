import {
  chownSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isTemporaryName, temporaryName, writeContained } from '../../../lib/files/index.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const HOUR_MS = 3_600_000;

/** Makes it so old that it is taken for abandoned. */
function age(path: string, ms = HOUR_MS + 1_000): void {
  const at = new Date(Date.now() - ms);
  utimesSync(path, at, at);
}

/** A folder with a temporary file that a killed process has left in it, more than an hour ago. */
function abandoned(): { readonly dir: string; readonly left: string } {
  const dir = tempFolder({ elsewhere: 'precious' });
  let left = '';
  writeContained(dir, 'other/a.txt', 'x', {
    onTemporary: () => {
      [left = ''] = readdirSync(join(dir, 'other'));
    },
  });
  expect(isTemporaryName(left)).toBe(true);
  writeFileSync(join(dir, left), 'half');
  age(join(dir, left));
  return { dir, left };
}

it('removes what a killed process has left more than an hour ago when its folder is written next', () => {
  const { dir, left } = abandoned();
  writeContained(dir, 'below/a.txt', 'another folder');
  expect(readdirSync(dir)).toContain(left);
  writeContained(dir, 'a.txt', 'x');
  expect(readdirSync(dir).sort()).toEqual(['a.txt', 'below', 'elsewhere', 'other']);
});

it('leaves what may still be written, or what is of another kind or of another user, where it is', () => {
  const { dir } = abandoned();
  const names = Array.from({ length: 4 }, temporaryName) as [string, string, string, string];
  const [young, link, folder, foreign] = names;
  writeFileSync(join(dir, young), 'half');
  age(join(dir, young), HOUR_MS - 60_000);
  symlinkSync('elsewhere', join(dir, link));
  lutimesSync(join(dir, link), 1, 1);
  mkdirSync(join(dir, folder));
  writeFileSync(join(dir, folder, 'file'), 'precious');
  age(join(dir, folder));
  age(join(dir, 'elsewhere'));
  writeFileSync(join(dir, foreign), 'theirs');
  age(join(dir, foreign));
  // Only the administrator can make a file of another user.
  const isForeign = process.getuid?.() === 0;
  if (isForeign) chownSync(join(dir, foreign), 12_345, 12_345);
  writeContained(dir, 'a.txt', 'x');
  expect(readdirSync(dir)).toEqual(expect.arrayContaining([young, link, folder, ...(isForeign ? [foreign] : [])]));
  expect(lstatSync(join(dir, link)).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(dir, 'elsewhere'), 'utf8')).toBe('precious');
  expect(readdirSync(join(dir, folder))).toEqual(['file']);
});

it.each([
  ['of another ending', (name: string) => name.replace(/tmp$/, 'temp')],
  ['with more after it', (name: string) => `${name}.bak`],
  ['without the point', (name: string) => name.slice(1)],
  ['with other digits', (name: string) => name.replace(/[0-9a-f](?=\.tmp$)/, (digit) => (digit === '0' ? '1' : '0'))],
  ['in capitals', (name: string) => name.toUpperCase()],
  ['that is too long', (name: string) => name.replace('.tmp', '0.tmp')],
  ['as the journal of changes gives them', () => '.skill-registry-0123456789ab-0-kept'],
  ['as earlier releases gave them', () => '.0123456789abcdef01.tmp'],
])('never removes a file that somebody gave a name %s', (_title, rename) => {
  const dir = tempFolder();
  const name = rename(temporaryName());
  writeFileSync(join(dir, name), 'precious');
  age(join(dir, name));
  writeContained(dir, 'a.txt', 'x');
  expect(readFileSync(join(dir, name), 'utf8')).toBe('precious');
});
