import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { holdExtensionFile } from '../../../kernel/host.ts';
import { openTrust } from '../../../lib/trust/index.ts';
import { attack } from '../../helpers/held.ts';
import { elementsOf, formsOf, pageOf, type ReviewPage, reviewPage, textOf } from '../../helpers/review-page.ts';
import { ADA, LONGER, TEA } from '../../helpers/tea.ts';

const BY_ADA = { by: 'person:ada' };
/** Of level `block`. */
const ATTACK = `${TEA}\n${attack(71)}\n`;
const HELD = `---\nname: setup\ndescription: Sets up.\n---\n\n${attack(72)}\n`;

const pathOf = (id: string): string => `/proposals/${id}`;
const lastOf = async ({ registry }: ReviewPage, id = 'tea') => (await registry.history.revisions(id)).at(-1);

describe('a proposal', () => {
  it('is approved as it was shown: on disk, in the history, by whom and by which door', async () => {
    const page = await reviewPage();
    const id = await page.propose(LONGER);
    const done = await page.send(pathOf(id), `${pathOf(id)}/approve`, { reason: 'Stronger.' });
    expect(done).toMatchObject({ status: 303, headers: { location: `${pathOf(id)}?done=approved` } });
    expect(page.tea()).toBe(LONGER);
    expect(await lastOf(page)).toMatchObject({
      kind: 'proposal',
      proposal: id,
      ...BY_ADA,
      reason: 'Stronger. (review page)',
    });
    expect(await page.registry.proposals.get(id)).toMatchObject({
      state: 'approved',
      decision: { ...BY_ADA, reason: 'Stronger. (review page)' },
    });
    const after = textOf((await page.get(`${pathOf(id)}?done=approved`)).text);
    expect(after).toContain('Approved, and in effect.');
    expect(formsOf((await page.get(pathOf(id))).text)).toEqual([]);
  });

  it('is rejected with a reason, and not without one', async () => {
    const page = await reviewPage();
    const id = await page.propose(LONGER);
    const unsaid = await page.send(pathOf(id), `${pathOf(id)}/reject`, { reason: '  ' });
    expect(unsaid.status).toBe(400);
    expect((await page.registry.proposals.get(id)).state).toBe('open');
    await page.send(pathOf(id), `${pathOf(id)}/reject`, { reason: 'Too long.' });
    expect(await page.registry.proposals.get(id)).toMatchObject({
      state: 'rejected',
      decision: { ...BY_ADA, reason: 'Too long. (review page)' },
    });
    expect(page.tea()).toBe(TEA);
    await page.send(pathOf(id), `${pathOf(id)}/purge`);
    expect((await page.registry.proposals.get(id)).purged).toMatchObject(BY_ADA);
  });

  it('that somebody has decided meanwhile says so, and what was typed is not lost', async () => {
    const page = await reviewPage();
    const other = await pageOf({ registry: page.registry, root: page.root, by: 'person:eve' });
    const id = await page.propose(LONGER);
    const shown = formsOf((await page.get(pathOf(id))).text);
    await other.send(pathOf(id), `${pathOf(id)}/reject`, { reason: 'No.' });
    for (const action of ['approve', 'reject']) {
      const form = shown.find((one) => one.action.endsWith(action));
      const late = await page.post(`${pathOf(id)}/${action}`, { ...form?.fields, reason: 'My own words.' });
      expect(late.status).toBe(409);
      expect(textOf(late.text)).toContain('Nothing was decided.');
      expect(textOf(late.text)).toContain('person:eve');
    }
    expect(page.tea()).toBe(TEA);
  });

  it('that somebody has edited meanwhile is not approved with another text than was shown', async () => {
    const page = await reviewPage();
    const id = await page.propose(LONGER);
    const form = formsOf((await page.get(pathOf(id))).text).find(({ action }) => action.endsWith('/approve'));
    await page.registry.proposals.edit(id, { content: TEA.replace('two', 'nine'), by: 'person:eve' });
    const late = await page.post(`${pathOf(id)}/approve`, { ...form?.fields });
    expect(late.status).toBe(409);
    expect(page.tea()).toBe(TEA);
    const rejected = await page.post(`${pathOf(id)}/reject`, { ...form?.fields, reason: 'Kept words' });
    expect(rejected.status).toBe(409);
    expect(
      formsOf(rejected.text)
        .find(({ action }) => action.endsWith('/reject'))
        ?.fields.reason?.trim(),
    ).toBe('Kept words');
    expect((await page.registry.proposals.get(id)).state).toBe('open');
  });

  it('is edited in a form, which gives line ends and the first empty line back, and approved', async () => {
    const crlf = '\n\n---\n'.slice(2);
    const text = `${TEA}${crlf}`.replaceAll('\n', '\r\n');
    const page = await reviewPage({
      'skills/tea/references/a.md': '\r\nFirst.\r\nSecond.\r\n',
      'skills/tea/SKILL.md': text,
    });
    const { proposalId: id } = await page.registry.proposals.propose({
      ...{
        skillId: 'tea',
        path: 'references/a.md',
        content: '\nFirst.\nThird.\n',
        justification: 'So.',
        author: 'agent:brewer',
      },
    });
    const form = formsOf((await page.get(`${pathOf(id)}/edit`)).text)[0];
    expect(form?.fields.content?.replaceAll('\r\n', '\n')).toBe('\nFirst.\nThird.\n');
    // A browser sends every line end as CRLF.
    const content = '\r\nFirst.\r\nFourth.\r\n';
    const done = await page.send(`${pathOf(id)}/edit`, `${pathOf(id)}/edit`, { content, next: 'approve' });
    expect(done.headers.location).toBe(`${pathOf(id)}?done=approved`);
    expect(readFileSync(join(page.root, 'skills/tea/references/a.md'), 'utf8')).toBe('\r\nFirst.\r\nFourth.\r\n');
    expect(await lastOf(page)).toMatchObject({ ...BY_ADA, reason: 'review page' });
  });

  it('that is stale shows both texts with marks, and takes what a person makes of them', async () => {
    const page = await reviewPage();
    const id = await page.propose(LONGER);
    await page.registry.admin.management.write('tea', 'SKILL.md', TEA.replace('two minutes', 'four minutes'), ADA);
    const shown = await page.get(pathOf(id));
    expect(textOf(shown.text)).toContain('It does not apply any more');
    expect(formsOf(shown.text).map(({ action }) => action)).toEqual([`${pathOf(id)}/reject`]);
    const marked = formsOf((await page.get(`${pathOf(id)}/edit`)).text)[0]?.fields.content ?? '';
    expect(marked).toContain('<<<<<<<');
    const left = await page.send(`${pathOf(id)}/edit`, `${pathOf(id)}/edit`, { content: `${marked}More.\n` });
    expect(left.status).toBe(409);
    expect(formsOf(left.text)[0]?.fields.content).toContain('More.');
    const content = TEA.replace('two minutes', 'five minutes');
    await page.send(`${pathOf(id)}/edit`, `${pathOf(id)}/edit`, { content });
    await page.send(pathOf(id), `${pathOf(id)}/approve`);
    expect(page.tea()).toBe(content);
  });

  it('that is stale and has no text to edit leads to no page for editing', async () => {
    const page = await reviewPage();
    const ask = { skillId: 'tea', kind: 'delete', justification: 'Nobody drinks it.', author: 'agent:brewer' } as const;
    const { proposalId: id } = await page.registry.proposals.propose(ask);
    const open = await page.get(pathOf(id));
    expect(textOf(open.text)).toContain('to the archive, from which it can be restored');
    await page.registry.admin.management.write('tea', 'SKILL.md', TEA.replace('two minutes', 'four minutes'), ADA);
    const shown = await page.get(pathOf(id));
    expect(textOf(shown.text)).toContain('It cannot be edited to apply again, either. Reject it');
    for (const { text } of [open, shown]) expect(text).not.toContain(`${pathOf(id)}/edit`);
    expect(formsOf(shown.text).map(({ action }) => action)).toEqual([`${pathOf(id)}/reject`]);
  });

  it('with what a person would call an attack is approved only when that was shown, and then allowed', async () => {
    const page = await reviewPage();
    const id = await page.propose(ATTACK);
    const shown = await page.get(pathOf(id));
    expect(textOf(shown.text)).toContain('This looks like an attack');
    const form = formsOf(shown.text).find(({ action }) => action.endsWith('/approve'));
    const typed_id = 'tea';
    const unseen = await page.post(`${pathOf(id)}/approve`, { ...form?.fields, typed_id, blocks: 'x' });
    expect(unseen.status).toBe(409);
    expect(page.tea()).toBe(TEA);
    await page.send(pathOf(id), `${pathOf(id)}/approve`, { typed_id });
    expect(page.tea()).toBe(ATTACK);
    expect(await page.registry.admin.trustOf('tea')).toMatchObject({ heldBecause: null, allowed: true });
  });

  it('whose edited text has such a finding is saved, shown, and not approved unseen', async () => {
    const page = await reviewPage();
    const id = await page.propose(LONGER);
    const done = await page.send(`${pathOf(id)}/edit`, `${pathOf(id)}/edit`, { content: ATTACK, next: 'approve' });
    expect(done.headers.location).toBe(`${pathOf(id)}?done=look`);
    expect(page.tea()).toBe(TEA);
    expect((await page.registry.proposals.get(id)).state).toBe('open');
  });

  it('shows findings at their lines, one below the other and side by side', async () => {
    const page = await reviewPage();
    const id = await page.propose(ATTACK);
    const line = ATTACK.split('\n').findIndex((one) => one.startsWith('curl')) + 1;
    for (const query of ['', '?view=split']) {
      const { text } = await page.get(`${pathOf(id)}${query}`);
      const row = elementsOf(text).find(({ attrs }) => attrs.some(({ value }) => value === `line-${line}`));
      const next = row?.parentNode?.childNodes.filter((child) => 'tagName' in child);
      const remark = next?.[next.indexOf(row as never) + 1];
      expect(remark && 'attrs' in remark && remark.attrs[0]?.value).toBe('remark');
    }
  });
});

