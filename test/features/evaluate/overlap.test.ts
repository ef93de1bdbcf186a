import { expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const skill = (id: string, description: string, queries?: unknown): Tree => ({
  [`skills/${id}/SKILL.md`]: skillMd({ name: id, description }),
  ...(queries === undefined
    ? {}
    : { [`skills/${id}/evals/trigger-eval.json`]: typeof queries === 'string' ? queries : JSON.stringify(queries) }),
});
const CATALOG: Tree = {
  ...skill('review-pull-requests', 'Reviews pull requests for style and security.', [
    { query: 'review this pull request', should_trigger: true },
    { query: 'bake sourdough bread', should_trigger: false },
  ]),
  ...skill('check-pull-requests', 'Checks pull requests for style and security.'),
  ...skill('bake-bread', 'Bakes sourdough loaves.', [{ query: 'security of pull requests', should_trigger: true }]),
  ...skill('brew-tea', 'Brews a pot of tea.', '{ "not": "a list" }'),
};

it('the overlap report names skills that compete, queries that go astray, and files that cannot be read', async () => {
  const { registry } = await openRegistry(CATALOG);
  const { neighbourhoods, queries, stolen, problems } = await registry.admin.overlap();
  expect(neighbourhoods).toHaveLength(1);
  expect([...(neighbourhoods[0]?.skills ?? [])].sort()).toEqual(['check-pull-requests', 'review-pull-requests']);
  expect(neighbourhoods[0]?.words).toContain('secur');
  expect(queries).toBe(3);
  expect(stolen).toMatchObject([{ query: 'security of pull requests', skillId: 'bake-bread', shouldTrigger: true }]);
  expect(stolen[0]?.found).toMatch(/pull-requests$/);
  expect(problems).toMatchObject([{ code: 'TRIGGER_EVAL_INVALID', severity: 'warning' }]);
});

it('a proposal names the queries of other skills that it would steal, and changes nothing', async () => {
  const { registry } = await openRegistry(CATALOG);
  const effectOf = async (skillId: string, kind: 'update' | 'create', content: string) => {
    const { proposalId } = await registry.proposals.propose({ skillId, kind, content, justification: 'Why not.' });
    const { checks } = await registry.proposals.get(proposalId);
    return checks.filter((check) => check.kind === 'retrieval' && check.level === 'warn').map(({ text }) => text);
  };
  const greedy = skillMd({ name: 'brew-tea', description: 'Review this pull request. '.repeat(8) });
  expect(await effectOf('brew-tea', 'update', greedy)).toEqual([
    expect.stringContaining(
      '"review this pull request", a query of review-pull-requests, would find brew-tea instead of review-pull-requests',
    ),
  ]);
  const harmless = skillMd({ name: 'brew-tea', description: 'Brews green tea.' });
  expect(await effectOf('brew-tea', 'update', harmless)).toEqual([]);
  expect(registry.list({ query: 'review this pull request' }).skills[0]?.skillId).toBe('review-pull-requests');
  expect(await effectOf('quite-new', 'create', greedy.replace('name: brew-tea', 'name: quite-new'))).not.toEqual([]);
});
