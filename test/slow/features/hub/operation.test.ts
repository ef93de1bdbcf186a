import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DEPLOY, openHub, skillText } from '../../../helpers/hub.ts';
import { hubMachine } from '../../../helpers/hub-machine.ts';
import { enter } from '../../../helpers/hub-page.ts';
import { runCommand, startCommand } from '../../../helpers/run-command.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

const EXAMPLES = join(import.meta.dirname, '../../../../examples/hub');

async function tokenIn(data: string, role: string): Promise<string> {
  const args = ['hub', 'token', 'add', '--data', data, '--space', 'team', '--role', role, '--person', 'ada'];
  return (await runCommand(args)).stdout.trim();
}

it('prints a line of JSON for what an operator asks about, without secrets, texts and queries, and stops under open polls', async () => {
  const data = tempFolder();
  const admin = await tokenIn(data, 'admin');
  const hub = startCommand(['serve', '--data', data, '--port', '0']);
  await hub.until('http://');
  const space = `${hub.stdout().trim()}/v1/spaces/team`;
  const ask = (token: string, path: string, more: RequestInit = {}) =>
    fetch(space + path, { ...more, headers: { authorization: `Bearer ${token}`, 'content-type': 'text/markdown' } });
  expect((await ask(admin, '/skills/deploy', { method: 'PUT', body: DEPLOY })).status).toBe(200);
  expect((await ask(admin, '/skills/deploy', { method: 'PUT', body: DEPLOY })).status).toBe(409);
  const wrong = `skh_${'a'.repeat(43)}`;
  expect((await ask(wrong, '/search?q=words-of-a-query')).status).toBe(401);
  expect((await ask(admin, '/search?q=words-of-a-query')).status).toBe(200);
  expect((await ask(admin, '/policy')).status).toBe(404);
  const page = await enter({ url: hub.stdout().trim() }, admin);
  expect((await page.post('/skills/deploy/trust', { csrf: 'x' })).status).toBe(403);
  const { head, epoch } = (await (await ask(admin, '/changes')).json()) as { head: number; epoch: string };
  const polls = Array.from({ length: 8 }, () => ask(admin, `/changes?after=${head}&epoch=${epoch}&wait=50`));
  // The ninth is refused, so eight are open.
  await waitFor('open polls', async () => (await ask(admin, `/changes?after=${head}&wait=1`)).status === 429);
  const stoppedAt = performance.now();
  hub.child.kill('SIGTERM');
  expect(await hub.exited).toBe(0);
  expect(performance.now() - stoppedAt).toBeLessThan(10_000);
  for (const poll of polls) expect((await poll).status).toBe(200);
  const text = hub.stderr();
  for (const hidden of [admin, wrong, 'words-of-a-query', 'Push it.']) expect(text).not.toContain(hidden);
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const by = { person: 'person:ada', principal: expect.any(String), space: 'team', ms: expect.any(Number) };
  const put = { event: 'request', method: 'PUT', route: '/v1/spaces/:space/skills/:id', subject: 'deploy', ...by };
  const get = { event: 'request', method: 'GET', space: 'team', ms: expect.any(Number) };
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(lines.filter(({ status }) => status !== 429)).toEqual([
    { time, event: 'start', url: hub.stdout().trim(), four_eyes: false },
    { time, ...put, status: 200 },
    { time, ...put, status: 409, code: 'PROPOSAL_NO_CHANGE' },
    { time, ...get, route: '/v1/spaces/:space/search', status: 401, code: 'HUB_NO_PRINCIPAL' },
    { time, event: 'request', method: 'POST', route: '/*', status: 303, ms: expect.any(Number) },
    { time, event: 'request', method: 'POST', route: '/*', subject: 'deploy', ...by, status: 403 },
    { time, event: 'stop', signal: 'SIGTERM' },
  ]);
}, 60_000);

