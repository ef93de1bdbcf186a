import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { partOf, readIndex } from '../../../extensions/skill_registry/features/pages/page-index.ts';
import type { Artifact } from '../../../extensions/skill_registry/features/pages/publish/artifact.ts';
import { assertReadable } from '../../../extensions/skill_registry/features/pages/publish/publish.ts';
import { openPublished } from '../../../extensions/skill_registry/features/pages/publish/write-page.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { artifactFor, idsOfPage, PAGE, publishInParts as publish } from '../../helpers/page-in-parts.ts';
import { servePage } from '../../helpers/page-server.ts';
import { idsOf, letAnHourPass, problemsOf, readPage } from '../../helpers/published-page.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const HEAD = `/${PAGE}/index-parts.json`;
const IDS = idsOfPage(12);
const filesIn = (to: string, folder: string): readonly string[] => readdirSync(join(to, PAGE, folder));

let [to, cache] = ['', ''];
beforeEach(() => {
  [to, cache] = [join(tempFolder(), 'public'), tempFolder()];
  return () => void vi.unstubAllEnvs();
});

describe('a page with more skills than an index may have', () => {
  it('shows others a valid index with as many as it may have, and this registry all', async () => {
    expect(await publish(to, IDS)).toMatchObject({ inIndex: 8 });
    const index = readIndex(readFileSync(join(to, PAGE, 'index.json'), 'utf8'), 'http://localhost/');
    expect([index.entries.map(({ name }) => name), index.refused]).toEqual([IDS.slice(0, 8), []]);
    const { url } = await servePage(to);
    const registry = await readPage(url, cache);
    expect([idsOf(registry), problemsOf(registry)]).toEqual([IDS, []]);
    const { registry: another } = await openRegistry();
    expect((await another.origin.add(url, { skills: ['tea-11'] })).skills).toMatchObject([{ id: 'tea-11' }]);
  });

  it('fits its bytes as well', async () => {
    const { inIndex } = await publish(to, IDS, {}, { entries: 1_000, bytes: 3_000 });
    expect(inIndex).toBeGreaterThan(4);
    expect(inIndex).toBeLessThan(IDS.length);
    expect(readFileSync(join(to, PAGE, 'index.json')).length).toBeLessThan(3_000);
  });

  it('costs a machine one conditional request when nothing has changed, and of one changed skill its part, the head and the skill', async () => {
    await publish(to, IDS);
    const page = await servePage(to);
    await readPage(page.url, cache);
    letAnHourPass(cache);
    page.answers.length = 0;
    expect(idsOf(await readPage(page.url, cache))).toEqual(IDS);
    expect(page.answers).toEqual([`304 ${HEAD}`]);
    const { changed } = await publish(to, IDS, { 'tea-07': 'Steep it longer.' });
    expect([...changed]).toEqual(['tea-07']);
    letAnHourPass(cache);
    page.answers.length = 0;
    const registry = await readPage(page.url, cache);
    expect((await registry.read('tea-07')).content).toContain('longer');
    const answers = page.answers.map((answer) => answer.replace(/[0-9a-f]{64}/, '<digest>')).sort();
    expect(answers).toEqual([
      `200 /${PAGE}/artifacts/tea-07.<digest>.md`,
      `200 ${HEAD}`,
      `200 /${PAGE}/parts/<digest>.json`,
    ]);
  });

  it('ends at what the page says now when it changes after its head was read and its old parts are gone', async () => {
    await publish(to, IDS);
    const page = await servePage(to);
    const longer = { 'tea-03': 'Steep it longer.', 'tea-07': 'Steep it longer.' };
    let isChanged = false;
    page.answer = (path, response) => {
      if (!path.includes('/parts/') || isChanged) return false;
      isChanged = true;
      const again = async () => {
        // The second one removes what the first page named.
        for (const _ of [1, 2]) await publish(to, IDS, longer);
        response.writeHead(404).end();
      };
      again().catch((error: unknown) => response.destroy(error as Error));
      return true;
    };
    const registry = await readPage(page.url, cache);
    expect([idsOf(registry), problemsOf(registry)]).toEqual([IDS, []]);
    for (const id of Object.keys(longer)) expect((await registry.read(id)).content).toContain('longer');
    expect(page.answers.filter((answer) => answer.endsWith(HEAD))).toHaveLength(2);
  });

  it('says which skill is of another time when its artifact changes while it is read, and ends whole at the next look', async () => {
    await publish(to, IDS);
    const page = await servePage(to);
    page.answer = (path, response) => path.includes('tea-07') && Boolean(response.writeHead(404).end());
    const early = await readPage(page.url, cache);
    expect(idsOf(early)).toEqual(IDS.filter((id) => id !== 'tea-07'));
    expect(problemsOf(early)).toEqual([expect.stringMatching(/^error ORIGIN_REFUSED: .*tea-07.*status 404/)]);
    page.answer = undefined;
    letAnHourPass(cache);
    const late = await readPage(page.url, cache);
    expect([idsOf(late), problemsOf(late)]).toEqual([IDS, []]);
  });

  it('can be published again, keeps old parts for one more time, and gets an index alone again', async () => {
    await publish(to, IDS);
    const parts = filesIn(to, 'parts');
    const page = await servePage(to);
    await readPage(page.url, cache);
    await publish(to, IDS, { 'tea-07': 'Longer.' });
    expect(filesIn(to, 'parts')).toHaveLength(parts.length + 1);
    await publish(to, IDS, { 'tea-07': 'Longer.' });
    expect(filesIn(to, 'parts')).toHaveLength(parts.length);
    const few = await publish(to, IDS.slice(0, 5));
    expect(few).toMatchObject({ inIndex: 5, parts: 0 });
    expect(filesIn(to, '.')).not.toContain('index-parts.json');
    letAnHourPass(cache);
    expect(idsOf(await readPage(page.url, cache))).toEqual(IDS.slice(0, 5));
    await publish(to, IDS);
    letAnHourPass(cache);
    expect(idsOf(await readPage(page.url, cache))).toEqual(IDS);
  });

  it('is finished by another publish when the first was ended before its index', async () => {
    await publish(to, IDS);
    rmSync(join(to, PAGE, 'index.json'));
    expect(await publish(to, IDS)).toMatchObject({ inIndex: 8 });
    rmSync(join(to, PAGE, 'index.json'));
    writeFileSync(join(to, PAGE, 'mine.txt'), '');
    expect(() => openPublished(to, [])).toThrow(/was not made by publish/);
  });

  it('is not written when nobody could read it', () => {
    const one = artifactFor('tea');
    const many = (count: number, change: Partial<Artifact>) =>
      Array.from({ length: count }, () => ({ ...one, ...change }));
    expect(() => assertReadable(many(100_000, {}))).not.toThrow();
    expect(() => assertReadable(many(100_001, {}))).toThrow(/have 100001 skills, and a page has at most 100000/);
    expect(() => assertReadable(many(401, { fileCount: 500 }))).toThrow(/have 200500 files/);
    expect(() => assertReadable(many(50, { unpackedBytes: 50 * 1024 * 1024 }))).toThrow(/have 2621440000 bytes/);
  });
});

it('names a skill always in the same part, else every machine would fetch all of them again', () => {
  expect(['tea', 'pot', 'a'].map(partOf)).toEqual([169, 116, 202]);
});
