import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type Skill, type SkillRegistry } from 'skill-registry';
import { expect, it, onTestFinished } from 'vitest';
import { corpusFolder, unpackCorpus } from '../helpers/corpus.ts';

interface Labelled {
  readonly set: 'uipath' | 'dotnet' | 'uipath-none';
  readonly query: string;
  readonly relevant: readonly string[];
}

const SETS = ['uipath', 'dotnet'] as const;
/** Just below what was measured: Hit@1, Recall@5, nDCG@10. */
const FLOORS = { uipath: [64.2, 87, 77.9], dotnet: [82.5, 91.6, 88.8] } as const;

const TITLE =
  'finds the right one of 1,810 real skills, never nothing, and shows it in the catalog (skipped without SKILL_CORPUS)';

it.skipIf(!corpusFolder)(TITLE, async () => {
  const root = unpackCorpus(corpusFolder ?? '');
  const lines = readFileSync(join(corpusFolder ?? '', 'retrieval-queries.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const labelled = lines.map((line) => JSON.parse(line) as Labelled);
  // First, so that they keep their ids where another collection has the same.
  const rest = readdirSync(join(root, 'wild-skills')).filter((id) => id !== 'uipath' && id !== 'dotnet');
  const registry = await openCollections(root, [...SETS, ...rest]);
  const alone = await openCollections(root, ['uipath']);
  await registry.admin.prepareSearch();
  for (const set of SETS) {
    const queries = labelled.filter((one) => one.set === set);
    const figures = retrievalOf(registry, queries);
    say(`${set}: Hit@1 / Recall@5 / nDCG@10 ${figures.map((one) => one.toFixed(1)).join(' / ')}`);
    for (const [at, floor] of FLOORS[set].entries()) expect(figures[at]).toBeGreaterThanOrEqual(floor - 0.05);
    for (const inThread of [false, true]) {
      const share = await shareInCatalog(registry, queries, inThread);
      say(`${set}: in L1 ${share.toFixed(1)} %${inThread ? ', first turn of a thread' : ''}`);
      expect(share).toBeGreaterThanOrEqual(97.6);
    }
  }
  const { shortQuestions } = (await import(SHORT_QUESTIONS)) as ShortQuestions;
  const short = shortQuestions(registry.visible({}, 'person').map(partsOf));
  const hits = retrievalOf(registry, short)[0] ?? 0;
  say(`${short.length} short questions: Hit@1 ${hits.toFixed(1)}`);
  expect(short).toHaveLength(200);
  expect(hits).toBeGreaterThanOrEqual(84);
  const best = (set: Labelled['set']): readonly number[] =>
    labelled
      .filter((one) => one.set === set)
      .map(({ query }) => alone.list({ query, audience: 'person' }).skills[0]?.score ?? 0);
  const [answered, unanswered] = [best('uipath'), best('uipath-none')];
  const auc = aucOf(answered, unanswered);
  say(`AUC ${auc.toFixed(3)}`);
  expect(auc).toBeGreaterThanOrEqual(0.798);
  const isEmpty = ({ query }: Labelled): boolean => registry.list({ query, audience: 'person' }).total === 0;
  expect(labelled.filter(isEmpty)).toEqual([]);
});

// --- internal ---

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function openCollections(root: string, ids: readonly string[]): Promise<SkillRegistry> {
  const sources = ids.map((id) => ({ path: `wild-skills/${id}`, id }));
  const registry = await createSkillRegistry({ root, config: { gates: { check: false }, sources } });
  await registry.admin.inspectSkills();
  onTestFinished(() => registry.close());
  return registry;
}

const SHORT_QUESTIONS = new URL('../../bench/short-questions.mjs', import.meta.url).href;

interface ShortQuestions {
  readonly shortQuestions: (
    skills: readonly ReturnType<typeof partsOf>[],
  ) => readonly Pick<Labelled, 'query' | 'relevant'>[];
}

function partsOf({ source, id, description, file }: Skill): {
  readonly path: string;
  readonly id: string;
  readonly description: string;
  readonly body: string;
} {
  return { path: `${source}/${id}`, id, description, body: readFileSync(file, 'utf8') };
}

function retrievalOf(
  registry: SkillRegistry,
  queries: readonly Pick<Labelled, 'query' | 'relevant'>[],
): readonly number[] {
  let [hit, recall, gain] = [0, 0, 0];
  for (const { query, relevant } of queries) {
    const { skills } = registry.list({ query, limit: 10, audience: 'person' });
    const rank = skills.findIndex(({ skillId, source }) => relevant.includes(`${source}/${skillId}`)) + 1;
    if (rank === 1) hit++;
    if (rank > 0 && rank <= 5) recall++;
    if (rank > 0) gain += 1 / Math.log2(rank + 1);
  }
  return [hit, recall, gain].map((sum) => (100 * sum) / queries.length);
}

async function shareInCatalog(
  registry: SkillRegistry,
  queries: readonly Labelled[],
  inThread: boolean,
): Promise<number> {
  let shown = 0;
  for (const [at, { query, relevant }] of queries.entries()) {
    const text = await registry.context(query, inThread ? { threadId: `${query} ${at}` } : {});
    if (relevant.some((path) => text?.includes(`\n• \`${path.split('/').at(-1)}\``))) shown++;
  }
  return (100 * shown) / queries.length;
}

/** How often a query that a skill answers scores higher than one that none does. */
function aucOf(answered: readonly number[], unanswered: readonly number[]): number {
  const wins = answered.flatMap((a) => unanswered.map((u): number => (a > u ? 1 : a === u ? 0.5 : 0)));
  return wins.reduce((sum, win) => sum + win, 0) / wins.length;
}
