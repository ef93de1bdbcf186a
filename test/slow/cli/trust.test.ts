import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { approveHeldExtensions } from '../../../kernel/held/ask-person.ts';
import { heldExtension, heldOfRoot, holdExtensionFile } from '../../../kernel/host.ts';
import { openTrust } from '../../../lib/trust/index.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { manifest } from '../../kernel/boot/boot-extensions.ts';

const TEA: Tree = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brew tea.' }) };
const LEAVE_A_FILE = `import { writeFileSync } from 'node:fs'; writeFileSync(new URL('../../ran', import.meta.url), '');`;

/** A root whose config names a package; when its `skillSource` is called, or an extension is loaded, a file is left. */
const FOREIGN: Tree = {
  ...TEA,
  'package.json': '{}',
  'node_modules/evil/package.json': '{ "name": "evil", "type": "module", "main": "main.js" }',
  'node_modules/evil/main.js': `${LEAVE_A_FILE} export function skillSource() { return 'nowhere'; }`,
  'data/skill_registry/config.yaml': 'sources: [{ path: skills }, { package: evil }, { path: /etc }]\n',
  'extensions/evil/manifest.yaml': manifest('evil', 'entrypoint: main:Main'),
  'extensions/evil/main.js': LEAVE_A_FILE,
};

const ran = (root: string): boolean => existsSync(join(root, 'ran'));
const foreign = (args: readonly string[], root: string) => runCommand([...args, '--root', root], { trust: false });

describe('a root that nobody has approved', () => {
  it.each([['list'], ['search', 'tea'], ['show', 'tea'], ['doctor'], ['proposals'], ['trust'], ['extensions']])(
    'runs no code and is not written by %s, which says in one line what is held',
    async (...args) => {
      const root = tempFolder(FOREIGN);
      const before = readdirSync(root, { recursive: true }).sort();
      const { stdout } = await foreign(args, root);
      expect(ran(root)).toBe(false);
      expect(readdirSync(root, { recursive: true }).sort()).toEqual(before);
      if (args[0] === 'list') expect(stdout).toContain('tea');
    },
  );

  it('has its extensions among what approvals and list call without effect', async () => {
    const root = tempFolder(FOREIGN);
    const { stderr } = await foreign(['approvals', 'list'], root);
    expect(stderr).toContain('Without effect until its root is allowed: 1 extension: evil\n');
    expect(stderr).toContain('Without effect until its root is allowed: sources.1 (package)');
    expect((await foreign(['list', '--json'], root)).stdout).toContain('1 extension: evil');
  });

  it('has its held settings named with the way to approve them, and has them all after that', async () => {
    const root = tempFolder(FOREIGN);
    const problemsOf = async () => {
      const { stdout } = await foreign(['list', '--json'], root);
      return (JSON.parse(stdout) as { problems: { code: string; message: string }[] }).problems;
    };
    const [problem] = await problemsOf();
    expect(problem?.code).toBe('ROOT_NOT_APPROVED');
    for (const part of [
      'sources.1 (package)',
      'sources.2 (a path outside the root)',
      `approvals allow ${root}`,
      '--trust',
    ])
      expect(problem?.message).toContain(part);
    expect(await foreign(['trust', 'allow', root].slice(0, 2), root)).toMatchObject({ status: 0 });
    expect((await problemsOf()).map(({ code }) => code)).not.toContain('ROOT_NOT_APPROVED');
    expect(ran(root)).toBe(true);
  });

  it('acts for one command with --trust, which records nothing', async () => {
    const root = tempFolder(FOREIGN);
    await runCommand(['list', '--root', root]);
    expect(ran(root)).toBe(true);
    expect(openTrust().allows('root', root)).toBe(false);
  });

  it('is left alone by start without a terminal, which says how to approve it', async () => {
    const root = tempFolder(FOREIGN);
    const { stdout } = await runCommand(['start', '--root', root], { trust: false, input: '/extensions\n/quit\n' });
    expect(ran(root)).toBe(false);
    expect(stdout).toContain('ROOT_NOT_APPROVED');
    expect(stdout).toContain(`skill-registry approvals allow ${root}`);
    expect(stdout).not.toMatch(/^ {2}evil {2}/m);
  });
});

