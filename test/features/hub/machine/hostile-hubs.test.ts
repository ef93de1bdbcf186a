import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { tarGz } from '../../../helpers/archives.ts';
import { hubMachine, TOKEN } from '../../../helpers/hub-machine.ts';
import { pageSkill } from '../../../helpers/large-page.ts';
import { idsOf, letAnHourPass, problemsOf } from '../../../helpers/published-page.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { HUB_TOKEN, json, type ScriptedHub, scriptedHub } from '../../../helpers/scripted-hub.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

const COOK = { agentId: 'cook' };
const DIGEST = `sha256:${'a'.repeat(64)}`;
const ENTRY = { id: 'tea', description: 'Makes tea.', type: 'skill-md', digest: DIGEST, size: 3, revision: 1 };

let state = '';
beforeEach(() => {
  state = tempFolder();
  vi.stubEnv('XDG_STATE_HOME', state);
  return () => void vi.unstubAllEnvs();
});

const answering = (hub: ScriptedHub, end: string, body: (path: string) => unknown): void => {
  hub.answer = (path, response) => path.endsWith(end) && json(response, 200, body(path));
};

function textsBelow(...folders: readonly string[]): string {
  return folders
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
    .map((file) => (statSync(file).isFile() ? readFileSync(file, 'latin1') : file))
    .join('\n');
}

describe('a feed is refused, and the copy stays as it was', () => {
  const change = (id: string, entry: object | null = { ...ENTRY, id }, seq = 2) => ({ seq, id, entry });
  const FEEDS: readonly (readonly [string, unknown])[] = [
    ['is no JSON of a hub', []],
    ['names a path', { changes: [change('../../evil')] }],
    ['names a skill otherwise than its entry', { changes: [change('tea', { ...ENTRY, id: 'pot' })] }],
    ['has a digest that is a path', { changes: [change('tea', { ...ENTRY, digest: 'sha256:../../evil' })] }],
    ['has numbers in no order', { head: 9, changes: [change('tea', undefined, 3), change('pot', undefined, 3)] }],
    ['has a number above its head', { head: 3, changes: [change('tea', undefined, 4)] }],
    ['says that there is more, and gives nothing', { more: true }],
    ['has a huge description', { changes: [change('tea', { ...ENTRY, description: 'x'.repeat(2000) })] }],
    ['has a huge entry', { changes: [change('tea', { ...ENTRY, more: 'x'.repeat(9 * 1024 * 1024) })] }],
  ];

  it.each(FEEDS)('that %s', async (_name, fields) => {
    const hub = await scriptedHub({ tea: pageSkill('tea') });
    const machine = await hubMachine(hub);
    answering(hub, '/changes', () =>
      Array.isArray(fields) ? fields : { epoch: 'first', head: 2, more: false, changes: [], ...(fields as object) },
    );
    letAnHourPass(machine.cache);
    const { registry } = await hubMachine(hub, machine);
    await waitFor('the refusal', async () => {
      await registry.refresh();
      return problemsOf(registry).length > 0;
    });
    expect(idsOf(registry)).toEqual(['tea']);
    expect(problemsOf(registry)).toEqual([expect.stringMatching(/^error ORIGIN_REFUSED: .*last answered/)]);
  });

  it('that has no end', async () => {
    const hub = await scriptedHub();
    let seq = 0;
    answering(hub, '/changes', () => {
      seq += 1;
      const changes = [change(`s${seq % 7}`, undefined, seq)];
      return { epoch: 'first', head: seq + 1000, more: true, changes };
    });
    const { registry } = await hubMachine(hub);
    await waitFor('an end', async () => {
      await registry.refresh();
      return problemsOf(registry).some((one) => one.includes('its changes have no end'));
    });
    expect(seq).toBeLessThan(50);
    expect(idsOf(registry)).toEqual([]);
  });

  it('that begins anew with every answer', async () => {
    const hub = await scriptedHub();
    let count = 0;
    answering(hub, '/changes', () => {
      count += 1;
      return { epoch: `epoch-${count}`, head: 500, more: true, changes: [change('tea', undefined, count)] };
    });
    const { registry } = await hubMachine(hub);
    expect(problemsOf(registry)).toEqual([expect.stringMatching(/it begins anew again and again/)]);
    expect(count).toBeLessThan(10);
  });
});

it('gives a body with another digest to nobody, and asks the feed again', async () => {
  const hub = await scriptedHub({ tea: pageSkill('tea') });
  const { registry } = await hubMachine(hub);
  hub.answer = (path, response) => path.includes('artifacts') && Boolean(response.end(pageSkill('tea', 'Forged.')));
  const before = hub.asked.length;
  await expect(registry.read('tea', {}, COOK)).rejects.toMatchObject({ code: 'ORIGIN_REFUSED' });
  await waitFor('the question', () => hub.asked.slice(before).some((one) => one.includes('/changes')));
  hub.answer = undefined;
  expect((await registry.read('tea', {}, COOK)).content).toBe('MARKED tea.');
});

