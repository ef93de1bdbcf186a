import { createSkillMcpDoor, serveHttp } from 'skill-registry/mcp';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { countTokens } from '../../../lib/text/index.ts';
import { callTool, httpClient } from '../../helpers/mcp.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { openWithPending } from '../../helpers/pending.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd, type Tree, writeTree } from '../../helpers/temp-folder.ts';

const skill = (id: string, fields: Readonly<Record<string, string>> = {}): Tree => ({
  [`skills/${id}/SKILL.md`]: skillMd({ name: id, description: `Helps with ${id} all day long.`, ...fields }),
});
const many = (topic: string, count: number): Tree =>
  Object.assign(
    {},
    ...Array.from({ length: count }, (_, at) => {
      const id = `${topic}-${String(at).padStart(2, '0')}`;
      return skill(id, {
        description: `Helps with ${id} on each of the many long days of a year. Use when it matters.`,
      });
    }),
  );
const FEW = { ...skill('apple'), ...skill('bread') };
const LATER = { ...skill('weather', { tags: 'sky' }), ...skill('wind', { tags: 'sky' }), ...skill('zebra') };
const linesOf = (text: string | null): readonly string[] =>
  (text ?? '').split('\n').filter((line) => line.startsWith('• '));
const idsOf = (text: string | null): readonly string[] => linesOf(text).map((line) => line.split('`')[1] ?? '');
const AGAIN = 'This answer is provisional: 3 more skill(s) are not ready yet. Ask again in about 2 s.';

describe('while skills are not inspected yet', () => {
  it('a list says so, how many, and when to ask again; and is whole as soon as they are', async () => {
    const { registry } = await openWithPending(FEW, LATER);
    const notYet = { provisional: true, pending: 3 };
    expect(registry.list({ limit: 1 })).toMatchObject({ total: 5, truncated: true, ...notYet, message: AGAIN });
    expect(registry.list({ query: 'apple' })).toMatchObject({ total: 1, ...notYet, message: AGAIN });
    const weather = await runRegistryTool(registry, 'list_skills', { query: 'weather' });
    expect(weather).toEqual({
      ...{ success: true, skills: [], total: 0, truncated: false, ...notYet },
      message: `No skill fits. ${AGAIN}`,
    });
    await registry.admin.inspectSkills();
    for (const found of [registry.list(), registry.list({ query: 'weather' })]) {
      expect(found).not.toHaveProperty('provisional');
      expect(found).not.toHaveProperty('pending');
      expect(found).not.toHaveProperty('message');
    }
    expect(registry.list().total).toBe(5);
  });

  it('a list speaks of what was asked for, in this scope', async () => {
    const { registry } = await openWithPending(FEW, LATER);
    expect(registry.list({ tag: 'sky' })).toMatchObject({ skills: [], total: 2, pending: 2 });
    expect(registry.list({ tag: 'other' })).toEqual({ skills: [], total: 0, truncated: false });
    expect(registry.list({}, { boundSkills: ['apple', 'wind'] })).toMatchObject({ total: 2, pending: 1 });
    const apple = { boundSkills: ['apple'] };
    expect(registry.list({}, apple)).not.toHaveProperty('provisional');
    expect(await registry.context('', apple)).not.toContain('provisional');
  });

  it('a person sees them, and is told that agents do not yet', async () => {
    const { registry } = await openWithPending(FEW, LATER);
    const message = '3 skill(s) are not inspected yet, and no agent is given them: skill-registry doctor inspects all.';
    const found = registry.list({ audience: 'person' });
    expect(found).toMatchObject({ total: 5, truncated: false, provisional: true, pending: 3, message });
    expect(found.skills).toHaveLength(5);
  });

  it('the text of a turn counts them in one plain line, within its budget', async () => {
    const { registry } = await openWithPending(FEW, LATER);
    const lines = [
      '[Available Skills]',
      '• `apple` — Helps with apple all day long.',
      '• `bread` — Helps with bread all day long.',
      '',
      'Use read_skill(skill_id) to load full instructions.',
      '2 of 5 skills shown; list_skills(query) finds the rest.',
      'This list is provisional: 3 skill(s) are not ready yet; call list_skills again in about 2 s.',
    ];
    expect(await registry.context('')).toBe(lines.join('\n'));
    expect(await registry.context('', { tools: ['read_skill'] })).toMatch(
      /2 of 5 skills shown\.\nThis list is provisional: 3 skill\(s\) are not ready yet; later turns have them\.$/,
    );
    await registry.admin.inspectSkills();
    expect(await registry.context('')).not.toMatch(/provisional|shown/);
  });

  it('the text of a turn is no empty answer when none is inspected', async () => {
    const { registry } = await openWithPending({}, LATER);
    expect(await registry.context('')).toMatch(
      /^\[Available Skills\]\n\n.*\n0 of 3 skills shown;.*\nThis list is prov/,
    );
    expect(await registry.context('', { boundSkills: [] })).toBeNull();
  });

  it('a client over MCP is told in the instructions and by list_skills', async () => {
    const { registry } = await openWithPending(many('apple', 60), many('weather', 60), {
      catalog: { budget_tokens: 300 },
    });
    const door = createSkillMcpDoor(registry);
    const serving = await serveHttp(door);
    onTestFinished(() => serving.close());
    const early = (await httpClient(serving.url, 'legacy')).getInstructions() ?? '';
    expect(early).toMatch(
      /\n\d+ of 120 skills shown; list_skills\(query\) finds the rest\.\nThis list is provisional: 60 /,
    );
    expect(await countTokens(early)).toBeLessThanOrEqual(300);
    const client = await httpClient(serving.url);
    const { result } = await callTool(client, 'list_skills', { query: 'weather' });
    expect(result).toMatchObject({ provisional: true, pending: 60 });
    await registry.admin.inspectSkills();
    const late = (await callTool(client, 'list_skills', { query: 'weather' })).result;
    expect(late).toMatchObject({ total: 60 });
    expect(late).not.toHaveProperty('provisional');
    expect((await httpClient(serving.url, 'legacy')).getInstructions()).not.toContain('provisional');
  });
});

