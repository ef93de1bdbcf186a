import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PostgresStore } from '../../../extensions/skill_registry/features/hub/store/postgres.ts';
import { DEPLOY, openHub, sentId } from '../../helpers/hub.ts';
import { asOwner, type HubDatabase, hubDatabase, usePostgres } from '../../helpers/postgres.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';
import { keepsTheContract } from './store-contract.ts';

function run(address: string, ...args: readonly string[]) {
  return runCommand([...args, '--store', '$' + '{STORE}'], { environment: { STORE: address } });
}

/** The same database as another role, which has what a hub has and more. */
async function asRole({ owner, address }: HubDatabase, more: (name: string, database: string) => string) {
  const [name, { pathname, password }] = [`role_${Math.random().toString(36).slice(2)}`, new URL(address)];
  await asOwner(owner, (sql) =>
    sql.unsafe(`CREATE ROLE ${name} LOGIN PASSWORD '${password}' IN ROLE hub; ${more(name, pathname.slice(1))}`),
  );
  return address.replace('//hub:', `//${name}:`);
}

describe('PostgreSQL', () => {
  usePostgres();
  keepsTheContract(async () => PostgresStore.open((await hubDatabase()).address));

  it('refuses to serve as a role that could rewrite the audit, and serves as one that may only add', async () => {
    const database = await hubDatabase();
    const { owner } = database;
    const grants: readonly ((name: string, of: string) => string)[] = [
      (name) => `ALTER ROLE ${name} SUPERUSER`,
      (name) => `ALTER ROLE ${name} CREATEROLE`,
      (name) => `GRANT owner TO ${name}`,
      (name) => `GRANT pg_write_server_files TO ${name}`,
      (name) => `ALTER TABLE skill_hub.skill OWNER TO ${name}`,
      (name, of) => `ALTER DATABASE ${of} OWNER TO ${name}`,
      (name) => `GRANT DELETE ON skill_hub.audit TO ${name}`,
      (name) => `GRANT TRUNCATE ON skill_hub.audit TO ${name}`,
      (name) => `GRANT UPDATE (by) ON skill_hub.audit TO ${name}`,
    ];
    const rightsOf = async (address: string) => {
      const store = await PostgresStore.open(address);
      return store.assertOnlyAdds().finally(() => store.close());
    };
    for (const more of grants)
      await expect(rightsOf(await asRole(database, more)), String(more)).rejects.toMatchObject({ code: 'HUB_ROLE' });
    await rightsOf(await asRole(database, () => ''));
    await rightsOf(database.address);
    const { status, stderr } = await run(owner, 'serve', '--data', tempFolder(), '--port', '0');
    expect([status, stderr]).toEqual([1, expect.stringMatching(/HUB_ROLE.*hub migrate --role hub/)]);
  });

  it('lets the role of a hub neither change the audit nor what was decided', async () => {
    const { address } = await hubDatabase();
    const store = await PostgresStore.open(address);
    onTestFinished(() => store.close());
    await store.noteAudit({ by: 'person:ada', space: 'team', what: 'looked', subject: 'tea', details: '{}' });
    for (const table of ['audit', 'revision', 'artifact', 'proposal_event'])
      for (const sql of [`DELETE FROM ${table}`, `TRUNCATE ${table}`, `DROP TABLE ${table}`])
        await expect(asOwner(address, (all) => all.unsafe(sql.replace(table, `skill_hub.${table}`)))).rejects.toThrow();
    await expect(asOwner(address, (sql) => sql.unsafe(`UPDATE skill_hub.audit SET by = 'x'`))).rejects.toThrow();
    expect((await store.audit()).rows).toHaveLength(1);
  });

  it('shows a row of the audit that its owner has changed or taken out', async () => {
    const { address, owner } = await hubDatabase();
    const store = await PostgresStore.open(address);
    onTestFinished(() => store.close());
    const spaces = ['one', 'two', 'three', 'four'];
    const row = { by: 'person:ada', what: 'looked', subject: 'tea', details: '{}' };
    // From many connections at once, it is one chain.
    await Promise.all(spaces.flatMap((space) => Array.from({ length: 5 }, () => store.noteAudit({ ...row, space }))));
    expect([(await store.audit()).rows.length, (await store.audit()).broken]).toEqual([20, undefined]);
    await asOwner(owner, (sql) => sql.unsafe('DELETE FROM skill_hub.audit WHERE seq = 7'));
    expect((await store.audit()).broken).toBe(8);
  });

  it('migrates once, prints what it did, and is needed before anything else', async () => {
    const { name, owner, address } = await hubDatabase();
    await asOwner(owner, (sql) => sql.unsafe('DROP SCHEMA skill_hub CASCADE'));
    for (const args of [
      ['serve', '--data', tempFolder()],
      ['hub', 'audit'],
      ['hub', 'token', 'list'],
    ])
      expect((await run(address, ...args)).stderr).toContain('HUB_SCHEMA');
    const made = await run(owner, 'hub', 'migrate', '--role', 'hub');
    expect([made.status, made.stdout]).toEqual([0, expect.stringMatching(/CREATE TABLE skill_hub\.audit[\s\S]*GRANT/)]);
    expect((await run(address, 'hub', 'audit')).status).toBe(0);
    expect((await run(owner, 'hub', 'migrate')).stdout).toBe('');
    const asHub = await run(address, 'hub', 'migrate', '--role', 'hub');
    expect([asHub.status, asHub.stderr]).toEqual([2, expect.stringContaining('the role that owns the tables')]);
    await asOwner(owner, (sql) => sql.unsafe('UPDATE skill_hub.hub SET version = 99'));
    for (const args of [
      ['hub', 'audit'],
      ['hub', 'migrate'],
    ])
      expect((await run(owner, ...args)).stderr).toContain('HUB_SCHEMA');
    for (const role of ['x"; DROP TABLE audit; --', 'no_such_role'])
      expect((await run(owner, 'hub', 'migrate', '--role', role)).status).not.toBe(0);
    expect(name).toMatch(/^hub_/);
  });

  it('takes a password from the environment, and shows it in no message', async () => {
    const { address } = await hubDatabase();
    const { password } = new URL(address);
    const bare = address.replace(`:${password}@`, '@');
    const list = (store: string) => runCommand(['hub', 'token', 'list', '--store', store]);
    const given = process.env.PGPASSWORD;
    process.env.PGPASSWORD = password;
    onTestFinished(() => {
      if (given === undefined) delete process.env.PGPASSWORD;
      else process.env.PGPASSWORD = given;
    });
    expect((await list(bare)).status).toBe(0);
    process.env.PGPASSWORD = 'wrong';
    const refusals = [
      await list(bare),
      await list(address),
      await run(address.replace('127.0.0.1', '127.0.0.1:1:2'), 'hub', 'token', 'list'),
      await run(address.replace('/hub_', '/no_such_'), 'hub', 'token', 'list'),
      await run(address.replace(/:\d+\//, ':1/'), 'hub', 'token', 'list'),
      await run(address.replace('postgres:', 'mysql:'), 'hub', 'token', 'list'),
      await run('', 'hub', 'token', 'list'),
    ];
    for (const [at, { status, stderr }] of refusals.entries()) {
      expect([at, status, stderr]).toEqual([
        at,
        expect.any(Number),
        expect.stringMatching(/STORE_UNAVAILABLE|INVALID_ARG/),
      ]);
      expect(status).not.toBe(0);
      expect(stderr).not.toContain(password);
    }
  });

  it('refuses at once while the database is away, however long that is, and goes on when it is back', async () => {
    const { address } = await hubDatabase();
    const relay = await startRelay(Number(new URL(address).port));
    const store = await PostgresStore.open(address.replace(/:\d+\//, `:${relay.port}/`));
    const hub = await openHub({ store });
    const reader = await hub.token('reader', 'ada');
    relay.stop();
    let refused = 0;
    const asking = async (): Promise<void> => {
      for (; refused < 40; refused++)
        expect((await hub.ask(reader, 'GET', '/changes')).json.error.code).toBe('STORE_UNAVAILABLE');
    };
    // After eight connections that failed, the driver would wait 10 to 20 seconds with each.
    await Promise.all([asking(), waitFor('refusals', () => refused === 40, 10_000)]);
    await relay.start();
    expect((await hub.ask(reader, 'GET', '/changes')).status).toBe(200);
  });

  it('is away while the server only reads, as a copy of it does', async () => {
    const { address, name, owner } = await hubDatabase();
    const hub = await openHub({ store: await PostgresStore.open(address) });
    const carol = await hub.token('proposer', 'carol');
    await asOwner(owner, async (sql) => {
      await sql.unsafe(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name} AND usename = 'hub'`;
    });
    const sent = { id: sentId(), skill_id: 'deploy', kind: 'create', content: DEPLOY, justification: 'Why.' };
    // The first ones find connections that have ended.
    await waitFor('a refusal', async () => (await hub.ask(carol, 'POST', '/proposals', sent)).status !== 401);
    const { status, json } = await hub.ask(carol, 'POST', '/proposals', sent);
    expect([status, json.error.code]).toEqual([503, 'STORE_UNAVAILABLE']);
    expect(hub.errors).toEqual([]);
  });

  it('answers what has a NUL as a wrong argument', async () => {
    const hub = await openHub({ store: await PostgresStore.open((await hubDatabase()).address) });
    const admin = await hub.token('admin', 'ada');
    const { status, json } = await hub.ask(admin, 'GET', '/proposals?skill_id=%00');
    expect([status, json.error.code]).toEqual([400, 'INVALID_ARGUMENT']);
    expect(hub.errors).toEqual([]);
  });
});

/** A port that leads to this one, until it is stopped. */
async function startRelay(to: number) {
  const open = new Set<Socket>();
  const server = createServer((from) => {
    const there = connect(to, '127.0.0.1');
    for (const [one, other] of [
      [from, there],
      [there, from],
    ] as const)
      open.add(one.on('error', () => other.destroy()).pipe(other));
  });
  const start = (port = 0) => once(server.listen(port, '127.0.0.1'), 'listening');
  await start();
  const { port } = server.address() as AddressInfo;
  const stop = (): void => {
    server.close();
    for (const one of open) one.destroy();
  };
  onTestFinished(stop);
  return { port, stop, start: () => start(port) };
}

it('says what to install where the driver of PostgreSQL is missing, and does nothing', async () => {
  vi.doMock('postgres', () => {
    throw new Error("Cannot find package 'postgres'");
  });
  onTestFinished(() => void vi.doUnmock('postgres'));
  for (const args of [
    ['serve', '--data', tempFolder(), '--port', '0'],
    ['hub', 'migrate'],
    ['hub', 'audit'],
  ]) {
    const { status, stdout, stderr } = await run('postgres://hub@127.0.0.1:1/skills', ...args);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/STORE_UNAVAILABLE.*npm install postgres@3/);
  }
});
