import { expect, it } from 'vitest';
import { withRetrieval } from '../../../../extensions/skill_registry/features/proposals/decide/proposals.ts';
import type { RetrievalChange } from '../../../../extensions/skill_registry/features/proposals/propose/types.ts';

async function told(retrievalEffect: () => Promise<readonly RetrievalChange[]>): Promise<readonly string[]> {
  const stored = { kind: 'retrieval', level: 'warn', text: 'of an earlier release' } as const;
  const other = { kind: 'size', level: 'info', text: 'one line' } as const;
  const { checks } = await withRetrieval(retrievalEffect, { skillId: 'tea', checks: [other, stored] }, 'text');
  expect(checks).toContainEqual(other);
  return checks.filter(({ kind }) => kind === 'retrieval').map(({ level, text }) => `${level}: ${text}`);
}

const change = (query: string): RetrievalChange => {
  return { query, skillId: 'coffee', shouldTrigger: true, before: 'coffee', after: null };
};

it('tells each query that finds something else', async () => {
  expect(await told(() => Promise.resolve([change('green tea'), change('a\u202e\nb')]))).toEqual([
    'warn: "green tea", a query of coffee, would find nothing instead of coffee',
    'warn: "a⟦U+202E⟧ b", a query of coffee, would find nothing instead of coffee',
  ]);
});

it('says that nothing changes', async () => {
  expect(await told(() => Promise.resolve([]))).toEqual(['info: No stored trigger query changes its top hit']);
});

it('says when it could not be computed', async () => {
  expect(await told(() => Promise.reject(new Error('index\nlost')))).toEqual([
    'warn: The effect on retrieval could not be computed: index lost',
  ]);
});
