import type { SkillRegistry } from 'skill-registry';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const many = (topic: string, count: number, body = 'Do it.'): Tree =>
  Object.assign(
    {},
    ...Array.from({ length: count }, (_, at) => {
      const name = `${topic}-${String(at).padStart(2, '0')}`;
      const description = `Helps with ${name} on each of the many long days of a year. Use when it matters.`;
      return { [`skills/${name}/SKILL.md`]: skillMd({ name, description }, body) };
    }),
  );
const linesOf = (text: string | null): readonly string[] =>
  (text ?? '').split('\n').filter((line) => line.startsWith('• '));
const idsOf = (text: string | null): readonly string[] => linesOf(text).map((line) => line.split('`')[1] ?? '');
const turn = { threadId: 't', agentId: 'a' };

/** The text of a turn that cannot wait for the index. */
async function tooEarly(registry: SkillRegistry, prompt: string): Promise<string | null> {
  // Each look at the clock is 10 seconds later, so that a piece of work takes a break at once; the turn waits for one.
  const { setTimeout: later } = globalThis;
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 10_000));
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms?: number) =>
    later(run, ms === 1_000 ? 0 : ms)) as typeof setTimeout);
  onTestFinished(() => void vi.restoreAllMocks());
  const text = await registry.context(prompt, turn);
  vi.restoreAllMocks();
  return text;
}

describe('a thread that began before its skills were indexed', () => {
  it('is told so, chooses once more with all of them, and then only adds', async () => {
    const { registry } = await openRegistry(many('weather', 60), { catalog: { budget_tokens: 300 } });
    const first = await tooEarly(registry, 'weather-07');
    expect(first).toContain(
      'This list is provisional: 60 skill(s) are not ready yet; call list_skills again in about 2 s.',
    );
    // What cannot be ranked yet leaves its place empty: nothing of the beginning of the alphabet takes it.
    expect(idsOf(first)).toEqual([]);
    await registry.admin.prepareSearch();
    const second = await registry.context('weather-07', turn);
    expect(idsOf(second)).toContain('weather-07');
    expect(second).not.toContain('provisional');
    const third = linesOf(await registry.context('weather-58', turn));
    expect(third.slice(0, linesOf(second).length)).toEqual(linesOf(second));
  });

  it('chooses bodies once more, and then keeps them', async () => {
    const tree = { ...many('weather', 20, 'It rains. '.repeat(20)), ...many('apple', 20, 'Eat it. '.repeat(20)) };
    const { registry } = await openRegistry(tree, { inject: 'bodies', catalog: { budget_tokens: 300 } });
    const first = await tooEarly(registry, 'the weather');
    expect(first).not.toContain('It rains.');
    expect(first).toContain('provisional');
    await registry.admin.prepareSearch();
    const second = await registry.context('the weather', turn);
    expect(second).toContain('It rains.');
    expect(second).not.toContain('provisional');
    expect(await registry.context('an apple', turn)).toBe(second);
  });
});
