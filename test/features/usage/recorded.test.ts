import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { heldSkill } from '../../helpers/held.ts';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';

const AGENT = { agentId: 'clerk', threadId: 'thread-1' };

it('keeps a code or one word as the outcome, and no text of an error, which may name files or hold their content', async () => {
  const { registry } = await openRegistry(skill('tea'));
  const fail = (message: string) => (): boolean => {
    throw new Error(message);
  };
  const texts = ['EACCES: permission denied, open /home/jane/hunter2', 'hunter2 ', 'Hunter', 'x'.repeat(30), ''];
  for (const text of texts)
    await registry.admin.readBytes('tea', { countsAsLoad: fail(text) }, AGENT).catch(() => undefined);
  await registry.read('gone', {}, AGENT).catch(() => undefined);
  const events = await registry.usage.events();
  expect(events.map(({ kind, outcome }) => [kind, outcome])).toEqual([
    ...texts.map(() => ['failure', 'OTHER']),
    ['failure', 'SKILL_NOT_FOUND'],
  ]);
  const { failing } = await registry.usage.report();
  expect(JSON.stringify([events, failing])).not.toMatch(/jane|hunter|xxx/i);
});

it('does not call a skill unused that no agent may have, because it is held', async () => {
  const { registry } = await openRegistry({ ...skill('tea'), ...heldSkill('bad', 71) });
  expect(registry.snapshot().byId.get('bad')?.heldBecause).toBeDefined();
  expect((await registry.usage.report()).dead.map(({ skillId }) => skillId)).toEqual(['tea']);
});

it('does not take a body that was given without a request for an offer that was taken', async () => {
  const { registry } = await openRegistry({ ...skill('tea') });
  registry.list({}, AGENT);
  await registry.read('tea', { audience: 'binding' }, AGENT);
  const { skills } = await registry.usage.report();
  expect(skills).toMatchObject([{ skillId: 'tea', offers: 1, loads: 1, notTaken: 1 }]);
});

it('keeps what was recorded before there was a folder data', async () => {
  const { registry, root } = await openRegistry(skill('tea'));
  await registry.read('tea', {}, AGENT);
  // Until it has been written to memory.
  await wait(500);
  mkdirSync(join(root, 'data'));
  await registry.close();
  const again = await openRoot(root);
  expect((await again.usage.events()).map(({ kind }) => kind)).toEqual(['load']);
});