describe('an archive is refused', () => {
  const pot = { path: 'SKILL.md', content: pageSkill('pot') };
  const ARCHIVES: readonly (readonly [string, Buffer])[] = [
    ['that is a bomb', gzipSync(Buffer.alloc(600 * 1024 * 1024))],
    ['with a path that leads out', tarGz([pot, { path: '../evil.sh', content: 'echo' }])],
    ['without SKILL.md at its top', tarGz([{ path: 'deep/SKILL.md', content: pageSkill('pot') }])],
  ];

  it.each(ARCHIVES)('%s', async (_name, bytes) => {
    const hub = await scriptedHub({ pot: bytes, tea: pageSkill('tea') });
    const { registry, cache } = await hubMachine(hub);
    await expect(registry.read('pot', {}, COOK)).rejects.toMatchObject({ code: 'ORIGIN_REFUSED' });
    expect((await registry.read('tea', {}, COOK)).content).toBe('MARKED tea.');
    expect(textsBelow(cache)).not.toContain('evil.sh');
  });
});

it('sends its secret to the addresses of the hub alone, and keeps it nowhere', async () => {
  const hub = await scriptedHub({ tea: pageSkill('tea') });
  const other = await scriptedHub({ tea: pageSkill('tea') });
  hub.answer = (path, response) => Boolean(response.writeHead(302, { location: `${other.url}${path}` }).end());
  const { registry, cache, root } = await hubMachine(hub);
  expect(idsOf(registry)).toEqual([]);
  expect(other.asked.filter((one) => !one.endsWith(' -'))).toEqual([]);
  hub.answer = (path, response) => path.endsWith('/changes') && json(response, 200, { said: HUB_TOKEN });
  await registry.refresh();
  hub.answer = undefined;
  expect(textsBelow(state, cache, root)).not.toContain(HUB_TOKEN);
});

it('asks nothing before a person has approved that the secret goes to each of its addresses', async () => {
  const hub = await scriptedHub({ tea: pageSkill('tea') });
  const second = await scriptedHub({ tea: pageSkill('tea') });
  vi.stubEnv('XDG_CACHE_HOME', tempFolder());
  const sources = [{ hub: [hub.url, second.url], token: TOKEN }];
  const root = tempFolder({ 'data/skill_registry/config.yaml': JSON.stringify({ sources }) });
  const run = async (...args: readonly string[]) => {
    const options = { trust: false, environment: { HUB_TOKEN } };
    const { stdout } = await runCommand([...args, '--root', root], options);
    expect(stdout).not.toContain(HUB_TOKEN);
    return stdout;
  };
  const listed = async () => JSON.parse(await run('list', '--json')) as { total: number; problems: { code: string }[] };
  expect((await listed()).problems.map(({ code }) => code)).toEqual(['ROOT_NOT_APPROVED']);
  await run('approvals', 'allow');
  for (const { url } of [hub, second]) {
    const { total, problems } = await listed();
    expect([total, problems]).toEqual([0, [expect.objectContaining({ code: 'SECRET_NOT_APPROVED' })]]);
    expect([hub.asked, second.asked]).toEqual([[], []]);
    await run('approvals', 'allow', `${url}#authorization=HUB_TOKEN`);
  }
  expect(await listed()).toMatchObject({ total: 1, problems: [] });
});

it('asks nothing in a root that nobody has approved, also where a program names the hub', async () => {
  const hub = await scriptedHub({ tea: pageSkill('tea') });
  const { registry } = await hubMachine(hub, { trust: false });
  expect([idsOf(registry), hub.asked]).toEqual([[], []]);
  expect(problemsOf(registry)).toEqual([expect.stringMatching(/ROOT_NOT_APPROVED/)]);
});

it.each([
  ['an address without encryption', { hub: 'http://hub.example' }],
  ['three addresses', { hub: ['https://a.example', 'https://b.example', 'https://c.example'] }],
  ['a space that is a path', { space: '../x' }],
])('refuses %s in a config', async (_name, entry) => {
  const hub = await scriptedHub();
  const { registry } = await hubMachine(hub, { entry });
  expect(problemsOf(registry)).toEqual([expect.stringMatching(/^error CONFIG_KEY_INVALID/)]);
});

it('asks nothing of a hub without a token, and says what to write', async () => {
  const hub = await scriptedHub();
  const { registry } = await hubMachine(hub, { entry: { token: undefined } });
  expect(problemsOf(registry)).toEqual([expect.stringMatching(/SECRET_MISSING.*token: "\$\{HUB_TOKEN\}"/)]);
  expect(hub.asked).toEqual([]);
});

it('does not repeat a secret that somebody wrote into the config', async () => {
  const hub = await scriptedHub();
  const { registry } = await hubMachine(hub, { entry: { token: HUB_TOKEN } });
  expect(problemsOf(registry)).toEqual([expect.stringMatching(/CONFIG_KEY_INVALID.*\$\{NAME\}/)]);
  expect(JSON.stringify(registry.problems())).not.toContain(HUB_TOKEN);
});
