import type { SkillRegistry } from 'skill-registry';
import { describe, expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

/** More than is indexed in the moment of a search. */
const LONG = 'Wait for the water. '.repeat(1000);
const many = (topic: string, count: number, word: string): Tree =>
  Object.assign(
    {},
    ...Array.from({ length: count }, (_, at) => {
      const name = `${topic}-${String(at).padStart(2, '0')}`;
      const description = `Helps with ${name} on each of the many long days of a year. Use when it matters.`;
      return { [`skills/${name}/SKILL.md`]: skillMd({ name, description }, `# ${word}${at}\n\n${LONG}`) };
    }),
  );
const linesOf = (text: string | null): readonly string[] =>
  (text ?? '').split('\n').filter((line) => line.startsWith('• '));
const idsOf = (text: string | null): readonly string[] => linesOf(text).map((line) => line.split('`')[1] ?? '');
const turn = { threadId: 't', agentId: 'a' };
const indexed = (registry: SkillRegistry) =>
  waitFor('the whole index', () => registry.list({ query: 'weather-07' }).pending === undefined);

describe('before bodies are indexed', () => {
  it('a search finds names, descriptions and tags at once, says what is missing, and has it later', async () => {
    const { registry } = await openRegistry(many('weather', 60, 'Barometer'));
    const first = registry.list({ query: 'weather-07' });
    expect(first.skills[0]).toMatchObject({ skillId: 'weather-07' });
    expect(first).toMatchObject({ provisional: true, pending: 60, message: expect.stringContaining('Ask again in') });
    expect(registry.list({ query: 'barometer31' })).toMatchObject({ total: 0, provisional: true });
    await indexed(registry);
    const whole = registry.list({ query: 'barometer31' });
    expect(whole.skills.map(({ skillId }) => skillId)).toEqual(['weather-31']);
    expect(whole).not.toHaveProperty('provisional');
  });

  it('a thread is told so, chooses once more when they are, and then only adds', async () => {
    const tree = { ...many('weather', 60, 'Barometer'), ...many('apple', 20, 'Orchard') };
    const { registry } = await openRegistry(tree, { catalog: { budget_tokens: 300 } });
    const first = await registry.context('weather-07 or barometer58', turn);
    expect(first).toContain('of 80 skills only names and descriptions count yet; call list_skills again in about 2 s.');
    expect(idsOf(first)).toContain('weather-07');
    expect(idsOf(first)).not.toContain('weather-58');
    await indexed(registry);
    const second = await registry.context('weather-07 or barometer58', turn);
    expect(idsOf(second)).toContain('weather-58');
    expect(second).not.toContain('provisional');
    const third = linesOf(await registry.context('orchard3', turn));
    expect(third.slice(0, linesOf(second).length)).toEqual(linesOf(second));
  });

  it('a thread chooses its bodies once more, and then keeps them', async () => {
    const tree = {
      ...many('weather', 40, 'Barometer'),
      'skills/short/SKILL.md': skillMd({ name: 'short', description: 'Reads it.' }, 'A hygrometer is a box of hair.'),
    };
    const { registry } = await openRegistry(tree, { inject: 'bodies', catalog: { budget_tokens: 300 } });
    const first = await registry.context('hygrometer weather-07', turn);
    expect(first).not.toContain('A hygrometer is');
    await indexed(registry);
    const second = await registry.context('hygrometer weather-07', turn);
    expect(second).toContain('A hygrometer is');
    expect(await registry.context('weather-08', turn)).toBe(second);
  });
});
