import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../extensions/skill_registry/core/config/config-keys.ts';
import { spaceSource } from '../../../extensions/skill_registry/features/hub/serve/space-source.ts';
import { openHub, skillText } from '../../helpers/hub.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const scanOf = (source: ReturnType<typeof spaceSource>) => source.scan(DEFAULT_LIMITS);

it('tells which skills of a space have changed, and reads no other one again', async () => {
  const hub = await openHub();
  const admin = await hub.token('admin', 'ada');
  const put = (id: string, description: string) => hub.publish(admin, id, skillText(id, description, ['1. Do it.']));
  for (const id of ['a', 'b', 'c']) await put(id, 'How to do it.');
  const source = spaceSource(hub.store, 'team');
  const told: (readonly string[] | undefined)[] = [];
  const end = source.subscribe?.((ids) => told.push(ids));
  const [a, b, c] = (await scanOf(source)).skills;
  const same = await scanOf(source);
  expect([(await scanOf(source)) === same, same.skills[0] === a]).toEqual([true, true]);

  await put('b', 'How to do it better.');
  await waitFor('the change', () => told.length > 0);
  expect(told).toEqual([['team:b']]);
  if (!a || !b || !c) throw new Error('three skills');
  const read = source.rescan?.(b, DEFAULT_LIMITS);
  expect(read?.skill.description).toBe('How to do it better.');
  expect(read?.scan.skills).toEqual([a, read?.skill, c]);
  expect(await scanOf(source)).toBe(read?.scan);
  expect(source.rescan?.(a, DEFAULT_LIMITS)).toBeUndefined();

  await put('d', 'How to do more.');
  await waitFor('the new one', () => told.length > 1);
  await hub.ask(admin, 'DELETE', '/skills/a');
  await waitFor('the withdrawal', () => told.length > 2);
  expect(told.slice(1)).toEqual([undefined, undefined]);
  expect((await scanOf(source)).skills.map(({ id }) => id)).toEqual(['b', 'c', 'd']);
  end?.();
});

it('reads all again after the store was away, so that nothing stays of that', async () => {
  const hub = await openHub();
  const admin = await hub.token('admin', 'ada');
  const put = (line: string) => hub.publish(admin, 'a', skillText('a', 'How to do it.', [line]));
  await put('1. Do it.');
  let isAway = false;
  const state: typeof hub.store.state = async (space) => {
    if (isAway) throw new Error('away');
    return hub.store.state(space);
  };
  const store = new Proxy(hub.store, {
    get: (of, name) => {
      const value = Reflect.get(of, name);
      return name === 'state' ? state : typeof value === 'function' ? value.bind(of) : value;
    },
  });
  const source = spaceSource(store, 'team');
  await scanOf(source);
  const told: (readonly string[] | undefined)[] = [];
  const end = source.subscribe?.((ids) => told.push(ids));
  isAway = true;
  await put('1. Do it twice.');
  await waitFor('a failed look', () => told.length > 0);
  isAway = false;
  await waitFor('the next look', () => told.length > 1);
  expect(told.every((ids) => ids === undefined)).toBe(true);
  const [skill] = (await scanOf(source)).skills;
  expect(skill && String(source.readSkill(skill, 1000))).toContain('1. Do it twice.');
  end?.();
});
