import { expect, it } from 'vitest';
import { type Hub, sentId, skillText } from '../../helpers/hub.ts';

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
export function agreeOnOneStore(open: () => Promise<Hubs>): void {
  decideOnce(15, open);
}
