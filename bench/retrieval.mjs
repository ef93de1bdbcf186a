/**
 * How well the right skill is found: `node retrieval.mjs <queries.jsonl> <wild-skills> <root>`. Everything goes through the
 * public functions `list` and `context`. Prints JSON.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry } from '../dist/extensions/skill_registry/index.js';
import { shortQuestions } from './short-questions.mjs';

const [, , queriesFile, wild, root] = process.argv;
const labelled = readFileSync(queriesFile, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
// A source for each collection, so that `<collection>/<path>` is the qualified id of a skill.
const sources = readdirSync(wild).map((collection) => ({ id: collection, path: join(wild, collection) }));
const registry = await createSkillRegistry({ root, config: { sources } });
await registry.admin.inspectSkills();
const { byId } = registry.snapshot();
const pathOf = ({ skillId }) => shown(byId.get(skillId));
const rows = [...labelled, ...shortQuestions(registry.visible().map(partsOf))];

const results = {};
for (const set of new Set(rows.map((row) => row.set))) {
  const mine = rows.filter((row) => row.set === set && row.relevant.length > 0);
  if (mine.length === 0) continue;
  let [hit, hit5, recall, gain, inContext, total] = [0, 0, 0, 0, 0, 0];
  for (const { query, relevant } of mine) {
    const found = registry.list({ query, limit: 10 });
    const ranked = found.skills.map(pathOf);
    total += found.total;
    hit += relevant.includes(ranked[0]) ? 1 : 0;
    hit5 += ranked.slice(0, 5).some((one) => relevant.includes(one)) ? 1 : 0;
    recall += relevant.filter((one) => ranked.slice(0, 5).includes(one)).length / relevant.length;
    gain += normalisedGain(ranked, relevant);
    const text = (await registry.context(query)) ?? '';
    inContext += relevant.some((one) => text.includes(`\`${one.split('/').at(-1)}\``)) ? 1 : 0;
  }
  const share = (sum) => Number(((100 * sum) / mine.length).toFixed(1));
  results[set] = {
    queries: mine.length,
    hit1: share(hit),
    hit5: share(hit5),
    recall5: share(recall),
    ndcg10: share(gain),
    l1: share(inContext),
    total: Number((total / mine.length).toFixed(1)),
  };
  const nothing = rows.filter((row) => row.set === `${set}-none`);
  if (nothing.length === 0) continue;
  results[set].auc = Number(auc(mine.map(best(set)), nothing.map(best(set))).toFixed(3));
  const totals = nothing.map(({ query }) => registry.list({ query }).total);
  results[set].unanswered = {
    queries: totals.length,
    found: totals.filter((one) => one > 0).length,
    total: Number((totals.reduce((sum, one) => sum + one, 0) / totals.length).toFixed(1)),
  };
}
console.log(JSON.stringify(results));
process.exit(0);

/** `<collection>/<path>` of a skill. */
function shown(skill) {
  return skill?.qualifiedId.replace(':', '/') ?? '';
}

function partsOf(skill) {
  return { path: shown(skill), id: skill.id, description: skill.description, body: readFileSync(skill.file, 'utf8') };
}

function best(source) {
  return ({ query }) => registry.list({ query, source, limit: 1 }).skills[0]?.score ?? 0;
}

function normalisedGain(ranked, relevant) {
  const gainAt = (index) => 1 / Math.log2(index + 2);
  const gain = ranked.reduce((sum, one, index) => sum + (relevant.includes(one) ? gainAt(index) : 0), 0);
  const ideal = relevant.slice(0, 10).reduce((sum, _, index) => sum + gainAt(index), 0);
  return gain / ideal;
}

/** The probability that a query with an answer has a higher score than one without. */
function auc(positive, negative) {
  let wins = 0;
  for (const one of positive) for (const other of negative) wins += one > other ? 1 : one === other ? 0.5 : 0;
  return wins / (positive.length * negative.length);
}