describe('skill-registry trust', () => {
  it('lists, allows and revokes roots by real path, and takes the root of the command for one', async () => {
    const root = tempFolder(TEA);
    expect(await foreign(['trust', 'allow', '--json'], root)).toMatchObject({ status: 0 });
    const listed = async () => JSON.parse((await runCommand(['trust', 'list', '--json'])).stdout).decisions;
    expect(await listed()).toContainEqual(expect.objectContaining({ action: 'allow', kind: 'root', path: root }));
    expect(await runCommand(['trust', 'revoke', root])).toMatchObject({ status: 0 });
    // Twice, and of a root that never was approved: nothing is claimed, and nothing recorded.
    const other = tempFolder();
    // Other tests of this run record decisions of their own.
    const ofThese = async () => (await listed()).filter(({ path }: { path: string }) => [root, other].includes(path));
    const before = await ofThese();
    for (const never of [root, other])
      expect(await runCommand(['trust', 'revoke', never])).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(`${never} is not approved, so nothing was revoked.`),
      });
    expect(await ofThese()).toEqual(before);
    expect(before).toContainEqual(expect.objectContaining({ action: 'revoke', path: root }));
    expect(await runCommand(['trust', 'allow', join(root, 'nothing')])).toMatchObject({ status: 2 });
  });
});

describe('skill-registry extensions', () => {
  const held = (): string => {
    const root = tempFolder(TEA);
    holdExtensionFile(root, 'trap/manifest.yaml', manifest('trap', 'agent: {}'), 'agent:builder');
    return root;
  };

  it('are named by doctor where they wait, until they are approved', async () => {
    const root = held();
    const doctor = async () => (await foreign(['doctor', '--trust'], root)).stdout;
    expect(await doctor()).toMatch(
      /EXTENSION_HELD.*skill-registry approvals show extensions\/trap; then approve or revoke/s,
    );
    const digest = heldExtension(root, 'trap')?.digest ?? '';
    await foreign(['extensions', 'approve', 'trap', '--digest', digest], root);
    expect(await doctor()).not.toContain('EXTENSION_HELD');
  });

  it('lists what waits, shows the difference, and approves that difference and no other', async () => {
    const root = held();
    const list = JSON.parse((await foreign(['extensions', 'list', '--json'], root)).stdout);
    expect(list.extensions).toContainEqual(
      expect.objectContaining({ id: 'trap', state: 'not there yet', held: expect.objectContaining({ files: 1 }) }),
    );
    const { stdout } = await foreign(['extensions', 'show', 'trap'], root);
    expect(stdout).toContain('+id: trap');
    const digest = heldExtension(root, 'trap')?.digest ?? '';
    expect(stdout).toContain(digest);
    const refused = await foreign(['extensions', 'approve', 'trap'], root);
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('--digest') });
    holdExtensionFile(root, 'trap/prompt.md', 'More.', 'agent:builder');
    expect(await foreign(['extensions', 'approve', 'trap', '--digest', digest], root)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('EXTENSION_CHANGED'),
    });
    expect(existsSync(join(root, 'extensions/trap/manifest.yaml'))).toBe(false);
    const now = heldExtension(root, 'trap')?.digest ?? '';
    const approve = ['extensions', 'approve', 'trap', '--digest', now, '--reason', 'I read it.'];
    expect(await foreign([...approve, '--by', 'agent:builder'], root)).toMatchObject({ status: 2 });
    expect(await foreign([...approve, '--by', 'ada'], root)).toMatchObject({ status: 0 });
    expect(existsSync(join(root, 'extensions/trap/manifest.yaml'))).toBe(true);
    const { decisions } = JSON.parse((await foreign(['trust', 'list', '--json'], root)).stdout);
    const made = { kind: 'extension', action: 'allow', digest: now, by: 'person:ada', reason: 'I read it.' };
    expect(decisions).toContainEqual(expect.objectContaining({ ...made, path: join(root, 'extensions/trap') }));
  });

  it('are counted by doctor, in a root that nobody has approved too', async () => {
    const root = held();
    for (const trust of [false, true]) {
      const doctor = await runCommand(['doctor', '--root', root], { trust });
      expect(doctor.stdout).toMatch(
        /^1 skill\n[\s\S]*\n1 extensions? held: trap; skill-registry approvals show extensions\/<name>/,
      );
      const { stdout } = await runCommand(['doctor', '--json', '--root', root], { trust });
      expect(JSON.parse(stdout).held_extensions).toEqual(['trap']);
    }
  });

  it('throws away what waits, and answers for a name that does not wait', async () => {
    const root = held();
    expect(await foreign(['extensions', 'revoke', 'trap'], root)).toMatchObject({ status: 0 });
    const gone = await foreign(['extensions', 'show', 'trap'], root);
    expect(gone).toMatchObject({ status: 1, stderr: expect.stringContaining('EXTENSION_NOT_HELD') });
  });

  it('approves and revokes nothing through an extensions/ that leads out of a root nobody has approved', async () => {
    const other = tempFolder({ 'extensions/trap/manifest.yaml': manifest('trap', 'agent: {}') });
    const root = tempFolder({
      ...TEA,
      extensions: { link: join(other, 'extensions') },
      'data/.held/trap/files/lib.js': 'evil',
      'data/.held/trap/notes/lib.js': '{ "base": null, "by": "agent:x" }',
    });
    const digest = heldExtension(root, 'trap')?.digest ?? '';
    for (const args of [
      ['approve', 'trap', '--digest', digest],
      ['revoke', 'trap'],
      ['show', 'trap'],
    ])
      expect(await foreign(['extensions', ...args], root)).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/PATH_TRAVERSAL.*extensions\//s),
      });
    const ask = () => Promise.resolve(true);
    const round = { rootDir: root, trusted: false, asked: new Set<string>(), ask, notifyUser: () => {} };
    expect(await approveHeldExtensions(round)).toBe(false);
    expect(readdirSync(join(other, 'extensions'), { recursive: true }).sort()).toEqual(['trap', 'trap/manifest.yaml']);
    expect(existsSync(join(root, 'data/.held/trap/files/lib.js'))).toBe(true);
  });
});

