/**
 * How well the right skill is found: `node retrieval.mjs <queries.jsonl> <wild-skills> <root> [packages]`. Everything goes
 * through the public functions `list` and `context`. `packages`: a folder for packages that carry skills. Prints JSON.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createSkillRegistry } from '../dist/extensions/skill_registry/index.js';
import { fetchPackages, longQuestions } from './long-questions.mjs';
import { shortQuestions } from './short-questions.mjs';

/** Questions of one set that are asked again without their skills: each takes a scope of its own. */
const MOST_ASKED_AGAIN = 200;
/** Skills with this part of their words in common are copies. */
const COPY = 0.5;

const [, , queriesFile, wild, root, packages] = process.argv;
const labelled = readFileSync(queriesFile, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
// A source for each collection, so that `<collection>/<path>` is the qualified id of a skill.
const sources = readdirSync(wild).map((collection) => ({ id: collection, path: join(wild, collection) }));
const opened = async (all, at) => {
  mkdirSync(join(at, 'data'), { recursive: true });
  const one = await createSkillRegistry({ root: at, config: { sources: all } });
  await one.admin.inspectSkills();
  await one.admin.prepareSearch();
  return one;
};
const registry = await opened(sources, root);
const { byId } = registry.snapshot();
const pathOf = ({ skillId }) => shown(byId.get(skillId));
const parts = registry.visible().map(partsOf);
const rows = [...labelled, ...shortQuestions(parts)];
const wordsOf = new Map(parts.map(({ path, body }) => [path, new Set(body.toLowerCase().match(/\p{L}{3,}/gu))]));

const results = {};
for (const set of new Set(rows.map((row) => row.set))) {
  const mine = rows.filter((row) => row.set === set && row.relevant.length > 0);
  if (mine.length === 0) continue;
  let [hit, hit5, recall, gain, inContext, total, empty] = [0, 0, 0, 0, 0, 0, 0];
  for (const { query, relevant } of mine) {
    const found = registry.list({ query, limit: 10 });
    const ranked = found.skills.map(pathOf);
    total += found.total;
    empty += found.total === 0 ? 1 : 0;
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
    empty,
    weak: weakIn(mine),
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
// Quoted apart: questions of each collection by the rule for headings.
const headings = shortQuestions(parts, Number.POSITIVE_INFINITY).filter(({ set }) => set === 'headings');
for (const { id } of sources) {
  const mine = headings.filter(({ relevant }) => relevant[0].startsWith(`${id}/`));
  if (mine.length > 0) results[`headings of ${id}`] = { queries: mine.length, weak: weakIn(mine) };
}
if (packages) results.long = await longResults();
console.log(JSON.stringify(results));
process.exit(0);

/** Percent marked as weak: of the first hits that are right, and of those without the right skills and their copies. */
function weakIn(questions) {
  const asked = questions.slice(0, MOST_ASKED_AGAIN);
  const firsts = asked.map(({ query }) => registry.list({ query, limit: 1 }).skills[0]);
  const right = firsts.filter((first, at) => first && asked[at].relevant.includes(pathOf(first)));
  const without = asked.map(({ query, relevant }) => {
    const gone = new Set(relevant.flatMap(copiesOf));
    const boundSkills = [...byId.values()].filter((skill) => !gone.has(shown(skill))).map(({ id }) => id);
    return registry.list({ query, limit: 1 }, { boundSkills }).skills[0];
  });
  const part = (skills) => Number(((100 * skills.filter((one) => !one || one.weak).length) / skills.length).toFixed(1));
  return { right: part(right), none: part(without) };
}

function copiesOf(path) {
  const words = wordsOf.get(path);
  if (!words) return [path];
  const common = (other) => [...words].filter((word) => other.has(word)).length;
  const isCopy = (other) => {
    const both = common(other);
    return both / (words.size + other.size - both) > COPY;
  };
  return [...wordsOf].filter(([, other]) => isCopy(other)).map(([one]) => one);
}

/** Among all skills of the collections and of the packages. */
async function longResults() {
  const folders = fetchPackages(packages);
  const more = folders.map((path) => ({ id: basename(path), path }));
  const wide = await opened([...sources, ...more], join(root, 'long'));
  const skills = wide.visible();
  const questions = longQuestions(folders, skills);
  const files = new Map(skills.map(({ id, file }) => [id, file]));
  let [hit, recall, gain, empty] = [0, 0, 0, 0];
  for (const { query, relevant } of questions) {
    const ranked = wide.list({ query, limit: 10 }).skills.map(({ skillId }) => files.get(skillId));
    hit += relevant.includes(ranked[0]) ? 1 : 0;
    recall += relevant.filter((one) => ranked.slice(0, 5).includes(one)).length / relevant.length;
    gain += normalisedGain(ranked, relevant);
    empty += ranked.length === 0 ? 1 : 0;
  }
  const share = (sum) => Number(((100 * sum) / questions.length).toFixed(1));
  return { queries: questions.length, hit1: share(hit), recall5: share(recall), ndcg10: share(gain), empty };
}

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
