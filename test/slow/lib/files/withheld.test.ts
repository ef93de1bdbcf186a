import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  isPrivateName,
  isPrivatePath,
  isReserved,
  listContained,
  makePrivateFile,
  makePrivateFolder,
  moveFolder,
  type Reservation,
  readContained,
  readNamedFile,
  removeContained,
  reserve,
  writeContained,
} from '../../../../lib/files/index.ts';
import { openSqlite } from '../../../../lib/sqlite/index.ts';
import { type Tree, tempFolder } from '../../../helpers/temp-folder.ts';

function codeOf(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('a private name', () => {
  it.each([
    '.env',
    '.ENV',
    '.env.local',
    '.env.production',
    '.env.example.bak',
    '.env~',
    '#.env#',
    '.#.env',
    '.env.',
    '.env ',
    '.env::$DATA',
    '.e\u200dnv',
    '\uff0eenv',
    '.git',
    '.Git',
    'git~1',
    '.g\u200cit',
    '.git ...',
    '.ssh',
    'id_rsa',
    'ID_RSA',
    'id_ed25519',
    'id_ed25519_sk',
    'deploy_rsa',
    'server-ecdsa',
    'server.pem',
    'Server.PEM',
    'tls.key',
    'a.p12',
    'a.pfx',
    'a.ppk',
    'a.p8',
    'a.jks',
    'a.keystore',
    '.envrc',
    '.env-prod',
    '.env_prod',
    '.env (copy)',
    '.env copy',
    '.env2',
    '.env.example (copy)',
    'id_rsa.bak',
    'id_rsa_old',
    'id_rsa.old.1',
    'id_rsa (1)',
    'ID_RSA-2024-01-31',
    '.id_rsa.swp',
    'id_ed25519 copy',
    'id_ed25519 - Copy (2)',
    'id_ed25519_github',
    'Copy of id_rsa',
    'server.key.bak',
    'server.pem.orig~',
    'server.key copy 2',
  ])('is %j', (name) => {
    expect(isPrivateName(name)).toBe(true);
    expect(isPrivatePath(`a/b/${name}`)).toBe(true);
  });

  it.each([
    '.env.example',
    '.env.sample',
    '.ENV.Template',
    '.env-example',
    '.envrc.sample',
    'env',
    'environment.md',
    '.environment',
    '.envoy.yaml',
    '.gitignore',
    '.github',
    'git',
    'id_rsa.pub',
    'id_ed25519.pub',
    'key.md',
    'keys',
    'keyboard.ts',
    'keyboard.md',
    'monkey.bak',
    'id_card.md',
    'id_rsa.md',
    'id_rsa_howto.md',
    'id_rsa.old.pub',
    'id_ed25519_github.pub',
    'rsa.md',
    'rsa_helper.py',
    'copy',
    'old.bak',
    'SKILL.md',
    'data',
    '',
    '.',
  ])('is not %j', (name) => {
    expect(isPrivateName(name)).toBe(false);
  });

  it('of a folder is not told by what keys are called', () => {
    expect(isPrivateName('tls.key', 'folder')).toBe(false);
    expect(isPrivatePath('tls.key/SKILL.md')).toBe(false);
    expect(isPrivatePath('.ssh/config')).toBe(true);
    expect(isPrivatePath('.env/lib/x.py')).toBe(true);
  });
});

it('neither reads, lists, writes nor removes what has a private name, whether it is there or not', () => {
  const dir = tempFolder({
    '.env': 'SECRET=1',
    'a/.git/config': '',
    'a/b.md': '',
    'a/id_rsa': 'key',
    'a/id_rsa.pub': '',
  });
  for (const path of ['.env', 'a/.git/config', 'a/id_rsa', 'none/.env', '.ssh/x']) {
    expect([path, codeOf(() => readContained(dir, path, 100))]).toEqual([path, 'RESOURCE_NOT_FOUND']);
    expect([path, codeOf(() => writeContained(dir, path, 'mine'))]).toEqual([path, 'INVALID_ARGUMENT']);
    expect([path, codeOf(() => removeContained(dir, path))]).toEqual([path, 'INVALID_ARGUMENT']);
  }
  expect(codeOf(() => listContained(dir, 'a/.git'))).toBe('RESOURCE_NOT_FOUND');
  expect(listContained(dir, 'a').map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    '.git private',
    'b.md file',
    'id_rsa private',
    'id_rsa.pub file',
  ]);
  expect(readFileSync(join(dir, '.env'), 'utf8')).toBe('SECRET=1');
  // Whoever names the file means it.
  expect(readNamedFile(join(dir, '.env'), 100).toString()).toBe('SECRET=1');
});

