import { join } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import type { SkillRegistry } from 'skill-registry';
import { runTool } from 'skill-registry/kernel';
import { expect } from 'vitest';
import { RACE_DEADLINE_MS } from './busy-process.ts';
import { openRoot } from './open-registry.ts';
import { skillMd, tempFolder } from './temp-folder.ts';
import { outsideFolder, SECRET } from './traps.ts';

/**
 * How often a tool is called at least. RACE_ATTEMPTS: for all, for the long form (npm run campaign -- races).
 *
 * - A file that flips is there or is a link at any moment. A check of a path right before it is opened, the narrowest fault there is,
 *   gave the secret away in one of 50 calls, on a busy machine in one of 400 to 2,000.
 * - Of a folder that flips, that fault gave nothing away in 10,000 calls. A fault that is no race shows at once: a quarter to a half of
 *   the calls find the link.
 */
const ATTEMPTS = { file: 5000, folder: 1000 };

/** One skill, and secrets outside, for another process to swap. */
export interface Race {
  readonly root: string;
  readonly dir: string;
  readonly outside: string;
  readonly registry: SkillRegistry;
}

export async function skillToRaceFor(): Promise<Race> {
  const outside = outsideFolder();
  const root = tempFolder({
    'good-guide.md': 'Good guide.',
    'good-skill.md': skillMd({ name: 'good', description: 'A good skill.' }, 'Good body.'),
    'skills/good/SKILL.md': skillMd({ name: 'good', description: 'A good skill.' }, 'Good body.'),
    'skills/good/references/guide.md': 'Good guide.',
  });
  const registry = await openRoot(root);
  return { root, dir: join(root, 'skills', 'good'), outside, registry };
}

/** Calls a tool so many times, and more until `enough`. @returns every answer there was, as JSON or as a code. */
export async function callOften(
  registry: SkillRegistry,
  name: string,
  args: unknown,
  flips: keyof typeof ATTEMPTS,
  enough: (answers: ReadonlySet<string>) => boolean = hasBothOutcomes,
): Promise<ReadonlySet<string>> {
  const tool = registry.tools().find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  const answers = new Set<string>();
  const call = { turn: {}, signal: new AbortController().signal };
  const attempts = Number(process.env.RACE_ATTEMPTS ?? ATTEMPTS[flips]);
  const until = performance.now() + RACE_DEADLINE_MS;
  for (let n = 0; n < attempts || (!enough(answers) && performance.now() < until); n++) {
    const result = await runTool(tool, args, call);
    const answer = result.success ? JSON.stringify(result) : (result as { error: { code: string } }).error.code;
    answers.add(answer);
    // What goes on in the background needs its turn.
    if (answer === 'SKILL_NOT_INSPECTED') await pause();
  }
  return answers;
}

/** Good content was seen, and a refusal, and nothing else. */
export function expectBothOutcomes(answers: ReadonlySet<string>, content: string): void {
  const seen = [...answers].sort();
  expect(seen.filter((answer) => answer.includes(SECRET))).toEqual([]);
  const good = seen.filter((answer) => answer.includes(JSON.stringify(content)));
  // On a busy machine an inspection may take longer than an agent waits.
  const refusals = ['PATH_TRAVERSAL', 'RESOURCE_NOT_FOUND', 'SKILL_NOT_INSPECTED'];
  const refused = seen.filter((answer) => refusals.includes(answer));
  expect(good).toHaveLength(1);
  expect(refused).toContain('PATH_TRAVERSAL');
  expect(seen).toHaveLength(good.length + refused.length);
}

// --- internal ---

function hasBothOutcomes(answers: ReadonlySet<string>): boolean {
  return answers.has('PATH_TRAVERSAL') && [...answers].some((answer) => answer.startsWith('{'));
}
