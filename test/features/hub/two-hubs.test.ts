import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { PostgresStore } from '../../../extensions/skill_registry/features/hub/store/postgres.ts';
import { DEPLOY, type Hub, openHub, sentChange, sentId, skillText } from '../../helpers/hub.ts';
import { enter } from '../../helpers/hub-page.ts';
import { asOwner, type HubDatabase, hubDatabase, usePostgres } from '../../helpers/postgres.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { waitFor } from '../../helpers/wait-for.ts';
import { agreeOnOneStore } from './two-of-one-store.ts';

let database: HubDatabase;
let hubs: readonly [Hub, Hub];
let admin: string;

function decide(hub: Hub, token: string, proposal: { proposal_id: string; version: string }) {
  const body = { decision: 'approve', version: proposal.version };
  return hub.ask(token, 'POST', `/proposals/${proposal.proposal_id}/decide`, body);
}

async function pollOf(hub: Hub, token: string, after: number) {
  const { epoch } = (await hub.ask(token, 'GET', '/changes')).json;
  const began = performance.now();
  const answer = hub.ask(token, 'GET', `/changes?after=${after}&epoch=${epoch}&wait=50`);
  return async () => ({ ...(await answer), seconds: (performance.now() - began) / 1000 });
}

describe('two hubs on one database', () => {
  usePostgres();
  beforeEach(async () => {
    database = await hubDatabase();
    const open = async () => openHub({ store: await PostgresStore.open(database.address) });
    hubs = [await open(), await open()];
    admin = await hubs[0].token('admin', 'ada');
  });

  // A hundred are in the slow suite.
  agreeOnOneStore(15, async () => hubs);

  it('take once what is sent to both at once', async () => {
    const carol = await hubs[0].token('proposer', 'carol');
    for (let round = 0; round < 20; round++) {
      const [id, content] = [`skill-${round}`, skillText(`skill-${round}`, 'How to do it.', ['1. Do it.'])];
      const sent = { id: sentId(), skill_id: id, kind: 'create', content, justification: 'It is needed.', agent: id };
      const answers = await Promise.all(hubs.map((hub) => hub.ask(carol, 'POST', '/proposals', sent)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 201]);
      expect(answers[0]?.json.proposal_id).toBe(answers[1]?.json.proposal_id);
    }
  });

  it('apply one of two changes of one line, and make the other one stale', async () => {
    const [one, two] = hubs;
    await one.publish(admin, 'deploy', DEPLOY);
    const base = await two.digest(admin, 'deploy');
    for (let round = 0; round < 5; round++) {
      const carol = await one.token('proposer', `carol-${round}`);
      const shown = await Promise.all(
        hubs.map(async (hub, at) => {
          const sent = { ...sentChange(base), new_string: `1. Make it ${round}-${at}.` };
          const { proposal_id: id } = (await hub.ask(carol, 'POST', '/proposals', sent)).json;
          return (await hub.ask(carol, 'GET', `/proposals/${id}`)).json;
        }),
      );
      const answers = await Promise.all(shown.map((proposal, at) => decide(hubs[at] as Hub, admin, proposal)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      expect(answers.find(({ status }) => status === 409)?.json.error.code).toBe('PROPOSAL_STALE');
      const states = await Promise.all(shown.map(({ proposal_id: id }) => two.ask(admin, 'GET', `/proposals/${id}`)));
      expect(states.map(({ json }) => json.state).sort()).toEqual(['approved', 'stale']);
      await one.ask(admin, 'POST', '/skills/deploy/rollback', { revision: 1, reason: 'Again.' });
    }
  });

  it('end the open poll of a token that was revoked at the other hub, or by the command', async () => {
    const [one, two] = hubs;
    const ends = [
      (id: string) => one.store.revokeToken(id, 'person:root'),
      (id: string) =>
        runCommand(['hub', 'token', 'revoke', id, '--store', '$' + '{STORE}'], {
          environment: { STORE: database.address },
        }),
    ];
    for (const end of ends) {
      const before = new Set((await one.store.tokens()).map(({ id }) => id));
      const reader = await one.token('reader', 'bob');
      const id = (await one.store.tokens()).find((token) => !before.has(token.id))?.id ?? '';
      const polled = await pollOf(two, reader, 0);
      await end(id);
      const { json, seconds } = await polled();
      expect(json.error.code).toBe('HUB_NO_PRINCIPAL');
      // Far from the fifty that it asked for.
      expect(seconds).toBeLessThan(20);
      expect((await two.ask(reader, 'GET', '/changes')).status).toBe(401);
    }
  });

  it('see at once what the other one has made: in a poll, in a search and among the proposals', async () => {
    const [one, two] = hubs;
    expect((await two.ask(admin, 'GET', '/search?q=shop')).json.hits).toEqual([]);
    const polled = await pollOf(two, admin, 0);
    await one.publish(admin, 'deploy', DEPLOY);
    expect((await polled()).json).toMatchObject({ head: 1, changes: [{ id: 'deploy' }] });
    const found = async () => (await two.ask(admin, 'GET', '/search?q=shop')).json.hits.length === 1;
    await waitFor('the search of the other hub', found);
    const carol = await two.token('proposer', 'carol');
    const base = await two.digest(carol, 'deploy');
    await one.ask(carol, 'POST', '/proposals', sentChange(base));
    expect((await two.ask(carol, 'GET', '/proposals')).json.proposals).toHaveLength(1);
  });

  it('tell an open page of a decision at the other hub', async () => {
    const [one, two] = hubs;
    await one.publish(admin, 'deploy', DEPLOY);
    const carol = await one.token('proposer', 'carol');
    const sent = sentChange(await one.digest(carol, 'deploy'));
    const { proposal_id: id } = (await one.ask(carol, 'POST', '/proposals', sent)).json;
    const bob = await enter(two, admin);
    expect((await bob.get('/')).text).toContain(id);
    const page = await fetch(`${two.url}/events`, { headers: { cookie: bob.attributes.split(';')[0] ?? '' } });
    const counts = page.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = (await counts?.read())?.value;
    expect(first).toContain('event: count');
    await decide(one, admin, (await one.ask(carol, 'GET', `/proposals/${id}`)).json);
    expect((await counts?.read())?.value).not.toBe(first);
    await waitFor('the inbox', async () => !(await bob.get('/')).text.includes(id));
    await counts?.cancel();
  });

  it('hear of a change also when its notification is lost', async () => {
    const [one, two] = hubs;
    const polled = await pollOf(two, admin, 0);
    await asOwner(database.owner, async (sql) => {
      // As by a hub whose notifications never come.
      await sql.unsafe(`CREATE FUNCTION skill_hub.pg_notify(text, text) RETURNS void LANGUAGE sql AS ''`);
      await sql.unsafe(`ALTER DATABASE ${database.name} SET search_path = skill_hub, pg_catalog`);
    });
    const third = await PostgresStore.open(`${database.address}?search_path=skill_hub,pg_catalog`);
    const silent = await openHub({ store: third });
    await silent.publish(admin, 'deploy', DEPLOY);
    const { json, seconds } = await polled();
    expect(json).toMatchObject({ head: 1, changes: [{ id: 'deploy' }] });
    expect(seconds).toBeLessThan(20);
    expect(one.errors).toEqual([]);
  });

  it('go on when a connection ends in the middle of a write, which is not done', async () => {
    const [one] = hubs;
    await one.publish(admin, 'deploy', DEPLOY);
    // What the driver throws beside every promise ends a process.
    const thrown: unknown[] = [];
    const onThrown = (error: unknown): void => void thrown.push(error);
    process.on('uncaughtException', onThrown);
    onTestFinished(() => void process.off('uncaughtException', onThrown));
    await asOwner(database.owner, async (sql) => {
      await sql.unsafe(`BEGIN; SELECT FROM skill_hub.space WHERE name = 'team' FOR UPDATE`);
      const answer = one.publish(admin, 'deploy', DEPLOY.replace('Push', 'Ship'));
      await waitFor('a write that waits', async () => (await sql.unsafe(END_WAITING)).length > 0);
      const { status, json } = await answer;
      expect([status, json.error.code]).toEqual([503, 'STORE_UNAVAILABLE']);
      await sql.unsafe('ROLLBACK');
    });
    expect(thrown).toEqual([]);
    expect((await one.publish(admin, 'deploy', DEPLOY.replace('Push', 'Sell'))).json.revision).toBe(2);
    expect([thrown, one.errors]).toEqual([[], []]);
  });
});

// --- internal ---

const END_WAITING = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;
