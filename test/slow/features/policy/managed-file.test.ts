import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { servePage } from '../../../helpers/page-server.ts';
import { policyPage } from '../../../helpers/policy-page.ts';
import { skillMd, tempFolder } from '../../../helpers/temp-folder.ts';

const MAIN = join(import.meta.dirname, '../../../../dist/cli/main.js');
/** A mount namespace, in which /etc has a managed file that no other process sees. */
const CAN = spawnSync('unshare', ['-m', 'true']).status === 0 && process.getuid?.() === 0;
const ROOT = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Makes tea.' }, 'Boil.') };
const RUM = { 'skills/rum/SKILL.md': skillMd({ name: 'rum', description: 'Makes rum.' }, 'Distil.') };

/** @param managed - The text of the file; `mode`: of it. */
async function underManaged(
  managed: string,
  args: readonly string[],
  {
    mode = '644',
    environment = {},
    uid = 0,
  }: { mode?: string; environment?: Record<string, string>; uid?: number } = {},
) {
  const folder = tempFolder();
  mkdirSync(join(folder, 'etc/skill-registry'), { recursive: true });
  writeFileSync(join(folder, 'etc/skill-registry/policy.yaml'), managed);
  const script = [
    'set -e',
    'mount -t tmpfs none "$1/etc" --make-private 2>/dev/null || true',
    'mkdir -p "$1/etc/up" "$1/etc/work" "$1/etc/up/skill-registry"',
    'printf %s "$2" > "$1/etc/up/skill-registry/policy.yaml"',
    'chmod "$3" "$1/etc/up/skill-registry/policy.yaml"',
    'mount -t overlay none -o "lowerdir=/etc,upperdir=$1/etc/up,workdir=$1/etc/work" /etc',
    'shift 3',
    uid === 0 ? 'exec "$@"' : `exec setpriv --reuid ${uid} --regid ${uid} --clear-groups "$@"`,
  ].join('\n');
  const command = ['-m', 'sh', '-c', script, 'sh', folder, managed, mode, process.execPath, MAIN, ...args];
  const child = spawn('unshare', command, { env: { ...process.env, ...environment } });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (data) => {
    stdout += data;
  });
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  child.stdin.end();
  const status = await new Promise((resolve) => child.on('close', resolve));
  return { status, stdout, stderr };
}

interface Listed {
  readonly skills: readonly { readonly skill_id: string; readonly held_because?: string }[];
  readonly problems: readonly { readonly code: string; readonly message: string }[];
}

it.skipIf(!CAN)(
  'holds what its policy denies, whatever flag, variable, config, manifest and approval says',
  async () => {
    const page = await policyPage({ version: 1, denied: { ids: ['rum'] } });
    const weak = await servePage(tempFolder({ '.well-known/agent-skills/policy.json': '{"version":9}' }));
    const other = tempFolder({ ...ROOT, ...RUM });
    const root = tempFolder({
      ...ROOT,
      ...RUM,
      'data/skill_registry/config.yaml': `policy: {}\nsources: [{ path: skills }, { wellKnown: ${weak.url}, id: '${page.url}' }]\n`,
      'extensions/mine/manifest.yaml': 'id: mine\nconfig: { policy: {} }\n',
      '.env': 'XDG_STATE_HOME=/nowhere\nSKILL_POLICY=off\n',
    });
    const managed = `from: ${page.url}\n`;
    const environment = { SKILL_POLICY: 'off', NO_GUARD: '1', SKILL_REGISTRY_POLICY: '/dev/null', NODE_ENV: 'test' };
    const ways: readonly (readonly string[])[] = [
      ['list', '--root', root],
      ['list', '--root', root, '--trust'],
      ['list', '--root', root, '--trust', '--skills', join(other, 'skills')],
      ['search', 'rum', '--root', root, '--trust'],
    ];
    for (const way of ways) {
      const { stdout, stderr } = await underManaged(managed, [...way, '--json'], { environment });
      const { problems } = JSON.parse(stdout || '{"problems":[]}') as Listed;
      expect(
        problems.map(({ code }) => code),
        `${way.join(' ')}: ${stderr}`,
      ).toContain('POLICY_DENIED');
    }
    // Somewhere else nothing was ever read: it asks, and where it cannot, everything is held.
    await page.away();
    const fresh = { environment: { XDG_STATE_HOME: tempFolder() } };
    const { stdout } = await underManaged(managed, ['list', '--root', root, '--trust', '--json'], fresh);
    expect((JSON.parse(stdout) as Listed).problems.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['POLICY_MISSING', 'POLICY_DENIED']),
    );
  },
  120_000,
);

it.skipIf(!CAN)(
  'holds everything when others can write it, and says what to do',
  async () => {
    const page = await policyPage({ version: 1 });
    const root = tempFolder(ROOT);
    const run = await underManaged(`from: ${page.url}\n`, ['list', '--root', root, '--trust', '--json'], {
      mode: '666',
    });
    const { problems } = JSON.parse(run.stdout) as Listed;
    expect(problems.find(({ code }) => code === 'POLICY_FILE_UNUSABLE')?.message).toContain('chmod go-w it');
    expect(problems.map(({ code }) => code)).toContain('POLICY_DENIED');
    expect(page.answers).toEqual([]);
  },
  60_000,
);

it.skipIf(!CAN)(
  'holds everything of a user who cannot read it',
  async () => {
    const page = await policyPage({ version: 1 });
    const root = tempFolder(ROOT);
    spawnSync('chmod', ['-R', 'a+rwX', root]);
    const environment = { HOME: '/nonexistent', XDG_STATE_HOME: '/nonexistent', XDG_CACHE_HOME: '/nonexistent' };
    const options = { mode: '600', uid: 65534, environment };
    const run = await underManaged(`from: ${page.url}\n`, ['list', '--root', root, '--trust', '--json'], options);
    const { problems } = JSON.parse(run.stdout || '{"problems":[]}') as Listed;
    const found = problems.find(({ code }) => code === 'POLICY_FILE_UNUSABLE');
    expect(found?.message, run.stderr).toMatch(/cannot be read .*: chmod 755 its folder and 644 the file/);
  },
  60_000,
);