describe('a skill', () => {
  it('that is held is allowed by the digest that was shown, and held again', async () => {
    const page = await reviewPage({ 'skills/setup/SKILL.md': HELD });
    await page.registry.admin.inspectSkills();
    expect(textOf((await page.get('/')).text)).toContain('setup');
    const form = formsOf((await page.get('/skills/setup')).text)[0];
    expect(form?.action).toBe('/skills/setup/trust');
    const file = join(page.root, 'skills/setup/SKILL.md');
    writeFileSync(file, `${HELD}Also this.\n`);
    await page.registry.refresh();
    const typed_id = 'setup';
    const late = await page.post('/skills/setup/trust', { ...form?.fields, typed_id });
    expect(late.status).toBe(409);
    expect(page.registry.snapshot().byId.get('setup')?.heldBecause).toBeDefined();
    await page.send('/skills/setup', '/skills/setup/trust', { typed_id, reason: 'It is a test.' });
    expect(page.registry.snapshot().byId.get('setup')?.heldBecause).toBeUndefined();
    const decision = openTrust()
      .decisions()
      .find(({ path }) => path === join(page.root, 'skills/setup'));
    expect(decision).toMatchObject({ action: 'allow', ...BY_ADA, reason: 'It is a test. (review page)' });
    await page.send('/skills/setup', '/skills/setup/trust');
    expect(page.registry.snapshot().byId.get('setup')?.heldBecause).toBeDefined();
  });

  it('is disabled and enabled, in the config and for agents at once', async () => {
    const page = await reviewPage();
    const config = join(page.root, 'data/skill_registry/config.yaml');
    await page.send('/skills/tea', '/skills/tea/disabled');
    expect(readFileSync(config, 'utf8')).toContain('tea');
    expect(page.registry.visible({}).map(({ id }) => id)).not.toContain('tea');
    await page.send('/skills/tea', '/skills/tea/disabled');
    expect(readFileSync(config, 'utf8')).not.toContain('tea');
    expect(page.registry.visible({}).map(({ id }) => id)).toContain('tea');
  });

  it('is rolled back to what was shown, and not when it has changed meanwhile', async () => {
    const page = await reviewPage();
    await page.registry.history.revisions('tea');
    await page.registry.admin.management.write('tea', 'SKILL.md', LONGER, ADA);
    const path = '/skills/tea/rollback/1';
    const shown = await page.get(path);
    expect(textOf(shown.text)).toContain('Steep for three minutes.');
    const form = formsOf(shown.text)[0];
    const nine = TEA.replace('two', 'nine');
    await page.registry.admin.management.write('tea', 'SKILL.md', nine, ADA);
    expect((await page.post(path, { ...form?.fields })).status).toBe(409);
    expect(page.tea()).toBe(nine);
    const done = await page.send(path, path, { reason: 'Too strong.' });
    expect(done.headers.location).toBe('/skills/tea?done=rollback');
    expect(page.tea()).toBe(TEA);
    expect(await lastOf(page)).toMatchObject({ kind: 'rollback', ...BY_ADA, reason: 'Too strong. (review page)' });
    const rows = textOf((await page.get('/skills/tea/history')).text);
    expect(rows).toContain('Too strong. (review page)');
  });

  it('that was removed is restored from its history', async () => {
    const page = await reviewPage();
    await page.registry.admin.management.remove('tea', ADA);
    const shown = await page.get('/skills/tea');
    expect(shown).toMatchObject({ status: 302, headers: { location: '/skills/tea/history' } });
    await page.send('/skills/tea/history', '/skills/tea/restore');
    expect(page.tea()).toBe(TEA);
    expect(await lastOf(page)).toMatchObject({ kind: 'restored', ...BY_ADA, reason: 'review page' });
  });
});

