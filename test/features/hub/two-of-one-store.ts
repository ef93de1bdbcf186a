import { expect, it, onTestFinished, vi } from 'vitest';
import { openTrust } from '../../../lib/trust/index.ts';
import { attack } from '../../helpers/held.ts';
import { DEPLOY, type Hub, sentId, skillText } from '../../helpers/hub.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

type Hubs = readonly [Hub, Hub];

/** @param open - Both, on an empty store; the test closes them. */
export function decideOnce(count: number, open: () => Promise<Hubs>): void {
  it(`decide each of ${count} proposals once, whoever of ten approves first, at whichever hub`, async () => {
    const hubs = await open();
    const [one, two] = hubs;
    const admin = await one.token('admin', 'ada');
    const reviewers = await Promise.all(Array.from({ length: 10 }, (_, at) => one.token('reviewer', `reviewer-${at}`)));
    const ids = Array.from({ length: count }, (_, at) => `skill-${at}`);
    await Promise.all(
      ids.map(async (id, at) => {
        const content = skillText(id, `How to do ${id}.`, ['1. Do it.']);
        const sent = { id: sentId(), skill_id: id, kind: 'create', content, justification: 'It is needed.', agent: id };
        expect((await (at % 2 ? one : two).ask(admin, 'POST', '/proposals', sent)).status).toBe(201);
      }),
    );
    const all = (await two.ask(admin, 'GET', '/proposals?state=open&limit=200')).json.proposals;
    expect(all).toHaveLength(count);
    for (const { proposal_id: id, version } of all) {
      const body = { decision: 'approve', version };
      const decide = (token: string, at: number) =>
        (at % 2 ? one : two).ask(token, 'POST', `/proposals/${id}/decide`, body);
      const answers = await Promise.all(reviewers.map(decide));
      const others = answers.filter(({ status }) => status !== 200).map(({ json }) => json.error.code);
      expect(others).toEqual(Array(9).fill('PROPOSAL_DECIDED'));
    }
    const feed = (await one.ask(admin, 'GET', '/changes')).json;
    expect([feed.head, feed.changes.length]).toEqual([count, count]);
    expect((await one.store.audit()).broken).toBeUndefined();
    expect([...one.errors, ...two.errors]).toEqual([]);
  }, 300_000);
}

/** What two hubs have to do on one store. @param open - As for `decideOnce`. */
export function agreeOnOneStore(proposals: number, open: () => Promise<Hubs>): void {
  decideOnce(proposals, open);

  it('let in what was allowed at the other one, and hold it again when it is revoked there', async () => {
    vi.stubEnv('XDG_STATE_HOME', tempFolder());
    onTestFinished(() => void vi.unstubAllEnvs());
    const hubs = await open();
    const [one, two] = hubs;
    const admin = await one.token('admin', 'ada');
    await Promise.all(hubs.map((hub) => hub.registry()));
    const text = `${DEPLOY}\n${attack(7)}\n`;
    const { inspected } = (await one.publish(admin, 'deploy', text)).json.error.details;
    expect((await one.ask(admin, 'PUT', `/skills/deploy?inspected=${inspected}`, text)).status).toBe(200);
    const untilAll = (what: 'let in' | 'held') =>
      waitFor(`${what} at both`, async () => (await Promise.all(hubs.map(stateAt))).every((state) => state === what));
    await untilAll('let in');
    for (const hub of hubs) expect((await hub.ask(admin, 'GET', '/search?q=shop')).json.hits).toHaveLength(1);
    const { digest } = await (await two.registry()).admin.trustOf('deploy');
    const by = { by: 'person:ada', digest };
    await (await two.registry()).admin.decideTrust('revoke', 'deploy', by);
    await untilAll('held');
    const other = { ...by, digest: `sha256:${'0'.repeat(64)}` };
    const wrong = (await one.registry()).admin.decideTrust('allow', 'deploy', other);
    await expect(wrong).rejects.toMatchObject({ code: 'SHOWN_CHANGED' });
    await (await one.registry()).admin.decideTrust('allow', 'deploy', by);
    await untilAll('let in');
    // What comes back later is looked at anew, at whichever hub.
    expect((await one.publish(admin, 'deploy', DEPLOY)).status).toBe(200);
    const back = { revision: 1, reason: 'It is a lesson.' };
    for (const hub of hubs)
      expect((await hub.ask(admin, 'POST', '/skills/deploy/rollback', back)).json.error.code).toBe(
        'BLOCK_NOT_CONFIRMED',
      );
    expect((await two.ask(admin, 'POST', '/skills/deploy/rollback', { ...back, inspected })).status).toBe(200);
    await untilAll('let in');
    // Nothing of it is kept beside the store.
    expect(openTrust().decisions()).toEqual([]);
    expect([...one.errors, ...two.errors]).toEqual([]);
  });
}

// --- internal ---

/** Of a skill that looks like an attack. */
async function stateAt(hub: Hub): Promise<'let in' | 'held' | undefined> {
  const registry = await hub.registry();
  if ((await registry.admin.trustOf('deploy').catch(() => undefined))?.verdict !== 'block') return undefined;
  return registry.snapshot().byId.get('deploy')?.heldBecause === undefined ? 'let in' : 'held';
}
