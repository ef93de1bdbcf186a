import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { expect, it } from 'vitest';
import { digestOf } from '../../extensions/skill_registry/proposals/blobs.ts';
import { seededRandom } from '../helpers/seeded-random.ts';
import { TEA } from '../helpers/tea.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const CHILD = join(import.meta.dirname, '..', 'helpers', 'change-child.mjs');
const KILLS = 300;
const FILE_STEPS = ['file-temporary', 'file-written', 'file-noted'];
const CHANGE_STEPS = ['locked', 'intent', 'temporary', 'changed', 'committed'];
const MOVE_STEPS = ['locked', 'intent', 'changed', 'committed'];

/** Every step of everything that changes a skill or a proposal. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  propose: ['locked', 'row', ...FILE_STEPS],
  approve: [...CHANGE_STEPS, ...FILE_STEPS],
  reject: ['locked', ...FILE_STEPS],
  rollback: CHANGE_STEPS,
  create: CHANGE_STEPS,
  write: CHANGE_STEPS,
  remove: MOVE_STEPS,
  restore: MOVE_STEPS,
};

const ACTOR = { by: 'person:ada', reason: 'Because.' };

it(`survives ${KILLS} kills at every step of every change`, async () => {
  const seed = Number(process.env.KILL_SEED ?? 20_261_121);
  const random = seededRandom(seed);
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA, 'skills/tea/references/a.md': 'a\n' });
  // What it is before anything happens is in the history, too.
  await withRegistry(root, (registry) => registry.history.revisions('tea'));
  const plan = Object.entries(STEPS).flatMap(([action, steps]) => steps.map((step) => ({ action, step })));
  const hits = new Map<string, number>();
  for (let kill = 0; kill < KILLS; kill++) {
    // Every step in turn, in another order each round.
    if (kill % plan.length === 0) plan.sort(() => random() - 0.5);
    const { action, step } = plan[kill % plan.length] as (typeof plan)[number];
    const args = await prepare(root, action, kill, random);
    const { signal, output } = await change({ root, action, args, dieAt: step });
    expect(signal, `${action} was to die at ${step} (seed ${seed}): ${output}`).toBe('SIGKILL');
    hits.set(`${action} ${step}`, (hits.get(`${action} ${step}`) ?? 0) + 1);
    await verify(root, `kill ${kill}: ${action} at ${step}, seed ${seed}`);
  }
  const table = [...hits].sort().map(([step, count]) => `${step}: ${count}`);
  process.stdout.write(`seed ${seed}; kills by step:\n${table.join('\n')}\n`);
  expect([...hits.keys()].sort()).toEqual(plan.map((one) => `${one.action} ${one.step}`).sort());
});

/** Brings about what the action needs. @returns its arguments. */
async function prepare(root: string, action: string, kill: number, random: () => number): Promise<object> {
  return withRegistry(root, async (registry) => {
    const isThere = registry.snapshot().byId.has('tea');
    if (action === 'restore') {
      if (isThere) await registry.management.remove('tea', ACTOR);
      return {};
    }
    if (!isThere) await registry.history.restore('tea', ACTOR);
    const content = TEA.replace('two minutes', `${kill} minutes`);
    if (action === 'approve' || action === 'reject') {
      const { proposal_id } = await registry.proposals.propose({ skill_id: 'tea', content, justification: 'Needed.' });
      return { id: proposal_id };
    }
    if (action === 'rollback') {
      await registry.management.write('tea', 'SKILL.md', content, ACTOR);
      const revisions = await registry.history.revisions('tea');
      const present = revisions.at(-1)?.digest;
      const others = revisions.filter(({ digest }) => digest !== present);
      return { revision: others[Math.floor(random() * others.length)]?.number };
    }
    if (action === 'create')
      return { id: `new-${kill}`, content: `---\nname: new-${kill}\ndescription: New.\n---\n\nNew.\n` };
    const path = random() < 0.5 ? 'SKILL.md' : `references/${kill}.md`;
    return { path, content };
  });
}

/** Opens the registry as the next process would, and holds what it finds against what must never happen. */
async function verify(root: string, where: string): Promise<void> {
  const data = join(root, 'data/skill_registry');
  await withRegistry(root, async (registry) => {
    const database = new Database(join(data, 'history.db'));
    const all = <T>(sql: string): readonly T[] => database.prepare(sql).all() as T[];
    expect(database.pragma('integrity_check', { simple: true }), where).toBe('ok');
    expect(all('SELECT id FROM operation'), where).toEqual([]);

    for (const folder of readdirSync(join(root, 'skills'))) {
      const bytes = readFileSync(join(root, 'skills', folder, 'SKILL.md'));
      const trees = all<{ tree: string }>(`SELECT tree FROM revision WHERE skill_id = '${folder}'`);
      const known = trees.flatMap(({ tree }) => (JSON.parse(tree) as { digest: string }[]).map(({ digest }) => digest));
      expect(known, where).toContain(digestOf(bytes));
    }
    const archived = existsSync(join(data, '.archive')) ? readdirSync(join(data, '.archive')) : [];
    const teas =
      archived.filter((name) => name.startsWith('tea-')).length + Number(existsSync(join(root, 'skills/tea')));
    expect(teas, where).toBe(1);

    const rows = all<{ id: string; state: string; applied: number }>(
      'SELECT id, state, (SELECT count(*) FROM revision WHERE revision.proposal = proposal.id) AS applied FROM proposal',
    );
    for (const { id, state, applied } of rows)
      expect(`${state} ${applied}`, `${where} ${id}`).toMatch(/^(open 0|rejected 0|approved 1)$/);
    const files = existsSync(join(data, 'proposals')) ? readdirSync(join(data, 'proposals')) : [];
    expect(files.sort(), where).toEqual(rows.map(({ id }) => `${id}.md`).sort());
    for (const { id, state } of rows.slice(-3)) {
      expect(readFileSync(join(data, 'proposals', `${id}.md`), 'utf8'), where).toContain(`state: ${state}`);
    }
    const left = readdirSync(join(root, 'skills'), { recursive: true }).filter((name) =>
      String(name).includes('.skill-registry-'),
    );
    expect(left, where).toEqual([]);
    database.close();
    expect(registry.problems(), where).toEqual([]);
  });
}

async function withRegistry<T>(root: string, use: (registry: SkillRegistry) => Promise<T>): Promise<T> {
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
  try {
    return await use(registry);
  } finally {
    await registry.close();
  }
}

function change(request: object): Promise<{ readonly signal: NodeJS.Signals | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, JSON.stringify(request)], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)));
    child.on('error', reject);
    child.on('exit', (_status, signal) => resolve({ signal, output }));
  });
}