function reserving(...paths: readonly string[]): Reservation {
  const reservation = reserve(paths[0] ?? '/');
  onTestFinished(() => reservation.release());
  reservation.keep(paths);
  return reservation;
}

const TREE: Tree = {
  'data/x/a.md': 'ours',
  'data/x/b.db': 'ours',
  'data-old/a.md': 'theirs',
  'in/up': { link: '../data' },
};

it('keeps what is reserved from every function that does not say it is its own', () => {
  const dir = tempFolder(TREE);
  const reservation = reserving(join(dir, 'data'));
  for (const [base, path] of [
    [dir, 'data/x/a.md'],
    [join(dir, 'data'), 'x/b.db'],
    [join(dir, 'data/x'), 'a.md'],
    [join(dir, 'data/x'), 'b.db'],
  ] as const) {
    expect([path, codeOf(() => readContained(base, path, 100))]).toEqual([path, 'RESOURCE_NOT_FOUND']);
    expect([path, codeOf(() => readNamedFile(join(base, path), 100))]).toEqual([path, 'RESOURCE_NOT_FOUND']);
    expect([path, codeOf(() => writeContained(base, path, 'mine'))]).toEqual([path, 'INVALID_ARGUMENT']);
    expect([path, codeOf(() => removeContained(base, path))]).toEqual([path, 'INVALID_ARGUMENT']);
    expect(readContained(base, path, 100, { own: true }).toString()).toBe('ours');
  }
  expect(codeOf(() => listContained(dir, 'data/x'))).toBe('RESOURCE_NOT_FOUND');
  expect(listContained(dir, '').map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    'data private',
    'data-old directory',
    'in directory',
  ]);
  expect(
    codeOf(() =>
      moveFolder({ from: { base: dir, path: 'data/x' }, to: { base: dir, path: 'moved' }, temporary: '.t' }),
    ),
  ).toBe('INVALID_ARGUMENT');
  expect(
    codeOf(() =>
      moveFolder({ from: { base: dir, path: 'data-old' }, to: { base: dir, path: 'data/y' }, temporary: '.t' }),
    ),
  ).toBe('INVALID_ARGUMENT');
  expect(codeOf(() => readContained(dir, 'in/up/x/a.md', 100))).toBe('PATH_TRAVERSAL');
  expect(readContained(dir, 'data-old/a.md', 100).toString()).toBe('theirs');
  reservation.release();
  expect(readContained(dir, 'data/x/a.md', 100).toString()).toBe('ours');
});

it('does not move a folder that has something reserved in it', () => {
  const dir = tempFolder({ 'skill/store/x.db': 'ours' });
  reserving(join(dir, 'skill/store'));
  expect(
    codeOf(() => moveFolder({ from: { base: dir, path: 'skill' }, to: { base: dir, path: 'away' }, temporary: '.t' })),
  ).toBe('INVALID_ARGUMENT');
});

it('counts what several reserve until the last has let go of it', () => {
  const dir = tempFolder(TREE);
  const [one, other] = [reserving(join(dir, 'data')), reserving(join(dir, 'data'))];
  one.release();
  expect(isReserved(join(dir, 'data/x'))).toBe(true);
  other.release();
  expect(isReserved(join(dir, 'data/x'))).toBe(false);
});

