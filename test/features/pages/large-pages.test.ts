import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { tarGz } from '../../helpers/archives.ts';
import { INDEX, type LargePage, largePage, OTHERS, pageSkill } from '../../helpers/large-page.ts';
import { copyIn, idsOf, letAnHourPass, problemsOf, readPage } from '../../helpers/published-page.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const COOK = { agentId: 'cook' };

let cache = '';
beforeEach(() => {
  cache = tempFolder();
  return () => void vi.unstubAllEnvs();
});

const pot = (script = 'echo clean\n'): Buffer =>
  tarGz([
    { path: 'SKILL.md', content: pageSkill('pot') },
    { path: 'scripts/clean.sh', content: script, mode: 0o755 },
  ]);

const bodyOf = async (registry: SkillRegistry, id = 'tea'): Promise<string> =>
  (await registry.read(id, {}, COOK)).content;

async function teaPage(): Promise<LargePage> {
  return largePage({ tea: pageSkill('tea'), pot: pot() });
}

describe('a page with more skills than are copied whole', () => {
  it('lists them all by its entries, fetches a skill when it is read, once, and no process fetches it again', async () => {
    const page = await teaPage();
    const registry = await readPage(page.url, cache);
    expect([idsOf(registry), problemsOf(registry)]).toEqual([[...OTHERS, 'pot', 'tea'], []]);
    expect([page.asked(), registry.snapshot().byId.get('pot')?.remote]).toEqual([[], 'until-read']);
    expect(await Promise.all(Array.from({ length: 8 }, () => bodyOf(registry)))).toEqual(Array(8).fill('MARKED tea.'));
    const { resources, directory = '' } = await registry.read('pot', {}, COOK);
    expect([resources, directory.startsWith(copyIn(cache))]).toEqual([[{ path: 'scripts/clean.sh', size: 11 }], true]);
    expect((await registry.readResource('pot', 'scripts/clean.sh', COOK)).content).toBe('echo clean\n');
    expect(page.asked()).toEqual(['tea', 'pot']);
    expect(registry.snapshot().byId.get('pot')).not.toHaveProperty('remote');
    const another = await readPage(page.url, cache);
    expect([await bodyOf(another), await bodyOf(another, 'pot'), page.asked()]).toEqual([
      'MARKED tea.',
      'MARKED pot.',
      [],
    ]);
    letAnHourPass(cache);
    expect(await bodyOf(await readPage(page.url, cache))).toBe('MARKED tea.');
    expect(page.answers).toEqual([`304 ${INDEX}`]);
  });

  it('fetches a skill whose file is what is read first', async () => {
    const page = await teaPage();
    const registry = await readPage(page.url, cache);
    expect((await registry.readResource('pot', 'scripts/clean.sh', COOK)).content).toBe('echo clean\n');
    const bytes = await registry.admin.readBytes('tea', {}, COOK);
    expect([Buffer.from(bytes).toString(), page.asked()]).toEqual([pageSkill('tea'), ['pot', 'tea']]);
  });

  it('is copied whole with 200 skills, and not with one more', async () => {
    const few = await largePage({ tea: pageSkill('tea') }, OTHERS.slice(0, 199));
    const registry = await readPage(few.url, cache);
    expect([few.asked().length, idsOf(registry)]).toEqual([200, ['tea']]);
    const many = await largePage({ tea: pageSkill('tea') }, OTHERS.slice(0, 200));
    expect([idsOf(await readPage(many.url, tempFolder())).length, many.asked()]).toEqual([201, []]);
  });

  it('gives the new version of a skill whose entry has changed, and never the old one as that', async () => {
    const page = await teaPage();
    expect(await bodyOf(await readPage(page.url, cache))).toBe('MARKED tea.');
    page.put('tea', pageSkill('tea', 'Steep it longer.'));
    page.drop('pot');
    letAnHourPass(cache);
    const registry = await readPage(page.url, cache);
    expect([idsOf(registry), page.asked()]).toEqual([[...OTHERS, 'tea'], ['tea']]);
    const answer = page.answer;
    page.answer = (path, response) => path.includes('artifacts') && Boolean(response.writeHead(503).end());
    await expect(bodyOf(registry)).rejects.toMatchObject({ code: 'ORIGIN_UNAVAILABLE' });
    page.answer = answer;
    expect(await bodyOf(registry)).toBe('Steep it longer.');
  });

  it('goes on with what was read while the page is away, and says of the rest that it is away', async () => {
    const page = await teaPage();
    await bodyOf(await readPage(page.url, cache));
    letAnHourPass(cache);
    await page.away();
    const registry = await readPage(page.url, cache);
    expect([idsOf(registry).length, await bodyOf(registry)]).toEqual([203, 'MARKED tea.']);
    await expect(registry.read('pot')).rejects.toMatchObject({
      code: 'ORIGIN_UNAVAILABLE',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    await expect(bodyOf(registry, 'pot')).rejects.toMatchObject({
      code: 'ORIGIN_UNAVAILABLE',
      message: expect.stringMatching(/^"pot" is not on this machine yet, .*skill-registry show pot says why\.$/),
    });
    await page.back();
    expect(await bodyOf(registry, 'pot')).toBe('MARKED pot.');
  });

  it('answers all else while one skill hangs, and each who waits for that gets what comes', async () => {
    const page = await teaPage();
    const registry = await readPage(page.url, cache);
    let hanging: (() => void) | undefined;
    page.answer = (path, response) => {
      if (!path.includes('tea')) return false;
      hanging = () => response.destroy();
      return true;
    };
    const waiting = [1, 2].map(() => bodyOf(registry).catch((error: { code: string }) => error.code));
    await waitFor('the request', () => hanging !== undefined);
    expect([await bodyOf(registry, 'pot'), idsOf(registry).length]).toEqual(['MARKED pot.', 203]);
    page.answer = undefined;
    hanging?.();
    // A connection that breaks is tried once more.
    expect(await Promise.all(waiting)).toEqual(['MARKED tea.', 'MARKED tea.']);
  });

  it('finds them by words of their entries, with nothing that stays provisional', async () => {
    const page = await teaPage();
    const registry = await readPage(page.url, cache);
    const found = registry.list({ query: 'makes pot', why: true }, COOK);
    expect(found).toMatchObject({ skills: [expect.objectContaining({ skillId: 'pot' })] });
    expect(found).not.toHaveProperty('provisional');
    expect(page.asked()).toEqual([]);
  });

  it('reads again what was changed in its copy on this machine', async () => {
    const page = await teaPage();
    const first = await readPage(page.url, cache);
    const { directory = '' } = await first.read('pot');
    writeFileSync(join(directory, 'scripts/clean.sh'), 'evil clean\n');
    await expect(first.readResource('pot', 'scripts/clean.sh')).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
    const again = await readPage(page.url, cache);
    expect(problemsOf(again)).toEqual([]);
    expect((await again.readResource('pot', 'scripts/clean.sh', COOK)).content).toBe('echo clean\n');
    expect(page.asked()).toEqual(['pot', 'pot']);
  });
});

it('the commands say that a skill comes when it is read, and show fetches it', async () => {
  const page = await teaPage();
  vi.stubEnv('XDG_CACHE_HOME', cache);
  const root = tempFolder({ 'data/skill_registry/config.yaml': `sources: [{ wellKnown: "${page.url}" }]\n` });
  const run = (...args: readonly string[]) => runCommand([...args, '--root', root]);
  const rows = JSON.parse((await run('list', '--json')).stdout) as { skills: { skill_id: string }[] };
  expect(rows.skills.at(-1)).toMatchObject({ skill_id: 'tea', comes_when_read: true });
  expect((await run('list')).stderr).toMatch(/203 skills, 203 come when they are read/);
  expect((await run('doctor')).stdout).toMatch(/203 skills, 203 come when they are read/);
  expect([page.asked(), (await run('show', 'tea')).stdout, page.asked()]).toEqual([
    [],
    expect.stringContaining('MARKED tea.'),
    ['tea'],
  ]);
  const after = JSON.parse((await run('list', '--json')).stdout) as typeof rows;
  expect(after.skills.at(-1)).not.toHaveProperty('comes_when_read');
});