describe('a thread that began while skills were missing', () => {
  const turn = { threadId: 't', agentId: 'a' };
  const [INSPECTED, PENDING] = [many('apple', 60), many('weather', 20)];

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['where some have a line', { catalog: { budget_tokens: 300 } }],
    ['where all have a name', { catalog: { budget_tokens: 700 } }],
  ])('chooses once more, at its next turn with all of them, and then only adds: %s', async (_, config) => {
    const { registry } = await openWithPending(INSPECTED, PENDING, config);
    await registry.admin.prepareSearch();
    const first = await registry.context('the weather tomorrow', turn);
    // What cannot be ranked yet leaves its place empty: nothing of the beginning of the alphabet takes it.
    expect(first).not.toContain('Helps with apple');
    expect(await registry.context('the weather tomorrow', turn)).toBe(first);
    await registry.admin.inspectSkills();
    await registry.admin.prepareSearch();
    const second = await registry.context('the weather tomorrow', turn);
    expect(second).toContain('Helps with weather');
    expect(second).not.toContain('provisional');
    const described = (text: string | null) => linesOf(text).filter((line) => line.includes(' — '));
    const third = await registry.context('an apple a day', turn);
    expect(described(third)).toEqual(expect.arrayContaining([...described(second)]));
    expect(linesOf(third).slice(0, linesOf(second).length)).toEqual(linesOf(second));
  });

  it('is not given all that came first, although it would fit, while most are missing', async () => {
    const { registry } = await openWithPending(many('apple', 30), many('weather', 130), {
      catalog: { budget_tokens: 650 },
    });
    await registry.admin.prepareSearch();
    const first = await registry.context('the weather tomorrow', turn);
    expect(idsOf(first)).toEqual([]);
    expect(first).toContain('\n0 of 160 skills shown;');
    expect(idsOf(await registry.context('apple-07', { threadId: 'other' }))).toContain('apple-07');
    // Without a prompt there is nothing to rank for.
    expect(idsOf(await registry.context(''))).toHaveLength(30);
    await registry.admin.inspectSkills();
    await registry.admin.prepareSearch();
    const second = idsOf(await registry.context('the weather tomorrow', turn));
    expect(second.length).toBeGreaterThan(3);
    expect(second.filter((id) => id.startsWith('apple'))).toEqual([]);
  });

  it('chooses bodies once more, and then keeps them', async () => {
    const body = (id: string): Tree => ({
      [`skills/${id}/SKILL.md`]: skillMd({ name: id, description: `Helps with ${id}.` }, `Body of ${id}. `.repeat(20)),
    });
    const config = { inject: 'bodies', catalog: { budget_tokens: 300 } };
    const { registry } = await openWithPending(
      { ...body('apple'), ...body('bread') },
      { ...body('weather'), ...body('wind') },
      config,
    );
    const first = await registry.context('the weather', turn);
    expect(first).not.toContain('Body of');
    expect(first).toContain('provisional');
    await registry.admin.inspectSkills();
    const second = await registry.context('the weather', turn);
    expect(second).toContain('Body of weather.');
    expect(second).not.toContain('provisional');
    expect(await registry.context('apple and bread', turn)).toBe(second);
  });

  it('does so as well when the index was not done in time', async () => {
    const { registry } = await openRegistry(many('weather', 60), { catalog: { budget_tokens: 300 } });
    // Every look at the clock is 10 seconds later, so that a piece of work takes a break at once; and the turn waits for one break.
    const { setTimeout: later } = globalThis;
    let now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 10_000));
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms?: number) =>
      later(run, ms === 1_000 ? 0 : ms)) as typeof setTimeout);
    onTestFinished(() => void vi.restoreAllMocks());
    const first = await registry.context('weather-07', turn);
    vi.restoreAllMocks();
    expect(first).toContain('This list is provisional: 60 skill(s) are not ready yet');
    expect(idsOf(first)).toEqual([]);
    await registry.admin.prepareSearch();
    const second = await registry.context('weather-07', turn);
    expect(idsOf(second)).toContain('weather-07');
    expect(second).not.toContain('provisional');
    expect(linesOf(await registry.context('weather-58', turn)).slice(0, linesOf(second).length)).toEqual(
      linesOf(second),
    );
  });

  it('keeps its choice when skills are added to it later that are not inspected yet', async () => {
    const { root, registry } = await openWithPending(INSPECTED, {}, { catalog: { budget_tokens: 300 } });
    await registry.admin.prepareSearch();
    const before = linesOf(await registry.context('apple-07', turn));
    expect(before.length).toBeGreaterThan(3);
    writeTree(root, PENDING);
    await registry.refresh();
    const meanwhile = await registry.context('apple-07', turn);
    expect(meanwhile).toContain('provisional');
    expect(linesOf(meanwhile)).toEqual(before);
    await registry.admin.inspectSkills();
    await registry.admin.prepareSearch();
    const after = linesOf(await registry.context('the weather tomorrow', turn));
    expect(after.slice(0, before.length)).toEqual(before);
  });
});
