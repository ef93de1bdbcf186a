import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { reviewPage, textOf } from '../helpers/review-page.ts';

it('says which agents see a skill, and keeps it from one of them', async () => {
  const agents = async () => [{ agentId: 'brewer' }, { agentId: 'bound', boundSkills: ['soup'] }];
  const page = await reviewPage({}, {}, { agents });
  const shown = async (): Promise<string> => textOf((await page.get('/skills/tea/agents')).text);
  expect(await shown()).toMatch(/brewer\s*yes[\s\S]*bound\s*no\s*not among the skills/);
  expect(await page.send('/skills/tea/agents', '/skills/tea/agents/off')).toMatchObject({ status: 303 });
  expect(await shown()).toMatch(/brewer\s*no\s*disabled in the config/);
  const config = (): string => readFileSync(join(page.root, 'data/skill_registry/config.yaml'), 'utf8');
  expect(config()).toMatch(/skill: tea, agent: brewer/);
  expect(page.registry.visible({ agentId: 'brewer' })).toEqual([]);
  await page.send('/skills/tea/agents', '/skills/tea/agents/on');
  expect(config()).not.toContain('brewer');
  expect(page.registry.visible({ agentId: 'brewer' })).toHaveLength(1);
  expect(await page.post('/skills/tea/agents/off', { agent: 'nobody' })).toMatchObject({ status: 400 });
  expect((await page.get('/skills/none/agents')).status).toBe(404);
});

it('lists the catalog with what is known of each, finds by tag and source, and switches for everyone', async () => {
  const soup = '---\nname: soup\ndescription: Cooks soup.\nmetadata:\n  tags: kitchen\n---\n\nCook it.\n';
  const page = await reviewPage({ 'skills/soup/SKILL.md': soup });
  const shown = async (query = ''): Promise<string> => textOf((await page.get(`/catalog${query}`)).text);
  expect(await shown()).toMatch(/2 skills[\s\S]*soup[\s\S]*tokens[\s\S]*shown to agents[\s\S]*tea/);
  expect(await shown('?tag=kitchen')).toContain('1 skill');
  expect(await shown('?source=nowhere')).toContain('No skill fits.');
  expect(await shown('?q=brews+tea')).toMatch(/1 skill\s[\s\S]*Brews tea\./);
  expect(await shown('?q=helicopter&page=zero')).toContain('No skill fits.');
  const off = await page.send('/catalog?tag=kitchen', '/catalog/off?tag=kitchen');
  expect(off).toMatchObject({ status: 303, headers: { location: '/catalog?tag=kitchen' } });
  expect(await shown('?tag=kitchen')).toContain('shown to nobody: disabled in the config');
  expect(page.registry.visible().map(({ id }) => id)).toEqual(['tea']);
  await page.send('/catalog', '/catalog/on');
  expect(page.registry.visible()).toHaveLength(2);
  expect(await page.post('/catalog/off', { skill: 'none' })).toMatchObject({ status: 404 });
});

it('shows what agents did as charts with their numbers, and refuses a time that is none', async () => {
  const page = await reviewPage();
  await page.registry.read('tea', {}, { agentId: 'brewer', threadId: 't' });
  await page.registry.context('tea', { agentId: 'brewer' });
  const { text } = await page.get('/usage');
  expect(text).toMatch(/<svg [^>]*role="img" aria-labelledby="loads-title loads-desc">/);
  expect(textOf(text)).toMatch(/Loads a day[\s\S]*1 from \d{4}-\d\d-\d\d to [\s\S]*Most used[\s\S]*tea/);
  expect(textOf((await page.get('/usage?agent=other')).text)).toContain('Nothing was recorded in this time.');
  expect((await page.get('/usage?since=sometime')).status).toBe(400);
});
