import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { idsOfPage, PAGE, publishInParts as publish } from '../../../helpers/page-in-parts.ts';
import { type PageServer, servePage } from '../../../helpers/page-server.ts';
import { idsOf, letAnHourPass, problemsOf, readPage } from '../../../helpers/published-page.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

const HEAD = `${PAGE}/index-parts.json`;
const IDS = idsOfPage(12);
const digestOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const filesIn = (to: string, folder: string): readonly string[] => readdirSync(join(to, PAGE, folder));

let [to, cache] = ['', ''];
beforeEach(() => {
  [to, cache] = [join(tempFolder(), 'public'), tempFolder()];
  return () => void vi.unstubAllEnvs();
});

describe('a hostile head', () => {
  interface Head {
    parts: { digest: string; skills: number }[];
  }
  const of = (id: string) => ({
    name: id,
    type: 'skill-md',
    description: 'Tea.',
    url: 'artifacts/x.md',
    digest: digestOf(id),
  });
  const $schema = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';

  const changeEach = (head: Head, change: (skills: number) => number): void => {
    for (const part of head.parts) part.skills = change(part.skills);
  };

  /** Changes the head, and adds parts. */
  type Attack = (head: Head, add: (names: readonly string[]) => { digest: string; skills: number }) => unknown;
  const ATTACKS: readonly (readonly [string, Attack, RegExp])[] = [
    ['names a skill in two parts', (head, add) => head.parts.push(add(['tea-00'])), /is in another part, too/],
    ['names a part that is not there', (head) => head.parts.push({ digest: digestOf('x'), skills: 1 }), /status 404/],
    ['says another number of skills', (head) => changeEach(head, (skills) => skills + 1), /its head says/],
    ['says a number that is too large', (head) => changeEach(head, () => 10_000), /more than 100000/],
    ['says a number that is none', (head) => changeEach(head, () => -1), /it is no head/],
    ['names a part twice', (head) => head.parts.push(...head.parts.slice(0, 1)), /a part twice/],
    [
      'names more parts than there are',
      (head) => {
        head.parts = Array.from({ length: 257 }, (_, at) => ({ digest: digestOf(`${at}`), skills: 1 }));
      },
      /at most 256/,
    ],
    [
      'has a digest that leads elsewhere',
      (head) => head.parts.push({ digest: 'sha256:../../x', skills: 1 }),
      /it is no head/,
    ],
  ];

  it.each(ATTACKS)('leaves the last good copy in use: it %s', async (_what, attack, why) => {
    const page = await copied();
    const head = headIn(to);
    attack(head, (names) => {
      const text = JSON.stringify({ $schema, skills: names.map(of) });
      writeFileSync(join(to, PAGE, 'parts', `${digestOf(text).slice(7)}.json`), text);
      return { digest: digestOf(text), skills: names.length };
    });
    writeFileSync(join(to, HEAD), JSON.stringify(head));
    await stillWhole(page, why);
  });

  it.each([
    [
      'other bytes',
      (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace('Brew', 'Pour')),
      /its bytes are/,
    ],
    ['no end', (file: string) => writeFileSync(file, Buffer.alloc(8 * 1024 * 1024 + 1)), /more than 8388608 bytes/],
  ])('leaves the last good copy in use: a part has %s', async (_what, damage, why) => {
    const page = await copied();
    const before = new Set(filesIn(to, 'parts'));
    await publish(to, IDS, { 'tea-07': 'Longer.' });
    const [changed = ''] = filesIn(to, 'parts').filter((name) => !before.has(name));
    damage(join(to, PAGE, 'parts', changed));
    await stillWhole(page, why);
  });

  const headIn = (folder: string): Head => JSON.parse(readFileSync(join(folder, HEAD), 'utf8')) as Head;

  async function copied(): Promise<PageServer> {
    await publish(to, IDS);
    const page = await servePage(to);
    await readPage(page.url, cache);
    letAnHourPass(cache);
    return page;
  }

  async function stillWhole({ url }: PageServer, why: RegExp): Promise<void> {
    const registry = await readPage(url, cache);
    expect(idsOf(registry)).toEqual(IDS);
    expect((await registry.read('tea-07')).content).toContain('Steep it.');
    expect(problemsOf(registry)).toEqual([
      expect.stringMatching(/ORIGIN_(?:REFUSED|UNAVAILABLE): .*when it last answered/),
    ]);
    expect(problemsOf(registry)[0]).toMatch(why);
  }
});
