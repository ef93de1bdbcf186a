import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PostgresStore } from '../../../../extensions/skill_registry/features/hub/store/postgres.ts';
import { decideOnce } from '../../../features/hub/two-of-one-store.ts';
import { openHub } from '../../../helpers/hub.ts';
import { HubFleet } from '../../../helpers/hub-fleet.ts';
import { asOwner, hubDatabase, postgresCluster, usePostgres } from '../../../helpers/postgres.ts';
import { seededRandom } from '../../../helpers/seeded-random.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

/** More of both is the long form (npm run campaign -- hubs). */
const ROUNDS = Number(process.env.HUB_ROUNDS ?? 1);
const MACHINES = Number(process.env.HUB_MACHINES ?? 2);
const FLEET = { followers: 2 * MACHINES, machines: MACHINES };

async function startFleet(): Promise<HubFleet> {
  return HubFleet.start(await hubDatabase(), FLEET);
}

function readyz(fleet: HubFleet): Promise<readonly number[]> {
  return Promise.all([0, 1].map(async (at) => (await fleet.ask(at, 'GET', '//readyz')).status));
}

async function untilReady(fleet: HubFleet): Promise<void> {
  await waitFor('both hubs', async () => String(await readyz(fleet).catch(() => '')) === '200,200');
}

describe('two hubs as processes', () => {
  usePostgres();

  it('lose nothing that was answered when one of them is killed, and nobody misses a number', async () => {
    const fleet = await startFleet();
    const random = seededRandom(7);
    await fleet.startClients();
    for (let round = 0; round < 3 * ROUNDS; round++) {
      await fleet.untilMore(5 + Math.floor(random() * 10));
      const killed = fleet.hubs[round % 2];
      killed?.child.kill('SIGKILL');
      await killed?.exited;
      await fleet.untilMore(10);
      await fleet.startHub(round % 2);
    }
    await fleet.untilMore(10);
    await fleet.check();
  });

  it('are not ready while the database is away, and go on without a restart', async () => {
    const fleet = await startFleet();
    const cluster = await postgresCluster();
    await fleet.startClients();
    for (let round = 0; round < ROUNDS; round++) {
      await fleet.untilMore(10);
      await cluster.stop('QUIT');
      const stoppedAt = performance.now();
      await waitFor('three seconds', async () => {
        expect(await readyz(fleet)).toEqual([503, 503]);
        return performance.now() - stoppedAt > 3000;
      });
      const polled = await fleet.ask(round % 2, 'GET', '/changes?after=100000&wait=20');
      expect([polled.status, polled.json.error?.code]).toEqual([503, 'STORE_UNAVAILABLE']);
      await cluster.start();
      await untilReady(fleet);
      await fleet.untilMore(10);
    }
    expect(fleet.hubs.map(({ child }) => child.exitCode)).toEqual([null, null]);
    await fleet.check();
  });

  it('do not wait for one that is frozen in the middle of a write, and what it does later is there once', async () => {
    const fleet = await startFleet();
    const frozen = fleet.hubs[0]?.child;
    await fleet.startClients();
    for (let round = 0; round < ROUNDS; round++) {
      await waitFor('a hub that is frozen in a transaction', async () => {
        await fleet.untilMore(1);
        frozen?.kill('SIGSTOP');
        // The other one does not stay in a transaction.
        const held = () => asOwner(fleet.database.owner, (sql) => sql.unsafe(HELD));
        const isHeld = await waitFor('', async () => (await held()).length > 0, 1500).catch(() => false);
        if (!isHeld) frozen?.kill('SIGCONT');
        return isHeld;
      });
      const startedAt = performance.now();
      expect((await fleet.publish(1, `put-${round}`, 'While one is frozen.')).status).toBe(200);
      // Five seconds of the database, on a busy machine; a lock is waited for up to fifteen.
      expect(performance.now() - startedAt).toBeLessThan(10_000);
      fleet.answered.push(`put-${round}`);
      await fleet.untilMore(10);
      // A poll at the frozen hub is given up after 35 seconds.
      if (ROUNDS > 1)
        await waitFor('machines', () => fleet.machines.every((one) => one.snapshot().byId.has(`put-${round}`)), 90_000);
      frozen?.kill('SIGCONT');
      await untilReady(fleet);
      await fleet.untilMore(10);
    }
    await fleet.check();
  });

  it('have what a backup has after it was put back, and so have connected machines', async () => {
    const fleet = await startFleet();
    const { binaries } = await postgresCluster();
    const run = (program: string, ...args: readonly string[]) =>
      execFileSync(join(binaries, program), args, { stdio: ['ignore', 'ignore', 'pipe'] });
    await fleet.publish(0, 'plain', 'Of the backup.');
    await fleet.publish(1, 'gone', 'Withdrawn later.');
    const copy = join(tempFolder(), 'copy');
    run('pg_dump', '-Fc', '-n', 'skill_hub', '-f', copy, '-d', fleet.database.owner);
    /** The first time with hubs that run, the second time into another database. */
    for (const restore of [
      async () => run('pg_restore', '--clean', '--if-exists', '-d', fleet.database.owner, copy),
      async () => {
        for (const { child, exited } of fleet.hubs) {
          child.kill('SIGTERM');
          await exited;
        }
        fleet.database = await hubDatabase();
        run('pg_restore', '--clean', '--if-exists', '-d', fleet.database.owner, copy);
        await Promise.all([fleet.startHub(0), fleet.startHub(1)]);
      },
    ]) {
      await fleet.publish(0, 'later', 'It is lost.');
      await fleet.publish(1, 'plain', 'It is lost.');
      await fleet.ask(0, 'DELETE', '/skills/gone');
      await fleet.untilAllHave(['first', 'later', 'plain']);
      const epochs = fleet.followers.map((one) => one.epochs.at(-1));
      await restore();
      await untilReady(fleet);
      await fleet.untilAllHave(['first', 'gone', 'plain']);
      for (const [at, one] of fleet.followers.entries()) expect(one.epochs.at(-1)).not.toBe(epochs[at]);
      for (const registry of fleet.machines)
        expect((await registry.read('plain', {}, {})).content).toContain('Of the backup.');
      for (const at of [0, 1]) {
        const hits = async (query: string) => (await fleet.ask(at, 'GET', `/search?q=${query}`)).json.hits.length;
        await waitFor('the search of each hub', async () => (await hits('backup')) === 1 && (await hits('lost')) === 0);
      }
    }
    expect(fleet.faults).toEqual([]);
  });
});

describe('two hubs on PostgreSQL', () => {
  usePostgres();
  decideOnce(100, async () => {
    const { address } = await hubDatabase();
    const open = async () => openHub({ store: await PostgresStore.open(address) });
    return [await open(), await open()];
  });
});

/** A transaction that nobody goes on with. */
const HELD = `SELECT FROM pg_stat_activity WHERE application_name = 'skill-registry'
  AND state = 'idle in transaction' AND state_change < now() - interval '1 second'`;