it('puts a backup back under connected machines: each reads what is published, and none is empty meanwhile', async () => {
  const first = await openHub();
  const admin = await first.token('admin', 'ada');
  const secret = await first.token('reader', 'bob');
  await first.publish(admin, 'deploy', DEPLOY);
  await first.publish(admin, 'plain', skillText('plain', 'Plain.', ['Of the backup.']));
  const machines = [
    await hubMachine(first, { watches: true, secret }),
    await hubMachine(first, { watches: true, secret }),
  ];
  const idsOf = ({ registry }: (typeof machines)[number]) => registry.snapshot().skills.map(({ id }) => id);
  const all = (wanted: readonly string[]) =>
    waitFor(`${wanted} at all machines`, () => machines.every((one) => String(idsOf(one)) === String(wanted)), 30_000);
  await all(['deploy', 'plain']);
  let isEmpty = false;
  const looking = setInterval(() => (isEmpty ||= machines.some((one) => idsOf(one).length === 0)), 5);
  onTestFinished(() => clearInterval(looking));
  const hub = (...args: readonly string[]) => runCommand(['hub', ...args, '--data', first.folder]);
  const copy = join(tempFolder(), 'copy.db');
  expect((await hub('backup', copy)).status).toBe(0);
  await first.publish(admin, 'later', skillText('later', 'Later.', ['It is lost.']));
  await first.publish(admin, 'plain', skillText('plain', 'Plain.', ['It is lost.']));
  await all(['deploy', 'later', 'plain']);
  await first.close();
  expect((await hub('restore', copy)).status).toBe(0);
  const port = Number(new URL(first.url).port);
  const again = await openHub({ folder: first.folder, port });
  const text = skillText('new', 'New.', ['After the restore.']);
  // A connection to the hub before may be taken once more.
  await waitFor(
    'the hub',
    async () => (await again.publish(admin, 'new', text).catch(() => undefined))?.status === 200,
  );
  await all(['deploy', 'new', 'plain']);
  for (const { registry } of machines) {
    expect((await registry.read('plain', {}, {})).content).toContain('Of the backup.');
    expect((await registry.read('new', {}, {})).content).toContain('After the restore.');
  }
  expect(isEmpty).toBe(false);
}, 120_000);

it('is served with TLS by the Caddyfile of the examples', async ({ skip }) => {
  const isThere = spawnSync('caddy', ['version']).status === 0;
  if (!isThere && process.env.SKILL_CADDY === 'required') throw new Error('caddy is not installed here');
  skip(!isThere, 'caddy is not installed here: apt-get install caddy');
  const hub = await openHub();
  const admin = await hub.token('admin', 'ada');
  await hub.publish(admin, 'deploy', DEPLOY);
  const [port, home] = [await freePort(), tempFolder()];
  // No certificate authority of this machine is changed, and no other port is opened.
  const options = '{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n';
  const caddyfile = readFileSync(join(EXAMPLES, 'Caddyfile'), 'utf8')
    .replace('hub.example.com {', `https://hub.example.com:${port} {\n\ttls internal\n\tbind 127.0.0.1`)
    .replace('127.0.0.1:7800', new URL(hub.url).host);
  writeFileSync(join(home, 'Caddyfile'), options + caddyfile);
  const environment = { ...process.env, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home, HOME: home };
  const caddy = spawn('caddy', ['run', '--config', join(home, 'Caddyfile')], { env: environment, stdio: 'ignore' });
  onTestFinished(() => void caddy.kill());
  const authority = join(home, 'caddy/pki/authorities/local/root.crt');
  await waitFor('its certificate', () => existsSync(authority), 30_000);
  const ask = (path: string, token: string) => askOverTls(port, authority, path, token);
  await waitFor('caddy', async () => (await ask('/healthz', '')).status === 200, 30_000);
  const { epoch, head } = JSON.parse((await ask('/v1/spaces/team/changes', admin)).text);
  expect((await ask('/v1/spaces/team/changes', 'wrong')).status).toBe(401);
  const poll = ask(`/v1/spaces/team/changes?after=${head}&epoch=${epoch}&wait=20`, admin);
  await hub.publish(admin, 'deploy', DEPLOY.replace('2. Push it.', '2. Ship it.'));
  expect(JSON.parse((await poll).text).changes).toMatchObject([{ id: 'deploy', entry: { revision: 2 } }]);
}, 90_000);

it('has a unit that systemd takes', ({ skip }) => {
  expect(readFileSync(join(EXAMPLES, 'skill-hub.service'), 'utf8')).toMatch(/^RestartSec=5$/m);
  skip(spawnSync('systemd-analyze', ['--version']).status !== 0, 'systemd-analyze is not installed here');
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', join(EXAMPLES, 'skill-hub.service')], {
    encoding: 'utf8',
  });
  const ours = stderr.split('\n').filter((line) => line.includes('skill-hub'));
  expect([status, ours]).toEqual([0, []]);
});

// --- internal ---

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** By the name of the site, with its certificate checked. Status 0: nothing answers yet. */
function askOverTls(port: number, authority: string, path: string, token: string) {
  const host = 'hub.example.com';
  return new Promise<{ status: number; text: string }>((resolve) => {
    const headers = { host: `${host}:${port}`, authorization: `Bearer ${token}` };
    const options = { host: '127.0.0.1', port, servername: host, path, headers, ca: readFileSync(authority) };
    const asked = request(options, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode ?? 0, text });
    });
    asked.on('error', () => resolve({ status: 0, text: '' })).end();
  });
}
