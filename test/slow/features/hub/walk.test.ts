import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hubDatabase, usePostgres } from '../../../helpers/postgres.ts';
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
  await walk(tempFolder());
});

describe('with PostgreSQL', () => {
  usePostgres();
  it('does the same', async () => {
    const { address } = await hubDatabase();
    await walk(tempFolder(), address);
  });
});

/** @param store - Where every command that names the folder of the hub keeps its data. Default: in that folder. */
async function walk(folder: string, store?: string): Promise<void> {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/hub.md'), 'utf8');
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block);
  const port = await freePort();
  const script = `set -eu
trap 'kill $! 2>/dev/null || true' EXIT
${blocks
  .join('\n')
  .replaceAll('7800', String(port))
  .replaceAll('--data "$DATA"', (data) => (store ? `${data} --store '$\{STORE}'` : data))}
kill $!
wait $! || true
`;
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/skill-registry'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, {
    mode: 0o755,
  });
  const own = { HOME: folder, XDG_STATE_HOME: join(folder, 'state'), XDG_CACHE_HOME: join(folder, 'cache') };
  const env = {
    ...process.env,
    ...own,
    PATH: `${folder}/bin:${process.env.PATH}`,
    DATA: join(folder, 'hub'),
    STORE: store,
  };
  const child = spawn('bash', ['-c', script], { cwd: folder, env });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (err += text));
  const [status] = await once(child, 'close');
  expect([status, err.replaceAll(/skh_\S+/g, '')]).toEqual([0, expect.stringContaining('The chain is whole.')]);
  expect(out).toContain('{"skill_id":"deploy","revision":1}');
  const [shown = '', proposed, approved, old] = out.split(
    /(?=^.*\\"proposal_id\\")|(?=^.*"state":"approved")|(?=^.*"revision":3)/m,
  );
  expect(shown).toMatch(/deploy .*How to deploy the shop[\s\S]*2\. Push it\./);
  expect(proposed).toContain('\\"state\\":\\"open\\"');
  expect(approved).toMatch(/"skill_id":"deploy","revision":2,"merged":false[\s\S]*2\. Test it\./);
  expect(old?.match(/2\. Push it\./g)).toHaveLength(2);
  expect(old).not.toContain('Test it');
}
