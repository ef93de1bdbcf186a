import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openRoot } from '../helpers/open-registry.ts';
import { servePage } from '../helpers/page-server.ts';
import { letAnHourPass, problemsOf, readPage } from '../helpers/published-page.ts';
import { runProgram } from '../helpers/run-command.ts';
import { seededRandom } from '../helpers/seeded-random.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../helpers/temp-folder.ts';

const DIST = join(import.meta.dirname, '../../dist/extensions/skill_registry/index.js');
const SKILLS = 150;
const KILLS = Number(process.env.KILLS ?? 8);
const SEED = Number(process.env.KILL_SEED ?? 20_261_122);

/** Skills whose every file says the same word. */
function skillsSaying(word: string): Tree {
  const files = Array.from({ length: SKILLS }, (_, at) => [
    [`skills/s-${at}/SKILL.md`, skillMd({ name: `s-${at}`, description: `Says ${word}.` }, word)],
    [`skills/s-${at}/references/word.md`, `${word}\n`],
  ]).flat();
  return Object.fromEntries(files);
}

function start(program: string, environment: Readonly<Record<string, string>> = {}): ChildProcess {
  const text = `import { createSkillRegistry } from '${pathToFileURL(DIST).href}';\n${program}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Kills a process after some time. @returns whether it was still running. */
async function killAfter(child: ChildProcess, ms: number): Promise<boolean> {
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  const signal = await new Promise((resolve) => child.on('exit', (_status, by) => resolve(by)));
  clearTimeout(timer);
  return signal === 'SIGKILL';
}

const publishing = (root: string): string =>
  `const registry = await createSkillRegistry({ root: ${JSON.stringify(root)}, config: { sources: [{ path: 'skills' }] } });
   await registry.origin.publish({ to: 'public' });
   await registry.close();`;

/** What the page in a folder says; every artifact that its index names is there, whole. */
function wordOf(root: string): string {
  const folder = join(root, 'public/.well-known/agent-skills');
  const { skills } = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as {
    skills: readonly { url: string; digest: string; description: string }[];
  };
  expect(skills).toHaveLength(SKILLS);
  for (const { url, digest } of skills) {
    const bytes = readFileSync(join(folder, url));
    expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(digest);
  }
  const words = new Set(skills.map(({ description }) => description));
  expect(words.size).toBe(1);
  return [...words].join();
}

it('serves all of the old or all of the new, whenever publishing is killed', { timeout: 600_000 }, async () => {
  const random = seededRandom(SEED);
  const root = tempFolder(skillsSaying('word 0'));
  const began = performance.now();
  expect((await runProgram(publishing(root))).status).toBe(0);
  let whole = performance.now() - began;
  let [last, killed] = [wordOf(root), 0];
  for (let at = 1; at <= KILLS; at++) {
    writeTree(root, skillsSaying(`word ${at}`));
    const startedAt = performance.now();
    if (await killAfter(start(publishing(root)), whole * random() * 1.1)) killed++;
    // The first run did more, or the machine is less busy now.
    else whole = performance.now() - startedAt;
    const word = wordOf(root);
    expect([last, `Says word ${at}.`]).toContain(word);
    last = word;
  }
  expect(killed).toBeGreaterThan(KILLS / 4);
});

it('reads all of the old or all of the new, whenever fetching is killed', { timeout: 600_000 }, async () => {
  const random = seededRandom(SEED);
  const root = tempFolder(skillsSaying('word 0'));
  const cache = tempFolder();
  const publisher = await openRoot(root);
  await publisher.origin.publish({ to: 'public' });
  const page = await servePage(join(root, 'public'));
  const reading = `const registry = await createSkillRegistry({ root: ${JSON.stringify(tempFolder())}, config: { sources: [{ wellKnown: '${page.url}' }] } });
    await registry.close();`;
  const began = performance.now();
  expect((await runProgram(reading, { environment: { XDG_CACHE_HOME: cache } })).status).toBe(0);
  let whole = performance.now() - began;
  let [last, killed] = ['Says word 0.', 0];
  for (let at = 1; at <= KILLS; at++) {
    writeTree(root, skillsSaying(`word ${at}`));
    await publisher.origin.publish({ to: 'public' });
    letAnHourPass(cache);
    const startedAt = performance.now();
    if (await killAfter(start(reading, { XDG_CACHE_HOME: cache }), whole * random() * 1.1)) killed++;
    else whole = performance.now() - startedAt;
    await page.away();
    const registry = await readPage(page.url, cache);
    vi.unstubAllEnvs();
    const { skills } = registry.snapshot();
    expect(skills).toHaveLength(SKILLS);
    const words = [...new Set(skills.map(({ description }) => description))];
    expect(words).toHaveLength(1);
    expect([last, `Says word ${at}.`]).toContain(words[0]);
    const { content } = await registry.readResource('s-7', 'references/word.md');
    expect(`Says ${content.trim()}.`).toBe(words[0]);
    expect(problemsOf(registry).filter((problem) => !problem.includes('ORIGIN_UNAVAILABLE'))).toEqual([]);
    await registry.close();
    await page.back();
    last = words[0] as string;
  }
  expect(killed).toBeGreaterThan(KILLS / 4);
});

it('is one copy for processes that fetch it at the same time, and half of which are killed', {
  timeout: 600_000,
}, async () => {
  const random = seededRandom(SEED);
  const root = tempFolder(skillsSaying('word 0'));
  const cache = tempFolder();
  const publisher = await openRoot(root);
  await publisher.origin.publish({ to: 'public' });
  const page = await servePage(join(root, 'public'));
  const environment = { XDG_CACHE_HOME: cache };
  const reading = `const registry = await createSkillRegistry({ root: ${JSON.stringify(tempFolder())}, config: { sources: [{ wellKnown: '${page.url}' }] } });
    // Of one snapshot: on a busy machine the new page may come while the files are read.
    const { skills } = registry.snapshot();
    const words = new Set(skills.map(({ description }) => description));
    for (const { id } of skills) await registry.readResource(id, 'references/word.md');
    console.log(JSON.stringify([skills.length, words.size, registry.problems()]));
    await registry.close();`;
  for (let round = 1; round <= 3; round++) {
    const others = [1, 2].map(() =>
      killAfter(start(reading.replace('console.log', 'String'), environment), 300 + random() * 1_500),
    );
    const results = await Promise.all([1, 2].map(() => runProgram(reading, { environment })));
    await Promise.all(others);
    for (const { stdout, stderr } of results) expect(JSON.parse(stdout || stderr)).toEqual([SKILLS, 1, []]);
    writeTree(root, skillsSaying(`word ${round}`));
    await publisher.origin.publish({ to: 'public' });
    letAnHourPass(cache);
  }
});
