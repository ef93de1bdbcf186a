import { expect, it } from 'vitest';
import { attack } from '../../helpers/held.ts';
import { openRoot } from '../../helpers/open-registry.ts';
import { attributesOf, elementsOf, pageOf, reviewPage, textOf } from '../../helpers/review-page.ts';
import { ADA, LONGER, TEA } from '../../helpers/tea.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

const order = (text: string, words: readonly string[]): readonly number[] => words.map((word) => text.indexOf(word));
const sorted = (numbers: readonly number[]): readonly number[] => [...numbers].sort((one, other) => one - other);

it('lists what waits, riskiest first, those of one skill together, and says when nothing does', async () => {
  const page = await reviewPage({ 'skills/cup/SKILL.md': TEA.replace('name: tea', 'name: cup') });
  expect(textOf((await page.get('/')).text)).toContain('Nothing waits for you.');
  const propose = async (skillId: string, content: string, justification: string): Promise<void> => {
    await page.registry.proposals.propose({ skillId, content, justification, author: 'agent:brewer' });
  };
  await propose('tea', `${TEA}\n${attack(81)}\n`, 'The attack');
  await propose('tea', LONGER, 'The old one');
  await page.registry.admin.management.write('tea', 'SKILL.md', TEA.replace('two minutes', 'six minutes'), ADA);
  await propose('cup', `${TEA.replace('name: tea', 'name: cup')}\nMore.\n`, 'The harmless one');
  const shown = textOf((await page.get('/')).text);
  const at = order(shown, ['The attack', 'The old one', 'The harmless one']);
  expect(at).not.toContain(-1);
  expect(at).toEqual(sorted(at));
});

it('lists what else waits when a damaged history hides the proposals, and says so', async () => {
  const root = tempFolder({
    'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews tea.' }, attack(81)),
    'data/skill_registry/history.db': 'no database at all, '.repeat(200),
  });
  const registry = await openRoot(root);
  const page = await pageOf({ registry, root, by: 'person:ada' });
  const { status, text } = await page.get('/');
  expect(status).toBe(200);
  expect(textOf(text)).toMatch(/The proposals cannot be read\..*history\.db/s);
  expect(textOf(text)).toMatch(/Held skills\s+1/);
  expect(textOf(text)).not.toContain('Nothing waits');
});

it('shows of a proposal why, what is claimed, what was run on both texts, and the changed words', async () => {
  const page = await reviewPage();
  const { proposalId: id } = await page.registry.proposals.propose({
    ...{ skillId: 'tea', content: LONGER, justification: 'It was weak.', evidence: '7 of 10 better' },
    author: 'agent:brewer',
  });
  for (const view of ['', '?view=split']) {
    const { text } = await page.get(`/proposals/${id}${view}`);
    const words = [
      'It was weak.',
      'What its author claims',
      '7 of 10 better',
      'Run by the registry',
      'tokens',
      'Its usage',
    ];
    expect(order(textOf(text), words)).not.toContain(-1);
    const marked = elementsOf(text).flatMap((element) =>
      ['del', 'ins'].includes(element.tagName)
        ? [
            `${element.tagName} ${textOf(`${'value' in (element.childNodes[0] ?? {}) ? (element.childNodes[0] as { value: string }).value : ''}`)}`,
          ]
        : [],
    );
    expect(marked).toEqual(['del two', 'ins three']);
    const links = elementsOf(text).flatMap((element) => attributesOf(element).href ?? []);
    expect(links).toContain(view === '' ? `/proposals/${id}?view=split` : `/proposals/${id}`);
  }
});

it('leads from a part of an id to the whole one, and counts no look as a load', async () => {
  const page = await reviewPage();
  const id = await page.propose(LONGER);
  expect(await page.get(`/proposals/${id.slice(-6)}`)).toMatchObject({
    status: 302,
    headers: { location: `/proposals/${id}` },
  });
  for (const path of ['/skills/tea', '/skills/tea/files?path=SKILL.md', '/skills/tea/text', `/proposals/${id}`])
    await page.get(path);
  expect((await page.registry.usage.report()).totals.loads).toBe(0);
});
