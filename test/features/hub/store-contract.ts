import { expect, it } from 'vitest';
import type {
  HubChange,
  HubName,
  HubStore,
  NewHubProposal,
} from '../../../extensions/skill_registry/features/hub/store/hub-store.ts';
import { digestOf } from '../../../lib/digest/index.ts';

/** What every engine of the store has to do. @param open - An empty store; it is closed by the test. */
export function keepsTheContract(open: () => Promise<HubStore>): void {
  const withStore = (title: string, test: (store: HubStore) => Promise<void>): void =>
    it(title, async () => {
      const store = await open();
      try {
        await test(store);
      } finally {
        await store.close();
      }
    });

  withStore('numbers the changes of each space by itself, and has each skill once', async (store) => {
    expect(await store.state('team')).toMatchObject({ head: 0 });
    expect(await store.commit('team', change('tea', 'one', 0))).toBe(1);
    expect(await store.commit('team', change('jam', 'one', 0))).toBe(1);
    expect(await store.commit('team', change('tea', 'two', 1))).toBe(2);
    expect(await store.commit('other', change('tea', 'three', 0))).toBe(1);
    expect((await store.changes('team', 0, 10)).map(({ seq, id }) => [seq, id])).toEqual([
      [2, 'jam'],
      [3, 'tea'],
    ]);
    expect((await store.changes('team', 2, 10)).map(({ entry }) => entry?.revision)).toEqual([2]);
    expect((await store.changes('team', 0, 1)).map(({ id }) => id)).toEqual(['jam']);
    expect((await store.state('team')).head).toBe(3);
    expect((await store.state('other')).head).toBe(1);
  });

  withStore('gives contents with the changes, of large ones only some', async (store) => {
    const large = { ...change('jam', 'two', 0), artifact: artifact('jam', 'two', 8 * 1024 * 1024) };
    await store.commit('team', change('tea', 'one', 0));
    await store.commit('team', large);
    await store.commit('team', { ...change('gone', '', 0), kind: 'removed', artifact: null });
    const read = async (after: number, limit: number) =>
      (await store.contents('team', after, limit)).map(({ seq, id, entry, bytes }) => [
        seq,
        id,
        entry?.description,
        bytes?.toString(),
      ]);
    expect(await read(0, 10)).toEqual([
      [1, 'tea', 'one', 'one'],
      [2, 'jam', 'two', 'two'],
    ]);
    expect(await read(1, 10)).toEqual([[2, 'jam', 'two', 'two']]);
    expect(await read(2, 10)).toEqual([[3, 'gone', undefined, undefined]]);
    expect(await read(0, 1)).toEqual([[1, 'tea', 'one', 'one']]);
    expect(await store.contents('other', 0, 10)).toEqual([]);
  });

  withStore('gives no number twice, and none late, to many who commit at once', async (store) => {
    const ids = Array.from({ length: 40 }, (_, at) => `skill-${at}`);
    let seen = 0;
    const read: string[] = [];
    const reading = (async () => {
      while (read.length < ids.length) {
        for (const { seq, id } of await store.changes('team', seen, 5)) {
          expect(seq).toBeGreaterThan(seen);
          seen = seq;
          read.push(id);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    await Promise.all(ids.map((id) => store.commit('team', change(id, id, 0))));
    await reading;
    expect([...read].sort()).toEqual([...ids].sort());
  });

  withStore('makes a revision only after the one that its caller has seen', async (store) => {
    expect(await store.commit('team', change('tea', 'one', 0))).toBe(1);
    expect(await store.commit('team', change('tea', 'two', 0))).toBeUndefined();
    expect(await store.commit('team', change('tea', 'two', 2))).toBeUndefined();
    expect((await store.revisions('team', 'tea')).map(({ number }) => number)).toEqual([1]);
    expect((await store.state('team')).head).toBe(1);
  });

  withStore('gives an artifact to its own space, and after a change only by its skill', async (store) => {
    const first = digestOf('one');
    await store.commit('team', change('tea', 'one', 0));
    expect((await store.artifact('team', first, 'present'))?.bytes.toString()).toBe('one');
    expect(await store.artifact('other', first, 'present')).toBeUndefined();
    await store.commit('team', change('tea', 'two', 1));
    expect(await store.artifact('team', first, 'present')).toBeUndefined();
    expect((await store.artifact('team', first, { skillId: 'tea' }))?.type).toBe('skill-md');
    expect(await store.artifact('team', first, { skillId: 'jam' })).toBeUndefined();
    expect(await store.artifact('other', first, { skillId: 'tea' })).toBeUndefined();
  });

  withStore('keeps a withdrawn skill in the feed, without an entry', async (store) => {
    await store.commit('team', change('tea', 'one', 0));
    expect(await store.commit('team', { ...change('tea', 'one', 1), kind: 'removed', artifact: null })).toBe(2);
    expect(await store.changes('team', 1, 10)).toEqual([{ seq: 2, id: 'tea', entry: null }]);
    expect(await store.artifact('team', digestOf('one'), 'present')).toBeUndefined();
    expect((await store.revisions('team', 'tea')).map(({ digest }) => digest)).toEqual([digestOf('one'), null]);
  });

  withStore('takes what a person sends twice under one id once, and from two persons twice', async (store) => {
    expect(await store.addProposal('team', proposal('a', 'person:ada', 'sent'))).toBeUndefined();
    expect((await store.addProposal('team', proposal('b', 'person:ada', 'sent')))?.id).toBe('a');
    expect(await store.addProposal('team', proposal('c', 'person:bob', 'sent'))).toBeUndefined();
    expect(await store.addProposal('other', proposal('d', 'person:ada', 'sent'))).toBeUndefined();
    expect((await store.proposals('team', {})).map(({ id }) => id)).toEqual(['c', 'a']);
    expect(await store.proposal('other', 'a')).toBeUndefined();
  });

  withStore('decides a proposal once, together with its revision or not at all', async (store) => {
    await store.commit('team', change('tea', 'one', 0));
    await store.addProposal('team', proposal('a', 'person:ada', 'sent'));
    const decided = { id: 'a', edition: 1, merged: true };
    expect(await store.commit('team', { ...change('tea', 'two', 0), proposal: decided })).toBeUndefined();
    expect((await store.proposal('team', 'a'))?.state).toBe('open');
    const approved = { ...change('tea', 'two', 1), proposal: decided };
    const all = await Promise.all([store.commit('team', approved), store.commit('team', approved)]);
    expect(all.filter((number) => number !== undefined)).toEqual([2]);
    expect(await store.proposal('team', 'a')).toMatchObject({
      state: 'approved',
      revision: 2,
      decided_by: 'person:eve',
    });
    const event = { kind: 'rejected', by: 'person:bob', content: {} } as const;
    expect(await store.note('team', { id: 'a', edition: 2 }, { state: 'rejected' }, event)).toBe(false);
    expect((await store.events('team', 'a')).map(({ kind }) => kind)).toEqual(['created', 'approved', 'merged']);
  });

  withStore('changes nothing of a proposal whose edition is another one', async (store) => {
    await store.addProposal('team', proposal('a', 'person:ada', 'sent'));
    const event = { kind: 'edited', by: 'person:bob', content: {} } as const;
    expect(await store.note('team', { id: 'a', edition: 1 }, { editors: ['person:bob'] }, event)).toBe(true);
    expect(await store.note('team', { id: 'a', edition: 1 }, { state: 'rejected' }, event)).toBe(false);
    expect(await store.note('other', { id: 'a', edition: 2 }, { state: 'rejected' }, event)).toBe(false);
    expect(await store.proposal('team', 'a')).toMatchObject({ state: 'open', edition: 2, editors: ['person:bob'] });
  });

  withStore('knows a token by its digest until it is revoked or over', async (store) => {
    const token = { space: 'team', role: 'reader', person: 'person:ada', created_by: 'person:root' } as const;
    await store.addToken({ ...token, id: 'a', expires: null }, 'hash-a');
    await store.addToken({ ...token, id: 'b', expires: '2020-01-01T00:00:00.000Z' }, 'hash-b');
    expect((await store.tokenOf('hash-a'))?.id).toBe('a');
    expect(await store.tokenOf('hash-b')).toBeUndefined();
    expect(await store.tokenOf('hash-c')).toBeUndefined();
    expect(await store.revokeToken('a', 'person:root')).toBe(true);
    expect(await store.revokeToken('a', 'person:root')).toBe(false);
    expect(await store.tokenOf('hash-a')).toBeUndefined();
    expect((await store.tokens()).map(({ id, last_use: used }) => [id, used !== null])).toEqual([
      ['a', true],
      ['b', false],
    ]);
  });

  withStore('has people with roles until they are removed from all spaces', async (store) => {
    const [ada, bob] = [name('ada'), name('bob')];
    await store.addPerson({ ...ada, space: 'team', role: 'reader' }, 'person:root');
    await store.addPerson({ ...ada, space: 'ops', role: 'admin' }, 'person:root');
    await store.addPerson({ ...ada, space: 'team', role: 'reviewer' }, 'person:root');
    await store.addPerson({ ...bob, space: 'team', role: 'reader' }, 'person:root');
    const roles = async (key?: string) =>
      (await store.people(key)).map(({ person, space, role }) => [person, space, role]);
    const ofAda = [
      ['person:ada', 'ops', 'admin'],
      ['person:ada', 'team', 'reviewer'],
    ];
    expect(await roles(ada.key)).toEqual(ofAda);
    expect(await roles()).toEqual([...ofAda, ['person:bob', 'team', 'reader']]);
    await store.removePerson(ada, 'person:root');
    await store.removePerson(ada, 'person:root');
    expect(await roles(ada.key)).toEqual([['person:ada', '', null]]);
    await store.addPerson({ ...ada, space: 'team', role: 'reader' }, 'person:root');
    expect(await roles(ada.key)).toEqual([['person:ada', 'team', 'reader']]);
    expect((await store.audit()).rows.map(({ what }) => what)).toEqual([
      ...Array.from({ length: 4 }, () => 'person add'),
      ...['person remove', 'person remove', 'person add'],
    ]);
  });

  withStore('knows an account by the name that it had first, and gives no name to a second account', async (store) => {
    const [ada, eve] = [name('ada'), name('eve')];
    expect(await store.nameAccount('provider 1', ada)).toBe('person:ada');
    expect(await store.nameAccount('provider 1', eve)).toBe('person:ada');
    expect(await store.nameAccount('provider 2', { ...ada, person: 'person:Ada' })).toBeUndefined();
    expect(await store.nameAccount('provider 2', eve)).toBe('person:eve');
    // Removed, the name stays that of its account; added again, it is free.
    await store.removePerson(ada, 'person:root');
    expect(await store.nameAccount('provider 3', ada)).toBeUndefined();
    await store.addPerson({ ...ada, space: 'team', role: 'reader' }, 'person:root');
    expect(await store.nameAccount('provider 3', ada)).toBe('person:ada');
    expect((await store.audit()).rows.filter(({ what }) => what === 'account')).toHaveLength(3);
  });

  withStore('tells of each change when it is made, and not of what was not', async (store) => {
    const told: string[] = [];
    const stop = store.onChange((space) => told.push(space));
    await store.commit('team', change('tea', 'one', 0));
    await store.commit('team', change('tea', 'two', 0));
    await store.addProposal('other', proposal('a', 'person:ada', 'sent'));
    stop();
    await store.commit('team', change('tea', 'two', 1));
    expect(told).toEqual(['team', 'other']);
  });

  withStore('writes down what was done, in a chain', async (store) => {
    await store.commit('team', change('tea', 'one', 0));
    await store.noteAudit({ by: 'person:ada', space: 'team', what: 'looked', subject: 'tea', details: '{}' });
    const { rows, broken } = await store.audit();
    expect(broken).toBeUndefined();
    expect(rows.map(({ what, by }) => [what, by])).toEqual([
      ['published', 'person:eve'],
      ['looked', 'person:ada'],
    ]);
  });

  withStore('counts a batch of usage once for each person, and forgets what is old', async (store) => {
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    const count = { day: day(1), skill_id: 'tea', agent: 'cook', loads: 2, refused: 1 };
    const batch = { id: 'batch-1', person: 'person:ada', machine: 'm1', counts: [count, { ...count, day: day(0) }] };
    expect(await store.addUsage('team', batch)).toBe(true);
    expect(await store.addUsage('team', batch)).toBe(false);
    expect(await store.addUsage('team', { ...batch, person: 'person:bob', machine: 'm2' })).toBe(true);
    expect(await store.addUsage('other', batch)).toBe(true);
    const { agent: _, ...without } = count;
    const counts = [without, without, { ...count, skill_id: 'jam' }];
    expect(await store.addUsage('team', { ...batch, id: 'batch-2', counts })).toBe(true);
    expect(await store.usage('team', day(1))).toEqual([
      { skill_id: 'tea', agent: 'cook', loads: 8, refused: 4, machines: 2, last_day: day(0) },
      { skill_id: 'tea', agent: '', loads: 4, refused: 2, machines: 1, last_day: day(1) },
      { skill_id: 'jam', agent: 'cook', loads: 2, refused: 1, machines: 1, last_day: day(1) },
    ]);
    expect((await store.usage('team', day(0))).map(({ loads }) => loads)).toEqual([4]);
    await store.addUsage('team', { ...batch, id: 'batch-3', counts: [{ ...count, day: day(91), loads: 50 }] });
    await store.addUsage('team', { ...batch, id: 'batch-4', counts: [] });
    expect((await store.usage('team', day(99)))[0]?.loads).toBe(8);
    const many = Array.from({ length: 5 }, () => store.addUsage('team', { ...batch, id: 'batch-5', machine: 'm3' }));
    expect((await Promise.all(many)).filter((isNew) => isNew)).toHaveLength(1);
    expect((await store.usage('team', day(1)))[0]).toMatchObject({ loads: 12, machines: 3 });
  });

  withStore('has another epoch when it is renewed, and else the same', async (store) => {
    const { epoch } = await store.state('team');
    expect((await store.state('other')).epoch).toBe(epoch);
    await store.renewEpoch();
    expect((await store.state('team')).epoch).not.toBe(epoch);
  });
}

// --- internal ---

function name(of: string): HubName {
  return { key: `person:${of}`, person: `person:${of}` };
}

function artifact(id: string, text: string, size = text.length) {
  const entry = { id, description: text, type: 'skill-md', digest: digestOf(text), size } as const;
  return { entry, bytes: Buffer.from(text) };
}

function change(id: string, text: string, after: number): HubChange {
  const by = 'person:eve';
  return { skillId: id, kind: 'published', by, reason: null, persons: [by], after, artifact: artifact(id, text) };
}

function proposal(id: string, person: string, sentBefore: string): NewHubProposal {
  return {
    ...{ id, state: 'open', kind: 'update', skill_id: 'tea', place: 'tea', source: 'team', path: 'SKILL.md' },
    ...{ base: null, proposed: null, diff: '', checks: '[]', justification: 'Why.', evidence: null, model: null },
    ...{ author: person, person, created: '2026-01-01T00:00:00.000Z', sent_id: sentBefore, sent_digest: 'x' },
    ...{ conflict: null, decided_by: null, decided_at: null, decision_reason: null, revision: null },
    ...{ base_bytes: null, new_bytes: Buffer.from('text'), editors: [] },
  } as NewHubProposal;
}
