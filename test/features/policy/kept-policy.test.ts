import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { describe, expect, it, vi } from 'vitest';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';
import { letHoursPass, policyPage } from '../../helpers/policy-page.ts';
import { publishedPage } from '../../helpers/published-page.ts';
import { skillMd, type Tree, tempFolder } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const skill = (id: string): Tree => ({
  [`skills/${id}/SKILL.md`]: skillMd({ name: id, description: `Makes ${id}.` }, `MARKED ${id}.`),
  [`skills/${id}/more.md`]: `MARKED more of ${id}.`,
});
const BOTH: Tree = { ...skill('tea'), ...skill('rum') };
const named = (from: string) => ({ policy: { from } });
const shown = (registry: SkillRegistry): readonly string[] => registry.visible().map(({ id }) => id);
const why = (registry: SkillRegistry, id: string) => registry.snapshot().byId.get(id)?.heldBecause;

/** Lets minutes pass for what is open. */
function letMinutesPass(minutes: number): void {
  const later = Date.now() + minutes * 60_000;
  vi.spyOn(Date, 'now').mockImplementation(() => later);
}

describe('what two processes have read', () => {
  it.each([
    ['an older policy', JSON.stringify({ version: 2 })],
    ['that there is none', undefined],
  ])('stays the newer one when %s comes late', async (_, late) => {
    const page = await policyPage({ version: 2 });
    const open = async () => (await openRegistry(BOTH, { ...named(page.url), watch: { mode: 'off' } })).registry;
    const [slow, quick] = [await open(), await open()];
    let answer = (): void => undefined;
    page.answer = (_path, response) => {
      answer = () => void response.writeHead(late === undefined ? 404 : 200).end(late);
      page.answer = undefined;
      return true;
    };
    page.say({ version: 3, denied: { ids: ['rum'] } });
    letMinutesPass(2);
    const asked = slow.refresh();
    await waitFor('its question', () => page.answer === undefined);
    await quick.refresh();
    expect(shown(quick)).toEqual(['tea']);
    answer();
    await asked;
    await slow.refresh();
    await page.away();
    expect(shown(slow)).toEqual(['tea']);
    expect(shown(await open())).toEqual(['tea']);
    letMinutesPass(2);
    await quick.refresh();
    expect(shown(quick)).toEqual(['tea']);
    vi.restoreAllMocks();
  });
});

it.each([
  ['that comes first', false],
  ['that comes after the page had none', true],
])('that nobody has named holds while it is wrong, until a right one comes: one %s', async (_, hadNone) => {
  const published = await publishedPage(BOTH);
  await policyPage();
  const file = join(published.root, 'public/.well-known/agent-skills/policy.json');
  const config = { sources: [{ wellKnown: published.page.url }], watch: { mode: 'off' } } as const;
  const open = () => openRoot(tempFolder(), { config });
  if (hadNone) {
    expect(shown(await open())).toEqual(['rum', 'tea']);
    letHoursPass(1);
  }
  writeFileSync(file, JSON.stringify({ version: 1, denied: { ids: ['rum'] }, requierd: [] }));
  const registry = await open();
  expect(shown(registry)).toEqual([]);
  expect(why(registry, 'tea')).toMatch(/policy.json is wrong \(requierd: there is no such key\)/);
  // Neither an end of the page, a deleted file nor another process makes it right.
  rmSync(file);
  letHoursPass(1);
  expect(shown(await open())).toEqual([]);
  await published.page.away();
  letHoursPass(1);
  expect(shown(await open())).toEqual([]);
  letMinutesPass(2);
  await registry.refresh();
  vi.restoreAllMocks();
  expect(shown(registry)).toEqual([]);
  await published.page.back();
  writeFileSync(file, JSON.stringify({ version: 1, denied: { ids: ['rum'] } }));
  letHoursPass(1);
  expect(shown(await open())).toEqual(['tea']);
});

it('is none where a server answers with a page of HTML for a file that it has not, and ends no policy', async () => {
  const published = await publishedPage(BOTH);
  await policyPage();
  const file = join(published.root, 'public/.well-known/agent-skills/policy.json');
  const config = { sources: [{ wellKnown: published.page.url }], watch: { mode: 'off' } } as const;
  const open = () => openRoot(tempFolder(), { config });
  const html = '\ufeff\n<!DOCTYPE html>\n<html><body>An application.</body></html>';
  writeFileSync(file, html);
  expect(shown(await open())).toEqual(['rum', 'tea']);
  writeFileSync(file, JSON.stringify({ version: 1, denied: { ids: ['rum'] } }));
  letHoursPass(1);
  expect(shown(await open())).toEqual(['tea']);
  writeFileSync(file, html);
  letHoursPass(1);
  expect(shown(await open())).toEqual(['tea']);
});
