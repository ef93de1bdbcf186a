import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { computedHash, lockedFiles } from '../../../../extensions/skill_registry/features/install/lock.ts';
import { tarGz } from '../../../helpers/archives.ts';
import { gitRepository } from '../../../helpers/git-repository.ts';
import { type OpenRegistry, openRegistry, openRoot } from '../../../helpers/open-registry.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { ADA, LONGER, TEA } from '../../../helpers/tea.ts';
import { tempFolder, writeTree } from '../../../helpers/temp-folder.ts';
import { treeOf } from '../../../helpers/tree-of.ts';

type LockFile = { skills: Record<string, Record<string, unknown>> } & Record<string, unknown>;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function lockOf(root: string): LockFile {
  return JSON.parse(readFileSync(join(root, 'skills-lock.json'), 'utf8')) as LockFile;
}

function writeLock(root: string, lock: unknown): void {
  writeFileSync(join(root, 'skills-lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
}

/** A root with the skill `tea` from a folder. */
async function installed(): Promise<OpenRegistry & { readonly from: string }> {
  const from = tempFolder({ 'tea/SKILL.md': TEA, 'tea/run.sh': { content: 'echo\n', mode: 0o755 } });
  const opened = await openRegistry();
  await (await opened.registry.origin.add(join(from, 'tea'))).apply(ADA);
  return { ...opened, from };
}

it('writes what other tools write, and its own beside it', async () => {
  const { root, from } = await installed();
  const lines = [`sha256:${sha256(TEA)} ${TEA.length} 644 SKILL.md`, `sha256:${sha256('echo\n')} 5 755 run.sh`];
  expect(lockOf(root)).toEqual({
    version: 1,
    skills: {
      tea: {
        ...{ source: join('..', from.split('/').at(-1) ?? '', 'tea'), sourceType: 'local', skillPath: 'SKILL.md' },
        computedHash: sha256(`run.shecho\nSKILL.md${TEA}`),
        registry: { digest: `sha256:${sha256(`${[...lines].sort().join('\n')}\n`)}`, files: lines },
      },
    },
  });
});

it('says what has changed, what is absent and what is broken', async () => {
  const { root, registry } = await installed();
  writeTree(root, { 'skills/tea/SKILL.md': LONGER, 'skills/tea/b.md': 'b' });
  await registry.refresh();
  expect(await registry.origin.verify()).toMatchObject([{ state: 'drifted', changed: ['SKILL.md', 'b.md'] }]);
  const lock = lockOf(root);
  const { tea } = lock.skills;
  const digest = `sha256:${'0'.repeat(64)}`;
  const skills = {
    ...{ away: tea, '...': tea, bent: { ...tea, skillPath: '../../SKILL.md' } },
    ...{ odd: { ...tea, registry: { digest, files: [`${digest} 1 644 ../x`] } } },
    ...{ other: { ...tea, registry: { digest, files: [`${digest} 1 644 x`] } }, text: 'tea' },
  };
  writeLock(root, { ...lock, skills });
  expect((await registry.origin.verify()).map(({ name, state, reason }) => [name, state, reason])).toEqual([
    ['...', 'broken', 'its name can be no id of a skill'],
    ['away', 'absent', undefined],
    ['bent', 'broken', 'skillPath: expected the path of a SKILL.md'],
    ['odd', 'broken', 'registry.files.0: expected sha256:<hex> <bytes> <mode> <path>'],
    ['other', 'broken', 'registry.digest: it is not that of registry.files'],
    ['text', 'broken', expect.stringContaining('expected object')],
  ]);
  await expect(registry.origin.restore()).rejects.toMatchObject({ code: 'ORIGIN_REFUSED' });
});

it('says of a skill that it is absent, that has gone since the last look', async () => {
  const { root, registry } = await installed();
  rmSync(join(root, 'skills/tea'), { recursive: true });
  expect(await registry.origin.verify()).toMatchObject([{ name: 'tea', state: 'absent' }]);
  expect((await registry.origin.update()).skills).toMatchObject([{ id: 'tea', state: 'absent' }]);
  expect((await registry.origin.restore()).skills).toMatchObject([{ id: 'tea' }]);
});

it.each([
  ['a path for a name', '../evil', {}, /its name can be no id/],
  [
    'a program for an address',
    'evil',
    { sourceType: 'git', source: 'ext::sh -c touch% /tmp/x' },
    /^source: .*expected https:/,
  ],
  ['a program, of a kind that another tool knows', 'evil', { sourceType: 'far', source: 'ext::sh' }, /^source: /],
  [
    'an option for a ref',
    'evil',
    { sourceType: 'git', source: 'https://a.example/b', ref: '--upload-pack=x' },
    /^source: .*ref/,
  ],
])('says that an entry with %s is refused and why, and takes it out when it is named', async (_, name, fields, why) => {
  const { root, registry } = await installed();
  const lock = lockOf(root);
  writeLock(root, { ...lock, skills: { ...lock.skills, [name]: { ...lock.skills.tea, ...fields } } });
  expect(await registry.origin.verify()).toContainEqual(
    expect.objectContaining({ name, state: 'broken', reason: expect.stringMatching(why) }),
  );
  const verified = await runCommand(['verify', '--root', root]);
  expect(verified).toMatchObject({ status: 1, stdout: expect.stringContaining('broken') });
  await expect(registry.origin.restore()).rejects.toMatchObject({ code: 'ORIGIN_REFUSED' });
  expect((await registry.origin.update()).skills).toContainEqual(expect.objectContaining({ name, state: 'failed' }));
  await registry.origin.remove(name, ADA);
  expect((await registry.origin.verify()).map((one) => one.name)).toEqual(['tea']);
});

it('leaves an entry alone whose kind of source only another tool knows', async () => {
  const { root, registry } = await installed();
  const lock = lockOf(root);
  writeLock(root, { ...lock, skills: { tea: { ...lock.skills.tea, sourceType: 'far', source: 'far away' } } });
  expect(await registry.origin.verify()).toMatchObject([{ name: 'tea', state: 'same' }]);
});

it('removes the skill that is named, of two with one id', async () => {
  const { root, registry } = await openRegistry({}, { sources: [{ path: 'mine' }, { path: 'skills' }] });
  const from = tempFolder({ 'tea/SKILL.md': TEA });
  await (await registry.origin.add(from, { to: join(root, 'skills') })).apply(ADA);
  writeTree(root, { 'mine/tea/SKILL.md': LONGER });
  await registry.refresh();
  await expect(registry.origin.remove('tea', ADA)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringMatching(/mine:tea .*skills:tea/),
  });
  expect(await registry.origin.remove('mine:tea', ADA)).toMatchObject({ wasLocked: false });
  expect(registry.snapshot().skills.map(({ qualifiedId }) => qualifiedId)).toEqual(['skills:tea']);
  expect(await registry.origin.remove('skills:tea', ADA)).toMatchObject({ wasLocked: true });
  expect(await registry.origin.verify()).toEqual([]);
});

it('checks an entry of another tool by its hash alone, and says that this is weaker', async () => {
  const { root, registry, from } = await installed();
  const lock = lockOf(root);
  const { registry: _ours, ...theirs } = lock.skills.tea ?? {};
  writeLock(root, { ...lock, skills: { tea: theirs } });
  expect(await registry.origin.verify()).toMatchObject([{ state: 'same', weak: true }]);
  writeTree(from, { 'tea/SKILL.md': LONGER });
  const plan = await registry.origin.update();
  expect(plan.skills).toMatchObject([{ state: 'outdated', drifted: false, files: [{ change: 'changed' }] }]);
  await plan.apply(ADA);
  expect(await registry.origin.verify()).toMatchObject([{ state: 'same', weak: false }]);
});

it('keeps what it does not know, in the file and in its entries, and the order of the names', async () => {
  const { root, registry } = await installed();
  const lock = lockOf(root);
  const other = { source: 'acme/skills', sourceType: 'github', computedHash: '', mine: true };
  writeLock(root, { ...lock, note: 'Mine.', skills: { zebra: other, tea: { ...lock.skills.tea, via: 'x' } } });
  const from = tempFolder({ 'SKILL.md': TEA.replaceAll('tea', 'pot') });
  await (await registry.origin.add(from)).apply(ADA);
  const after = lockOf(root);
  expect(Object.keys(after.skills)).toEqual(['pot', 'tea', 'zebra']);
  expect(after).toMatchObject({ note: 'Mine.', skills: { zebra: other, tea: { via: 'x' } } });
});

it('keeps and names entries whose names mean something to JavaScript', async () => {
  const { root, registry } = await installed();
  const [entry] = Object.values(lockOf(root).skills);
  const names = ['__proto__', 'constructor', 'tea', 'toString'];
  const entries = names.map((name) => `${JSON.stringify(name)}: ${JSON.stringify(entry)}`);
  writeFileSync(join(root, 'skills-lock.json'), `{ "version": 1, "__proto__": 1, "skills": { ${entries.join()} } }`);
  const verified = await registry.origin.verify();
  expect(verified.map(({ name, state }) => `${name} ${state}`)).toEqual(
    names.map((name) => `${name} ${name === 'tea' ? 'same' : 'absent'}`),
  );
  await registry.origin.remove('constructor', ADA);
  const after = readFileSync(join(root, 'skills-lock.json'), 'utf8');
  expect(after).toContain('"__proto__": 1');
  expect(Object.keys(lockOf(root).skills)).toEqual(names.filter((name) => name !== 'constructor'));
});

it.each<[string, (file: string) => void]>([
  ['a folder', (file) => mkdirSync(file)],
  ['a pipe', (file) => void execFileSync('mkfifo', [file])],
  ['a link', (file) => symlinkSync('/etc/passwd', file)],
])('says that a lock is %s, and neither that all is well nor that something is installed', async (_what, put) => {
  const { root, registry } = await installed();
  const file = join(root, 'skills-lock.json');
  rmSync(file);
  put(file);
  const pot = tempFolder({ 'SKILL.md': TEA.replaceAll('tea', 'pot') });
  for (const call of [() => registry.origin.verify(), () => registry.origin.restore(), () => registry.origin.add(pot)])
    await expect(call()).rejects.toMatchObject({ code: 'LOCK_INVALID', message: expect.stringContaining(file) });
});

it('knows what was installed also by a long lock', async () => {
  const { root, registry } = await installed();
  const lock = lockOf(root);
  const many = Array.from({ length: 5_000 }, (_, at) => [`s-${at}`, { ...lock.skills.tea, note: 'x'.repeat(1_000) }]);
  writeLock(root, { ...lock, skills: { ...Object.fromEntries(many), ...lock.skills } });
  await registry.refresh();
  expect(await registry.admin.trustOf('tea')).toMatchObject({ origin: 'brought-in' });
});

it('leaves a lock alone that it cannot read', async () => {
  const { root, registry } = await installed();
  for (const text of ['{', '[]', '{"version":2,"skills":{}}', '{"version":1}']) {
    writeFileSync(join(root, 'skills-lock.json'), text);
    for (const call of [
      () => registry.origin.verify(),
      () => registry.origin.update(),
      () => registry.origin.remove('tea', ADA),
    ])
      await expect(call(), text).rejects.toMatchObject({ code: 'LOCK_INVALID' });
    const pot = tempFolder({ 'SKILL.md': TEA.replaceAll('tea', 'pot') });
    await expect(registry.origin.add(pot)).rejects.toMatchObject({ code: 'LOCK_INVALID' });
    expect(readFileSync(join(root, 'skills-lock.json'), 'utf8')).toBe(text);
  }
  expect(Object.keys(treeOf(join(root, 'skills')))).toEqual(['tea', 'tea/SKILL.md', 'tea/run.sh']);
});

it('archives what is removed, takes its entry out, and can bring it back', async () => {
  const { root, registry } = await installed();
  expect(await registry.origin.remove('tea', ADA)).toEqual({ id: 'tea', revision: 2, wasLocked: true });
  expect(lockOf(root)).toEqual({ version: 1, skills: {} });
  expect(existsSync(join(root, 'skills/tea'))).toBe(false);
  await expect(registry.origin.remove('tea', ADA)).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  await registry.history.restore('tea', ADA);
  expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toBe(TEA);
  expect(await registry.origin.remove('tea', ADA)).toMatchObject({ wasLocked: true });
});

it('does nothing that the lock of a root asks for which nobody has approved', async () => {
  const { root } = await installed();
  const lock = readFileSync(join(root, 'skills-lock.json'));
  const other = tempFolder({ 'skills-lock.json': lock });
  const registry = await openRoot(other, { trust: false });
  for (const call of [() => registry.origin.restore(), () => registry.origin.update(['tea'])])
    await expect(call()).rejects.toMatchObject({ code: 'ROOT_NOT_APPROVED' });
  expect(await registry.origin.verify()).toMatchObject([{ state: 'absent' }]);
  const pot = tempFolder({ 'SKILL.md': TEA.replaceAll('tea', 'pot') });
  await (await registry.origin.add(pot)).apply(ADA);
  expect(registry.snapshot().skills.map(({ id }) => id)).toEqual(['pot']);
  expect(Object.keys(lockOf(other).skills)).toEqual(['pot', 'tea']);
});

it('restores nothing when one of the skills cannot be restored', async () => {
  const { registry, root } = await openRegistry();
  const archive = join(tempFolder(), 'pot.tar.gz');
  writeFileSync(archive, tarGz([{ path: 'pot/SKILL.md', content: TEA.replaceAll('tea', 'pot') }]));
  const repository = gitRepository({ 'tea/SKILL.md': TEA });
  for (const what of [archive, repository.url]) await (await registry.origin.add(what)).apply(ADA);
  const other = tempFolder({ 'skills-lock.json': readFileSync(join(root, 'skills-lock.json')) });
  const second = await openRoot(other);
  writeLock(other, {
    ...lockOf(root),
    skills: { ...lockOf(root).skills, pot: { ...lockOf(root).skills.pot, source: archive } },
  });
  // Somebody else has put other bytes where the archive was.
  writeFileSync(archive, tarGz([{ path: 'pot/SKILL.md', content: LONGER.replaceAll('tea', 'pot') }]));
  await expect(second.origin.restore()).rejects.toMatchObject({
    code: 'ORIGIN_REFUSED',
    message: expect.stringContaining('has other files than the lock says'),
  });
  expect(Object.keys(treeOf(other))).toEqual(['skills-lock.json']);
});

it('refuses to restore over what somebody has changed', async () => {
  const { root, registry } = await installed();
  writeTree(root, { 'skills/tea/SKILL.md': LONGER });
  await registry.refresh();
  await expect(registry.origin.restore()).rejects.toMatchObject({
    code: 'ORIGIN_REFUSED',
    message: expect.stringContaining('it has changed here'),
  });
});

it('tells two folders apart that have one computedHash', () => {
  const file = (path: string, content: string) => ({ path, bytes: Buffer.from(content), executable: false });
  const [one, two] = [[file('a', 'bc')], [file('ab', 'c')]];
  expect(computedHash(one)).toBe(computedHash(two));
  expect(lockedFiles(one).digest).not.toBe(lockedFiles(two).digest);
});