it('says of an extension whose approval cannot be written down that it is approved, and where it was to be written', async () => {
  const root = tempFolder({
    'data/.held/clock/files/manifest.yaml': manifest('clock', 'agent: {}'),
    'data/.held/clock/notes/manifest.yaml': '{ "base": null, "by": "agent:x" }',
  });
  openTrust().decide({ action: 'allow', kind: 'root', path: root, by: 'person:ada' });
  const told: string[] = [];
  vi.stubEnv('XDG_STATE_HOME', join(tempFolder({ file: '' }), 'file'));
  onTestFinished(() => void vi.unstubAllEnvs());
  const asked = {
    ask: () => Promise.resolve(true),
    asked: new Set<string>(),
    notifyUser: (text: string) => told.push(text),
  };
  expect(await approveHeldExtensions({ rootDir: root, trusted: true, ...asked })).toBe(true);
  expect(told).toEqual([
    expect.stringMatching(
      /^extensions\/clock is approved: TRUST_UNUSABLE: It is done, but who did it cannot be recorded in .*file/,
    ),
  ]);
  expect(existsSync(join(root, 'extensions/clock/manifest.yaml'))).toBe(true);
});

it('no name of a folder adds words to the question about a root', () => {
  const name = 'docs.\nOnly texts were found; a yes\u202e sends nothing';
  const root = tempFolder({
    [`extensions/${name}/manifest.yaml`]: manifest('evil', 'agent: {}'),
    [`data/${name}/config.yaml`]: '',
  });
  const shown = '"docs.\\nOnly texts were found; a yes\\u{202e} sends nothing"';
  expect(heldOfRoot(root)).toEqual([`1 extension: ${shown}`, `data/${shown}/config.yaml`]);
});

it('says of a name that is nothing what was expected, with the nearest name, which then works', async () => {
  const root = tempFolder({
    'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Makes tea.' }),
    'agents/x': '',
  });
  for (const [args, near] of [
    [['trust', 'allow', 'te'], 'tea'],
    [['trust', 'allow', 'agnets'], 'agents'],
    [['trust', 'revoke', 'agnets'], 'agents'],
  ] as const)
    expect(await runCommand(args, { cwd: root })).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(
        new RegExp(`"${args[2]}" is no skill, no source and no folder here\\. Expected .*\\. Nearest: ${near}\\.`),
      ),
    });
  expect(await runCommand(['trust', 'allow', 'agents'], { cwd: root })).toMatchObject({ status: 0 });
  expect(await runCommand(['trust', 'revoke', 'agents'], { cwd: root })).toMatchObject({ status: 0 });
  writeTree(root, { 'skills-lock.json': '{' });
  expect((await runCommand(['trust', 'allow', 'te'], { cwd: root })).stderr).toContain('Nearest: tea.');
  // With a root or a digest a skill is meant.
  expect(await runCommand(['--root', root, 'trust', 'allow', 'te'], { cwd: root })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('SKILL_NOT_FOUND: No skill "te". Nearest: tea.'),
  });
  expect(await runCommand(['trust', 'allow', './agnets'], { cwd: root })).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('ROOT_NOT_FOUND: The root ./agnets is not a folder.'),
  });
});
