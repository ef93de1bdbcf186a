import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const DAY = 86_400_000;
const day = (ago: number): string => new Date(Date.now() - ago * DAY).toISOString().slice(0, 10);

it('has every day of the range, with its offers and loads', async () => {
  const { registry } = await openRegistry({ ...skill('tea'), ...skill('bread') });
  registry.list({}, { agentId: 'a' });
  await registry.read('tea', {}, { agentId: 'a' });
  const { days, since, until } = await registry.usage.report({ since: '2d' });
  expect(days).toEqual([
    { day: day(2), offers: 0, loads: 0 },
    { day: day(1), offers: 0, loads: 0 },
    { day: day(0), offers: 2, loads: 1 },
  ]);
  expect(since).toBe(`${day(2)}T00:00:00.000Z`);
  expect(until.slice(0, 10)).toBe(day(0));
  expect((await registry.usage.report()).days).toHaveLength(31);
  expect((await registry.usage.report({ since: '99999d' })).days).toHaveLength(181);
});

it('tells used, unused and failing skills, by agent and by skill', async () => {
  const { registry } = await openRegistry(
    { ...skill('tea'), ...skill('bread'), ...skill('held'), ...skill('off') },
    { disabled: ['off'] },
  );
  for (let time = 0; time < 3; time++) registry.list({}, { agentId: 'a' });
  await registry.read('tea', {}, { agentId: 'a' });
  await registry.read('tea', {}, {});
  for (const id of ['gone', 'gone', 'off']) await registry.read(id, {}, { agentId: 'b' }).catch(() => undefined);
  const report = await registry.usage.report();
  expect(
    report.skills.map(({ skillId, loads, offers, notTaken, agents }) => [skillId, loads, offers, notTaken, agents]),
  ).toEqual([
    ['tea', 2, 3, 1, 2],
    ['bread', 0, 3, 3, 0],
    ['held', 0, 3, 3, 0],
    ['off', 0, 0, 0, 0],
  ]);
  expect(report.agents).toEqual([
    { agent: 'a', offers: 9, loads: 1, failures: 0, tokens: 4 },
    { agent: null, offers: 0, loads: 1, failures: 0, tokens: 4 },
    { agent: 'b', offers: 0, loads: 0, failures: 2, tokens: 0 },
  ]);
  expect(report.failing).toEqual([
    { skillId: 'gone', code: 'SKILL_NOT_FOUND', count: 2 },
    { skillId: 'off', code: 'SKILL_DISABLED', count: 1 },
  ]);
  // A disabled skill is not dead: nobody is offered it.
  expect(report.dead.map(({ skillId }) => skillId)).toEqual(['bread', 'held']);
  expect(report.skills[0]?.lastLoad?.slice(0, 10)).toBe(day(0));
  expect(report.totals.tokens).toBeGreaterThan(0);
  const only = await registry.usage.report({ skillId: 'bread', agent: 'a' });
  expect(only.totals).toMatchObject({ offers: 3, loads: 0 });
  expect(only.dead.map(({ skillId }) => skillId)).toEqual(['bread']);
});

it('gives one id to a skill that is read by its short and by its qualified id', async () => {
  const root = tempFolder({
    ...skill('tea'),
    'more/tea/SKILL.md': '---\nname: tea\ndescription: Other.\n---\nOther.\n',
  });
  const registry = await openRoot(root, { config: { sources: [{ path: 'skills' }, { path: 'more' }] } });
  for (const id of ['tea', 'skills:tea', 'more:tea']) await registry.read(id, {}, {});
  const { skills } = await registry.usage.report();
  expect(skills.map(({ skillId, loads }) => [skillId, loads])).toEqual([
    ['tea', 2],
    ['more:tea', 1],
  ]);
});

it.each(['yesterday', '', '30', '3 d', '-3d', '2026-02-30', '2026-13-01', '9999-01-01', '2026-11-22 08:00'])(
  'refuses %j as the beginning of a range, and says what it expects',
  async (since) => {
    const { registry } = await openRegistry(skill('tea'));
    const refused = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('30d') };
    await expect(registry.usage.report({ since })).rejects.toMatchObject(refused);
    await expect(registry.usage.events({ since })).rejects.toMatchObject(refused);
  },
);

it.each([{ limit: 0 }, { limit: 10_001 }, { kind: 'offer' }, { skillId: 3 }])('refuses %j', async (query) => {
  const { registry } = await openRegistry(skill('tea'));
  await expect(registry.usage.events(query as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

it('says that a closed registry is closed', async () => {
  const { registry } = await openRegistry(skill('tea'));
  await registry.close();
  await expect(registry.usage.report()).rejects.toMatchObject({ code: 'REGISTRY_CLOSED' });
  await expect(registry.usage.events()).rejects.toMatchObject({ code: 'REGISTRY_CLOSED' });
});
