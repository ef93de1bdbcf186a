import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MANAGED_FILE, readManaged } from '../../../extensions/skill_registry/features/policy/managed-file.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const ME = process.getuid?.() ?? 0;
const GOOD = 'from: https://skills.example.com/team\nmax_age_hours: 12\n';

function managed(text: string = GOOD): { readonly folder: string; readonly file: string } {
  const folder = join(tempFolder(), 'skill-registry');
  mkdirSync(folder, { mode: 0o755 });
  const file = join(folder, 'policy.yaml');
  writeFileSync(file, text, { mode: 0o644 });
  return { folder, file };
}

it('is read where only its owner can write it, and is none where there is nothing', () => {
  const { folder, file } = managed();
  expect(readManaged(file, ME)).toEqual({ from: 'https://skills.example.com/team', max_age_hours: 12 });
  rmSync(file);
  expect(readManaged(file, ME)).toBeUndefined();
  rmSync(folder, { recursive: true });
  expect(readManaged(file, ME)).toBeUndefined();
  expect(MANAGED_FILE).toBe('/etc/skill-registry/policy.yaml');
});

const WRONG: readonly (readonly [string, (at: ReturnType<typeof managed>) => void, RegExp])[] = [
  ['others can write it', ({ file }) => chmodSync(file, 0o646), /can be written by others: chmod go-w it/],
  ['its group can write it', ({ file }) => chmodSync(file, 0o664), /can be written by others/],
  ['others can write its folder', ({ folder }) => chmodSync(folder, 0o777), /the folder .* can be written by others/],
  [
    'it is a link',
    ({ file }) => {
      rmSync(file);
      symlinkSync('/dev/null', file);
    },
    /is a link/,
  ],
  [
    'it is a link to nothing',
    ({ file }) => {
      rmSync(file);
      symlinkSync('nowhere', file);
    },
    /is a link/,
  ],
  [
    'its folder is a link',
    ({ folder }) => {
      rmSync(folder, { recursive: true });
      symlinkSync('nowhere', folder);
    },
    /the folder .* is a link/,
  ],
  [
    'it is a folder',
    ({ file }) => {
      rmSync(file);
      mkdirSync(file);
    },
    /is of another kind/,
  ],
  ['it is empty', ({ file }) => writeFileSync(file, ''), /expected a mapping of keys/],
  ['it is no YAML', ({ file }) => writeFileSync(file, 'from: [a'), /line 1: /],
  ['it has an unknown key', ({ file }) => writeFileSync(file, `${GOOD}form: x\n`), /form: there is no such key/],
  ['it names nothing', ({ file }) => writeFileSync(file, 'max_age_hours: 1\n'), /from: expected/],
  ['its age is no number', ({ file }) => writeFileSync(file, `from: x\nmax_age_hours: never\n`), /max_age_hours/],
  ['it is huge', ({ file }) => writeFileSync(file, `from: ${'x'.repeat(70_000)}\n`), /cannot be read/],
];

it.each(WRONG)('says why it cannot be used, which holds everything, when %s', (_, spoil, reason) => {
  const at = managed();
  spoil(at);
  expect(readManaged(at.file, ME)).toMatch(reason);
});

it('is not that of another user', ({ skip }) => {
  const { file } = managed();
  expect(readManaged(file, ME + 1)).toMatch(/belongs to user .*: chown root it/);
  if (ME !== 0) skip('only root can give a file away');
  chownSync(file, 1234, 0);
  expect(readManaged(file, ME)).toMatch(/policy.yaml belongs to user 1234/);
});
