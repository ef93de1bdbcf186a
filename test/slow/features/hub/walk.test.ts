import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../../helpers/temp-folder.ts';

const MAIN = join(import.meta.dirname, '../../../../dist/cli/main.js');

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

it('does what the walk of docs/hub.md says, as it stands', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/hub.md'), 'utf8');
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block);
  const port = await freePort();
  const script = `set -eu
trap 'kill $! 2>/dev/null || true' EXIT
${blocks.join('\n').replaceAll('7800', String(port))}
kill $!
wait $! || true
`;
  const command = { content: `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, mode: 0o755 };
  const folder = tempFolder({ 'bin/skill-registry': command });
  const own = { HOME: folder, XDG_STATE_HOME: join(folder, 'state'), XDG_CACHE_HOME: join(folder, 'cache') };
  const env = { ...process.env, ...own, PATH: `${folder}/bin:${process.env.PATH}`, DATA: join(folder, 'hub') };
  const child = spawn('bash', ['-c', script], { cwd: folder, env });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (err += text));
  const [status] = await once(child, 'close');
  expect([status, err.replaceAll(/skh_\S+/g, '')]).toEqual([0, expect.stringContaining('The chain is whole.')]);
  expect(out).toContain('{"skill_id":"deploy","revision":1}');
  expect(out).toContain('2. Push it.');
  expect(out).toMatch(/"hits":\[\{"id":"deploy"/);
  expect(out).toMatch(/"state":"approved","skill_id":"deploy","revision":2,"merged":false/);
  expect(out).toMatch(/"changes":\[\{"seq":2,"id":"deploy"/);
  expect(out).toContain('{"skill_id":"deploy","revision":3}');
  expect(out.slice(out.indexOf('"revision":3'))).toContain('2. Push it.');
});