/** Whether another process could take the write lock of a database now. */
function othersMayWrite(file: string): boolean {
  const script = `import { openSqlite, sqliteFailure } from './lib/sqlite/index.ts';
    const database = openSqlite(process.argv[1], 0);
    try { database.exec('BEGIN EXCLUSIVE'); console.log('yes'); } catch (error) { console.log(sqliteFailure(error)); }`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', script, file];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim() === 'yes';
}

it('does not so much as open a reserved file, which would give up the locks of this process', () => {
  const dir = tempFolder({ 'data/x/.keep': '', 'skill/SKILL.md': '' });
  const file = join(dir, 'data/x/history.db');
  const database = openSqlite(file);
  onTestFinished(() => void database.close());
  reserving(join(dir, 'data'));
  database.exec('CREATE TABLE t (a); BEGIN EXCLUSIVE');
  // A folder that has become a link since it was looked at.
  renameSync(join(dir, 'skill'), join(dir, 'away'));
  symlinkSync('data/x', join(dir, 'skill'));
  for (const [base, path] of [
    [dir, 'data/x/history.db'],
    [join(dir, 'data/x'), 'history.db'],
    [join(dir, 'skill'), 'history.db'],
  ] as const)
    expect(codeOf(() => readContained(base, path, 1e6))).toMatch(/^(RESOURCE_NOT_FOUND|PATH_TRAVERSAL)$/);
  expect(codeOf(() => readNamedFile(join(dir, 'skill/history.db'), 1e6))).toBe('RESOURCE_NOT_FOUND');
  makePrivateFile(file);
  expect(othersMayWrite(file)).toBe(false);
  // So it goes where nobody takes care.
  readFileSync(file);
  expect(othersMayWrite(file)).toBe(true);
});

it('makes files and folders for their owner alone, and narrows those that others may enter', () => {
  process.umask(0o022);
  const dir = tempFolder();
  mkdirSync(join(dir, 'wide'), { mode: 0o755 });
  writeFileSync(join(dir, 'wide/old.md'), 'old', { mode: 0o644 });
  writeContained(join(dir, 'wide'), 'old.md', 'new', { own: true });
  writeContained(join(dir, 'wide'), 'deep/new.md', 'new', { own: true });
  mkdirSync(join(dir, 'wide/older'), { mode: 0o755 });
  writeContained(join(dir, 'wide'), 'older/new.md', 'new', { own: true });
  makePrivateFolder(join(dir, 'made/deep'));
  makePrivateFile(join(dir, 'made/deep/file'));
  mkdirSync(join(dir, 'open'), { mode: 0o777 });
  makePrivateFolder(join(dir, 'open'));
  writeFileSync(join(dir, 'open/file'), '', { mode: 0o664 });
  makePrivateFile(join(dir, 'open/file'));
  const bits = (path: string): string => (statSync(join(dir, path)).mode & 0o777).toString(8);
  expect(['wide/deep', 'wide/older', 'made', 'made/deep', 'open'].map(bits)).toEqual(Array(5).fill('700'));
  expect(['wide/old.md', 'wide/deep/new.md', 'made/deep/file', 'open/file'].map(bits)).toEqual(Array(4).fill('600'));
  // What is nobody's own is made as ever.
  writeContained(dir, 'theirs/a.md', '');
  expect(['theirs', 'theirs/a.md'].map(bits)).toEqual(['755', '644']);
});

it("narrows nothing that a link leads to: it may be anybody's", () => {
  const dir = tempFolder({
    'theirs/page.html': { content: 'theirs', mode: 0o644 },
    'data/page': { link: '../theirs/page.html' },
  });
  chmodSync(join(dir, 'theirs'), 0o755);
  symlinkSync('../theirs', join(dir, 'data/skill_registry'));
  symlinkSync('.', join(dir, 'way'));
  makePrivateFile(join(dir, 'data/page'));
  makePrivateFolder(join(dir, 'data/skill_registry'));
  makePrivateFolder(join(dir, 'way/theirs'));
  const bits = (path: string): string => (statSync(join(dir, path)).mode & 0o777).toString(8);
  expect([bits('theirs'), bits('theirs/page.html')]).toEqual(['755', '644']);
});