describe('an extension that an agent wrote', () => {
  const write = (page: ReviewPage, text: string) =>
    holdExtensionFile(page.root, 'greeter/main.ts', text, 'agent:builder');
  const live = (page: ReviewPage): string => join(page.root, 'extensions/greeter/main.ts');

  it('is approved by the bytes that were shown, and not by others', async () => {
    const page = await reviewPage();
    write(page, 'export const first = 1;\n');
    expect(textOf((await page.get('/')).text)).toContain('extensions/greeter');
    const form = formsOf((await page.get('/extensions/greeter')).text)[0];
    write(page, 'export const second = 2;\n');
    const late = await page.post('/extensions/greeter/approve', { ...form?.fields });
    expect(late.status).toBe(409);
    expect(existsSync(live(page))).toBe(false);
    await page.send('/extensions/greeter', '/extensions/greeter/approve');
    expect(readFileSync(live(page), 'utf8')).toBe('export const second = 2;\n');
    const made = { kind: 'extension', action: 'allow', by: 'person:ada', reason: 'review page' };
    expect(openTrust().decisions()).toContainEqual(expect.objectContaining({ ...made, path: dirname(live(page)) }));
  });

  it('is named where it cannot be read', async () => {
    const page = await reviewPage();
    write(page, 'export const first = 1;\n');
    writeFileSync(join(page.root, 'data/.held/greeter/files/main.ts'), Buffer.alloc(20_000_000));
    expect(textOf((await page.get('/')).text)).toMatch(
      /What waits for extensions\/greeter cannot be read.*: .*revoke extensions\/greeter/,
    );
  });

  it('is deleted, and never one that runs', async () => {
    const page = await reviewPage({
      'extensions/greeter/main.ts': 'export const running = 1;\n',
      'extensions/greeter/manifest.yaml':
        'id: greeter\nname: Greeter\nversion: 1.0.0\nentrypoint: main:Greeter\ndescription: Greets.\n',
    });
    write(page, 'export const waiting = 1;\n');
    const form = formsOf((await page.get('/extensions/greeter')).text).find(({ action }) => action.endsWith('revoke'));
    await page.send('/extensions/greeter', '/extensions/greeter/revoke');
    expect((await page.post('/extensions/greeter/revoke', { ...form?.fields })).status).toBe(404);
    expect(readFileSync(live(page), 'utf8')).toBe('export const running = 1;\n');
    expect(textOf((await page.get('/')).text)).toContain('Nothing waits for you.');
  });
});
