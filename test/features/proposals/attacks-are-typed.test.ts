import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { attack } from '../../helpers/held.ts';
import { attributesOf, elementsOf, reviewPage, textOf } from '../../helpers/review-page.ts';
import { ADA, LONGER, TEA } from '../../helpers/tea.ts';

const ATTACK = `${TEA}\n${attack(91)}\n`;

/** The texts of the buttons of the forms in main, in order; the coloured one with a star. */
function buttonsOf(page: string): readonly string[] {
  return elementsOf(page)
    .filter(({ tagName }) => tagName === 'button')
    .map((button) => {
      const text = button.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
      return attributesOf(button).class === 'main' ? `* ${text}` : text;
    });
}

it('has Reject as the first and only coloured button of an attack, and Approve as that of another proposal', async () => {
  const page = await reviewPage();
  const harmless = await page.get(`/proposals/${await page.propose(LONGER)}`);
  expect(buttonsOf(harmless.text)).toEqual(['* Approve', 'Reject']);
  const hostile = await page.get(`/proposals/${await page.propose(ATTACK)}`);
  expect(buttonsOf(hostile.text)).toEqual(['* Reject', 'Approve, and allow what was found']);
  expect(textOf(hostile.text)).toContain('To approve it, type the id of the skill: tea');
});

it('approves an attack only where the id of the skill was typed, whatever a form says, and keeps the note', async () => {
  const page = await reviewPage();
  const id = await page.propose(ATTACK);
  const approve = `/proposals/${id}/approve`;
  for (const typed_id of ['', ' ', 'te', 'TEA', 'y', id]) {
    const refused = await page.send(`/proposals/${id}`, approve, { typed_id, reason: 'My note.' });
    expect([typed_id, refused.status]).toEqual([typed_id, 409]);
    expect(textOf(refused.text)).toMatch(/Nothing was decided\..*expected "tea"/);
    expect(refused.text).toContain('value="My note."');
  }
  expect([page.tea(), (await page.registry.proposals.get(id)).state]).toEqual([TEA, 'open']);
  const done = await page.send(`/proposals/${id}`, approve, { typed_id: ' tea ' });
  expect([done.status, page.tea()]).toEqual([303, ATTACK]);
  expect(await page.registry.admin.trustOf('tea')).toMatchObject({ heldBecause: null, allowed: true });
});

it('approves no attack on other files than the form was made for, though the findings are the same', async () => {
  const page = await reviewPage();
  const id = await page.propose(ATTACK);
  const { version } = await page.registry.proposals.get(id);
  const { text } = await page.get(`/proposals/${id}`);
  const [, blocks = ''] = /name="blocks" value="([^"]+)"/.exec(text) ?? [];
  writeFileSync(join(page.root, 'skills/tea/menu.b64'), 'another payload');
  const fields = { version, blocks, typed_id: 'tea' };
  const refused = await page.post(`/proposals/${id}/approve`, fields);
  expect([refused.status, page.tea()]).toEqual([409, TEA]);
});

it('rolls back to an attack, and allows a held skill, only where the id was typed', async () => {
  const page = await reviewPage();
  await page.registry.admin.management.write('tea', 'SKILL.md', ATTACK, ADA);
  const allow = '/skills/tea/trust';
  const shown = buttonsOf((await page.get('/skills/tea')).text);
  expect(shown).toContain('Allow');
  expect(shown.filter((text) => text.startsWith('*'))).toEqual([]);
  expect((await page.send('/skills/tea', allow)).status).toBe(409);
  expect((await page.registry.admin.trustOf('tea')).heldBecause).not.toBeNull();
  await page.registry.admin.management.write('tea', 'SKILL.md', LONGER, ADA);
  const back = '/skills/tea/rollback/2';
  expect(buttonsOf((await page.get(back)).text)).toEqual(['Roll back, and allow what was found']);
  expect((await page.send(back, back)).status).toBe(409);
  expect(page.tea()).toBe(LONGER);
  expect((await page.send(back, back, { typed_id: 'tea' })).status).toBe(303);
  expect(page.tea()).toBe(ATTACK);
});

it('restores an attack only where the id was typed, and offers first to leave it in the archive', async () => {
  const page = await reviewPage();
  await page.registry.admin.management.write('tea', 'SKILL.md', ATTACK, ADA);
  await page.registry.admin.management.remove('tea', ADA);
  const [history, restore] = ['/skills/tea/history', '/skills/tea/restore'];
  const { text } = await page.get(history);
  expect(buttonsOf(text)).toEqual(['Restore, and allow what was found']);
  expect(text).toMatch(/class="button main"[^>]*>Leave it as it is</);
  for (const fields of [{}, { typed_id: 'TEA' }]) expect((await page.send(history, restore, fields)).status).toBe(409);
  expect((await page.post(restore, { typed_id: 'tea', blocks: '' })).status).toBe(409);
  expect(existsSync(join(page.root, 'skills/tea'))).toBe(false);
  expect((await page.send(history, restore, { typed_id: 'tea' })).status).toBe(303);
  expect([page.tea(), (await page.registry.admin.trustOf('tea')).allowed]).toEqual([ATTACK, true]);
});
