import { describe, expect, it } from 'vitest';
import { countTokens } from '../../../lib/text/index.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree, writeTree } from '../../helpers/temp-folder.ts';

const TOPICS = ['kubernetes', 'sourdough', 'violin', 'telescope', 'chess', 'orchid', 'sailing', 'pottery'];
const idOf = (topic: string, at: number): string => `${topic}-${String(at).padStart(2, '0')}`;
const skillOf = (topic: string, at: number): Tree => ({
  [`skills/${idOf(topic, at)}/SKILL.md`]: skillMd({
    name: idOf(topic, at),
    description: `Helps people with ${topic}, step number ${at} of the long way there. Use when it matters.`,
  }),
});
const CATALOG: Tree = Object.assign(
  {},
  ...TOPICS.flatMap((topic) => Array.from({ length: 20 }, (_, at) => skillOf(topic, at))),
);
const BUDGET = 700;
const config = { catalog: { budget_tokens: BUDGET } };
const linesOf = (text: string | null): readonly string[] =>
  (text ?? '').split('\n').filter((line) => line.startsWith('• '));
/** With its index, which the first turn of a slow machine would not wait for. */
async function open() {
  const opened = await openRegistry(CATALOG, config);
  await opened.registry.admin.prepareSearch();
  return opened;
}

describe('a catalog over its budget', () => {
  it('shows what the prompt is about, and says how many there are', async () => {
    const { registry } = await open();
    const text = await registry.context('I want to learn the violin');
    const shown = linesOf(text);
    expect(shown.filter((line) => line.includes('`violin-')).length).toBe(Math.min(20, shown.length));
    expect(text).toMatch(
      new RegExp(`\\n${shown.length} of 160 skills shown; list_skills\\(query\\) finds the rest\\.$`),
    );
    expect(await countTokens(text ?? '')).toBeLessThanOrEqual(BUDGET);
  });

  it('shows what is pinned whatever the prompt is about', async () => {
    const { registry } = await openRegistry(CATALOG, { catalog: { budget_tokens: BUDGET, pinned: ['chess-07'] } });
    expect(await registry.context('violin')).toContain('`chess-07`');
  });

  it('has the same bytes for the same prompt', async () => {
    const [one, two] = [await open(), await open()];
    const text = await one.registry.context('telescope and orchid');
    expect(await one.registry.context('telescope and orchid')).toBe(text);
    expect(await two.registry.context('telescope and orchid')).toBe(text);
  });
});

describe('in a thread', () => {
  const turn = { threadId: 't', agentId: 'a' };

  it('later turns have the text of the first one, and add below it what they are about', async () => {
    const { registry } = await open();
    const first = linesOf(await registry.context('violin lessons', turn));
    const text = await registry.context('now about sourdough', turn);
    const second = linesOf(text);
    expect(second.slice(0, first.length)).toEqual(first);
    const added = second.slice(first.length);
    expect(added.length).toBeGreaterThan(0);
    expect(added.length).toBeLessThanOrEqual(5);
    for (const line of added) expect(line).toContain('`sourdough-');
    expect(await countTokens(text ?? '')).toBeLessThanOrEqual(BUDGET);
    expect(text).toContain(`\n${second.length} of 160 skills shown;`);
    expect(await registry.context('and the violin again', turn)).toBe(text);
  });

  it('nothing is added for a prompt that no skill fits, nor past the budget', async () => {
    const { registry } = await open();
    const first = await registry.context('violin lessons', turn);
    expect(await registry.context('yes, please go on', turn)).toBe(first);
    let before = linesOf(first);
    for (const topic of TOPICS) {
      const text = (await registry.context(`something about ${topic}`, turn)) ?? '';
      const now = linesOf(text);
      expect(now.slice(0, before.length)).toEqual(before);
      expect(await countTokens(text)).toBeLessThanOrEqual(BUDGET);
      before = now;
    }
  });

  it('another thread, and another agent of the same one, choose for themselves', async () => {
    const { registry } = await open();
    await registry.context('violin lessons', turn);
    for (const other of [
      { threadId: 'u', agentId: 'a' },
      { threadId: 't', agentId: 'b' },
    ]) {
      const [line] = linesOf(await registry.context('chess', other)).filter((one) => !one.includes('`chess-'));
      expect(line ?? '').not.toContain('`violin-');
    }
  });

  it('a skill that has changed makes the turn choose anew, and a new one does not', async () => {
    const { registry, root } = await open();
    const first = linesOf(await registry.context('violin lessons', turn));
    writeTree(root, skillOf('chess', 99));
    await registry.refresh();
    expect(linesOf(await registry.context('yes, please go on', turn))).toEqual(first);
    writeTree(root, { 'skills/violin-03/SKILL.md': skillMd({ name: 'violin-03', description: 'Tunes the violin.' }) });
    await registry.refresh();
    const text = (await registry.context('chess', turn)) ?? '';
    expect(text).not.toContain('Helps people with violin, step number 3 of');
    expect(text).toContain('`chess-');
  });
});
