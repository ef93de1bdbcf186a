import { appendFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { expect, it, vi } from 'vitest';
import { servePage } from '../helpers/page-server.ts';
import { letAnHourPass, problemsOf, readPage } from '../helpers/published-page.ts';
import { spawnCommand } from '../helpers/run-command.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';

/** More than an index may name, such as 50000. */
const COUNT = Number(process.env.PAGE_SKILLS ?? 0);
const FOLDER = '/.well-known/agent-skills';
const HOUR = 3_600_000;

function skill(at: number): readonly [path: string, text: string] {
  const name = `skill-${String(at).padStart(5, '0')}`;
  const description = `Tells how to brew tea number ${at}, in which pot and how long. Use when somebody asks for that tea.`;
  return [`skills/${name}/SKILL.md`, skillMd({ name, description }, `Steep it ${at} seconds.`)];
}

it.skipIf(COUNT === 0)(
  'shows a machine every skill of a page that is larger than an index, for one part when one has changed (needs PAGE_SKILLS)',
  { timeout: HOUR },
  async () => {
    const [root, cache] = [
      tempFolder(Object.fromEntries(Array.from({ length: COUNT }, (_, at) => skill(at)))),
      tempFolder(),
    ];
    const to = join(root, 'public');
    const publish = () => spawnCommand(['publish', '--root', root, '--to', to]);
    expect((await publish()).stderr).toContain(`Other programs see 10000 of the ${COUNT} skills`);
    const page = await servePage(to);
    /** What was asked for since the last time, and the bytes of the answers. */
    const asked = (): { readonly paths: readonly string[]; readonly bytes: number } => {
      const answers = page.answers.splice(0);
      const sent = answers.filter((answer) => answer.startsWith('200 ')).map((answer) => answer.slice(4));
      const bytes = sent.reduce((sum, path) => sum + statSync(join(to, path)).size, 0);
      return { paths: answers.map((answer) => answer.replace(/[0-9a-f]{64}/, '<digest>')).sort(), bytes };
    };
    const whole = await readUntil(await readPage(page.url, cache), (one) => one.snapshot().skills.length === COUNT);
    await whole.admin.inspectSkills();
    expect(problemsOf(whole)).toEqual([]);
    await whole.close();
    const first = asked();
    expect(first.paths.filter((path) => path.includes('/artifacts/'))).toEqual([]);
    process.stderr.write(`first catalog: ${first.paths.length} requests, ${first.bytes} bytes\n`);
    vi.stubEnv('XDG_CACHE_HOME', cache);

    letAnHourPass(cache);
    const again = await readUntil(await readPage(page.url, cache), () => page.answers.length > 0);
    expect(asked()).toEqual({ paths: [`304 ${FOLDER}/index-parts.json`], bytes: 0 });
    const digest = (one: SkillRegistry) => one.snapshot().byId.get('skill-00007')?.digest;
    const before = digest(again);
    await again.close();

    appendFileSync(join(root, 'skills/skill-00007/SKILL.md'), '\nChanged.\n');
    await publish();
    letAnHourPass(cache);
    const changed = await readUntil(await readPage(page.url, cache), (one) => digest(one) !== before);
    expect((await changed.read('skill-00007')).content).toContain('Changed.');
    const { paths, bytes } = asked();
    expect(paths).toEqual([
      `200 ${FOLDER}/artifacts/skill-00007.<digest>.md`,
      `200 ${FOLDER}/index-parts.json`,
      `200 ${FOLDER}/parts/<digest>.json`,
    ]);
    process.stderr.write(`one of ${COUNT} skills changed: ${paths.length} requests, ${bytes} bytes\n`);
    expect(bytes).toBeLessThan(1_000_000);
    await changed.close();
  },
);

async function readUntil(
  registry: SkillRegistry,
  isDone: (registry: SkillRegistry) => boolean | Promise<boolean>,
): Promise<SkillRegistry> {
  await waitFor(
    'the page',
    async () => {
      await registry.refresh();
      return isDone(registry);
    },
    HOUR,
  );
  return registry;
}
