import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { skill } from '../helpers/boot-root.ts';
import { heldSkill, untilHeld } from '../helpers/held.ts';
import { callTool, httpClient, serveRegistry } from '../helpers/mcp.ts';

const BY = { by: 'person:ada' };
const NAME = 'skills_loaded_so_far';
const LIMITS = { thread_tokens: 100_000 };
const CONFIG = { limits: LIMITS, agents: { brewer: { skills: ['tea', 'bad'] }, baker: { skills: ['*'] } } };

async function served() {
  const one = await serveRegistry(
    { 'data/.keep': '', ...skill('tea'), ...skill('bad') },
    { config: CONFIG, agents: true },
  );
  const client = (agent: string) => httpClient(new URL(`/agents/${agent}/threads/t/mcp`, one.serving.url).href);
  const [brewer, baker] = [await client('brewer'), await client('baker')];
  const read = async (skill_id: string) => (await callTool(brewer, 'read_skill', { skill_id })).result;
  const textOf = async (of: typeof brewer): Promise<string> => {
    const { messages } = await of.getPrompt({ name: NAME });
    return messages.map(({ content }) => (content.type === 'text' ? content.text : '')).join('');
  };
  return { ...one, read, givenBack: () => textOf(brewer), givenToOther: () => textOf(baker) };
}

it('gives a client back what its conversation had as it is after a roll-back, with both digests in one line', async () => {
  const { registry, read, givenBack, givenToOther } = await served();
  const first = await registry.read('tea');
  await registry.admin.management.write('tea', 'SKILL.md', (text) => text.replace('Body', 'Leaf'), BY);
  const had = await read('tea');
  expect(had).toMatchObject({ content: 'Leaf of tea.' });
  expect(await read('tea')).toMatchObject({ repeated: true });
  await registry.history.rollback('tea', 1, BY);
  const text = await givenBack();
  expect(text.split('\n')).toEqual(
    expect.arrayContaining([`It was changed meanwhile: ${had.digest} then, ${first.digest} now.`, 'Body of tea.']),
  );
  expect(text).not.toContain('Leaf of tea.');
  expect(await givenToOther()).toBe('None so far.');
  // What was given back it has; what it costs stays counted.
  const again = await read('tea');
  expect(Number(again.thread_tokens)).toBeGreaterThan(Number(had.thread_tokens) * 2);
});

it('names a skill that was held meanwhile without a word of it, and gives the others back', async () => {
  const { registry, root, read, givenBack } = await served();
  for (const id of ['tea', 'bad']) await read(id);
  for (const [path, text] of Object.entries(heldSkill('bad', 93))) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), String(text));
  }
  await registry.refresh();
  const text = await givenBack();
  await untilHeld(registry, 'bad');
  expect(text).toContain('## Skill bad\nIt is not available to you now.');
  expect(text).toContain('## Skill tea\nBody of tea.');
  expect(text).not.toMatch(/MARKED|203\.0\.113|Body of bad/);
});
