import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openRoot } from '../../../helpers/open-registry.ts';
import { copyIn, idsOf, letAnHourPass, problemsOf, publishedPage, readPage } from '../../../helpers/published-page.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { skillMd, tempFolder, writeTree } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

const tea = (body: string): string => skillMd({ name: 'tea', description: 'Brew tea.' }, body);
const SKILLS = {
  'skills/tea/SKILL.md': tea('Steep it.'),
  'skills/pot/SKILL.md': skillMd({ name: 'pot', description: 'Clean a pot.' }),
  'skills/pot/scripts/clean.sh': { content: 'echo clean\n', mode: 0o755 },
  'skills/pot/images/pot.png': Buffer.from([0x89, 0x50, 0, 1, 2]),
};
const INDEX = '/.well-known/agent-skills/index.json';

let cache = '';
beforeEach(() => {
  cache = tempFolder();
  return () => void vi.unstubAllEnvs();
});

describe('a well-known page as a source', () => {
  it('reads byte for byte what was published', async () => {
    const { root, page } = await publishedPage(SKILLS);
    const registry = await readPage(page.url, cache);
    expect(problemsOf(registry)).toEqual([]);
    expect(registry.snapshot().skills.map(({ qualifiedId }) => qualifiedId)).toEqual([
      '127.0.0.1:pot',
      '127.0.0.1:tea',
    ]);
    for (const path of ['SKILL.md', 'scripts/clean.sh', 'images/pot.png']) {
      const bytes = await registry.admin.readBytes('pot', path === 'SKILL.md' ? {} : { path });
      expect(Buffer.from(bytes).equals(readFileSync(join(root, 'skills/pot', path)))).toBe(true);
    }
    const { directory = '', resources } = await registry.read('pot');
    expect(resources.map(({ path }) => path)).toEqual(['images/pot.png', 'scripts/clean.sh']);
    expect(directory.startsWith(copyIn(cache))).toBe(true);
    expect(page.answers).toHaveLength(3);
  });

  it('asks again by the ETag when the interval has passed, and not before', async () => {
    const { page } = await publishedPage(SKILLS);
    await readPage(page.url, cache);
    page.answers.length = 0;
    expect(idsOf(await readPage(page.url, cache))).toEqual(['pot', 'tea']);
    expect(page.answers).toEqual([]);
    letAnHourPass(cache);
    expect(idsOf(await readPage(page.url, cache))).toEqual(['pot', 'tea']);
    expect(page.answers).toEqual([`304 ${INDEX}`]);
    await readPage(page.url, cache);
    expect(page.answers).toHaveLength(1);
  });

  it('fetches only what has changed, and drops what the page has no more', async () => {
    const { root, page, publish } = await publishedPage(SKILLS);
    await readPage(page.url, cache);
    writeTree(root, {
      'skills/tea/SKILL.md': tea('Steep it longer.'),
      'skills/cup/SKILL.md': skillMd({ name: 'cup', description: 'A cup.' }),
    });
    await publish();
    page.answers.length = 0;
    letAnHourPass(cache);
    const registry = await readPage(page.url, cache);
    expect(idsOf(registry)).toEqual(['cup', 'pot', 'tea']);
    expect((await registry.read('tea')).content).toContain('longer');
    expect(page.answers.map((answer) => answer.replace(/\.[0-9a-f]{64}/, '')).sort()).toEqual([
      '200 /.well-known/agent-skills/artifacts/cup.md',
      '200 /.well-known/agent-skills/artifacts/tea.md',
      `200 ${INDEX}`,
    ]);
    rmSync(join(root, 'skills/cup'), { recursive: true });
    await publish();
    letAnHourPass(cache);
    expect(idsOf(await readPage(page.url, cache))).toEqual(['pot', 'tea']);
  });

  it('shows a running registry what was published since', async () => {
    const { root, page, publish } = await publishedPage(SKILLS);
    const registry = await readPage(page.url, cache, { interval_seconds: 1 });
    const changed: string[] = [];
    registry.onChange((ids) => changed.push(...ids));
    writeFileSync(join(root, 'skills/tea/SKILL.md'), tea('Steep it longer.'));
    await publish();
    await waitFor('the change', async () => {
      await registry.refresh();
      return changed.includes('tea');
    });
    expect((await registry.read('tea')).content).toContain('longer');
  });

  it('goes on serving when the address is away, says since when, and stops saying so when it is back', async () => {
    const { page } = await publishedPage(SKILLS);
    await readPage(page.url, cache);
    const then = letAnHourPass(cache);
    await page.away();
    const registry = await readPage(page.url, cache, { interval_seconds: 1 });
    expect(idsOf(registry)).toEqual(['pot', 'tea']);
    expect((await registry.read('tea')).content).toContain('Steep');
    expect(problemsOf(registry)).toEqual([expect.stringMatching(/^warning ORIGIN_UNAVAILABLE: .*ECONNREFUSED/)]);
    expect(problemsOf(registry)[0]).toContain(`when it last answered, on ${then.toISOString()}`);
    expect(problemsOf(registry)[0]).toContain('and the address right? Its skills are used as');
    await page.back();
    await waitFor('the page', async () => {
      await registry.refresh();
      return registry.problems().length === 0;
    });
  });

  it('leaves other sources alone when the address is away and there is no copy', async () => {
    const { page } = await publishedPage(SKILLS);
    await page.away();
    vi.stubEnv('XDG_CACHE_HOME', cache);
    const root = tempFolder({ 'skills/own/SKILL.md': skillMd({ name: 'own', description: 'Mine.' }) });
    const sources = [{ wellKnown: page.url, id: 'team' }, { path: 'skills' }];
    const registry = await openRoot(root, { config: { sources } });
    expect(idsOf(registry)).toEqual(['own']);
    expect(problemsOf(registry)).toEqual([
      expect.stringMatching(/^error ORIGIN_UNAVAILABLE: .*no copy of its skills on this machine/),
    ]);
    const optional = await openRoot(root, { config: { sources: [{ wellKnown: page.url, optional: true }] } });
    expect(problemsOf(optional)).toEqual([]);
  });

  it('hands out no byte of its copy that the page did not have, and fetches the skill again', async () => {
    const { page } = await publishedPage(SKILLS);
    const registry = await readPage(page.url, cache, { interval_seconds: 1 });
    const { directory = '' } = await registry.read('pot');
    writeFileSync(join(directory, 'scripts/clean.sh'), 'evil clean\n');
    await expect(registry.readResource('pot', 'scripts/clean.sh')).rejects.toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
    });
    writeFileSync(join(directory, 'SKILL.md'), tea('Do evil.'));
    await expect(registry.read('pot')).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
    // The next process compares the whole copy before it shows anything.
    await page.away();
    const alone = await readPage(page.url, cache);
    expect(idsOf(alone)).toEqual(['tea']);
    expect(problemsOf(alone)).toContainEqual(expect.stringMatching(/^error ORIGIN_REFUSED: The copy of the skill pot/));
    await page.back();
    page.answers.length = 0;
    const again = await readPage(page.url, cache);
    expect(problemsOf(again)).toEqual([]);
    expect((await again.readResource('pot', 'scripts/clean.sh')).content).toBe('echo clean\n');
    expect(page.answers.map((answer) => answer.slice(0, 40))).toEqual([
      `304 ${INDEX}`,
      '200 /.well-known/agent-skills/artifacts/',
    ]);
  });

  it('fetches everything anew when the copy cannot be read', async () => {
    const { page } = await publishedPage(SKILLS);
    for (const text of [
      '',
      '{',
      '[]',
      '{"format":1,"skills":[{"name":"../../x","digest":"a","files":[],"stamp":""}]}',
    ]) {
      await readPage(page.url, cache);
      writeFileSync(join(copyIn(cache), 'copy.json'), text);
      const registry = await readPage(page.url, cache);
      expect(problemsOf(registry)).toEqual([]);
      expect(idsOf(registry)).toEqual(['pot', 'tea']);
    }
  });

  it('goes on with what a process that ended early has fetched', async () => {
    const { page } = await publishedPage(SKILLS);
    const { content } = await (await readPage(page.url, cache)).read('tea');
    const copy = join(copyIn(cache), 'copy.json');
    const { skills } = JSON.parse(readFileSync(copy, 'utf8')) as { skills: readonly unknown[] };
    writeFileSync(join(copyIn(cache), 'fetched.jsonl'), `${JSON.stringify(skills[1])}\n{"name":"po`);
    rmSync(copy);
    page.answers.length = 0;
    const registry = await readPage(page.url, cache);
    expect((await registry.read('tea')).content).toBe(content);
    expect(page.answers).toHaveLength(2);
    expect(page.answers.join()).not.toContain('tea.');
  });

  it('is not asked in a root that nobody has approved', async () => {
    const { page } = await publishedPage(SKILLS);
    page.answers.length = 0;
    vi.stubEnv('XDG_CACHE_HOME', cache);
    const config = { sources: [{ wellKnown: page.url }] };
    const registry = await openRoot(tempFolder(), { config, trust: false });
    expect(problemsOf(registry)).toEqual([expect.stringMatching(/^warning ROOT_NOT_APPROVED/)]);
    const root = tempFolder({ 'data/skill_registry/config.yaml': `sources: [{ wellKnown: "${page.url}" }]\n` });
    const { stdout } = await runCommand(['list', '--json', '--root', root], { trust: false });
    expect(JSON.parse(stdout)).toMatchObject({ total: 0, problems: [{ code: 'ROOT_NOT_APPROVED' }] });
    expect(page.answers).toEqual([]);
    expect(JSON.parse((await runCommand(['list', '--json', '--root', root])).stdout)).toMatchObject({ total: 2 });
  });

  it('is one copy for processes that fetch it at the same time', async () => {
    const { page } = await publishedPage(SKILLS);
    const registries = await Promise.all(Array.from({ length: 4 }, () => readPage(page.url, cache)));
    for (const registry of registries) {
      expect(problemsOf(registry)).toEqual([]);
      expect((await registry.readResource('pot', 'scripts/clean.sh')).content).toBe('echo clean\n');
    }
  });
});
