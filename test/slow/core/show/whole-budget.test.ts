import { describe, expect, it } from 'vitest';
import { countTokens } from '../../../../lib/text/index.ts';
import { openRegistry } from '../../../helpers/open-registry.ts';

const TOPICS = ['chess openings', 'sourdough bread', 'tax returns', 'sailing knots', 'Rust lifetimes'];
const idOf = (n: number): string => `skill-number-${n}`;

/** A source of so many skills. */
function skills(count: number): object {
  const inline = Array.from({ length: count }, (_, n) => {
    const topic = TOPICS[n % TOPICS.length];
    const description = `Handles case ${n} of ${topic} with care. Use when somebody asks for ${topic}, or when nothing else helps.`;
    return { name: idOf(n), description, instructions: `Body ${n}. `.repeat(20) };
  });
  return { inline };
}

const PINNED = Array.from({ length: 2000 }, (_, n) => idOf(n));
const CASES = [
  ['strong wording', { enforcement: true }, 350, 'catalog'],
  ['strong wording in XML', { enforcement: true, format: 'xml' }, 2000, 'catalog'],
  ['strong wording below bodies', { enforcement: true }, 2000, 'bodies'],
  ['some pinned', { enforcement: true, pinned: PINNED.slice(100, 110) }, 400, 'catalog'],
  ['most pinned', { pinned: PINNED.slice(0, 380) }, 2000, 'catalog'],
  ['all pinned, in XML', { enforcement: true, format: 'xml', pinned: PINNED }, 500, 'bodies'],
] as const;

describe.each([400, 2000])('a block for %i skills', (count) => {
  const sources = [skills(count)];
  it.each(count > 400 ? CASES.slice(-2) : CASES)(
    'holds to the budget as a whole: %s',
    async (_, given, budget_tokens, inject) => {
      const { registry } = await openRegistry({}, { sources, inject, catalog: { ...given, budget_tokens } });
      for (const prompt of ['How do I file tax returns?', 'sourdough']) {
        const text = (await registry.context(prompt, { threadId: 'one', agentId: 'a' })) ?? '';
        expect(await countTokens(text), prompt).toBeLessThanOrEqual(budget_tokens);
        expect(text).toMatch(/skill-number-\d/);
      }
    },
  );
});

it('strong wording is there wherever it leaves room for a list', async () => {
  for (const [budget_tokens, isThere] of [
    [250, false],
    [400, true],
  ] as const) {
    const { registry } = await openRegistry(
      {},
      { sources: [skills(50)], catalog: { enforcement: true, budget_tokens } },
    );
    expect((await registry.context(''))?.includes('FIRST PRIORITY')).toBe(isThere);
    expect((await registry.admin.contextCost()).enforcement > 0).toBe(isThere);
  }
});
