/**
 * `npm run bench`: one table of ratios, everything measured in this run; `npm run bench commands`: only its rows of commands. How to
 * read it: bench/README.md.
 *
 * SKILL_CORPUS=<folder> adds the real skills and the retrieval figures, SKILL_PACKAGES=<folder> the long questions.
 */
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { child, inTemporaryHome, PEERS, rootIn } from './children.mjs';
import { commandRows } from './commands.mjs';
import { generateSkills } from './generate-skills.mjs';
import { median } from './statistics.mjs';
import { printTable } from './table.mjs';
import { makeTrees } from './trees.mjs';

const CORPUS = process.env.SKILL_CORPUS;
const ROUNDS = 3;

const onlyCommands = process.argv[2] === 'commands';
const rows = [];
inTemporaryHome((base, havePeers) => {
  const trees = makeTrees(base, CORPUS);
  if (!onlyCommands) measureLibrary(base, trees, havePeers);
  measureServers(base, trees);
  rows.push(...commandRows(base, trees));
  if (trees.wild && !onlyCommands) measureAnswers(base, trees.wild);
});
printTable(rows);

function measureLibrary(base, trees, havePeers) {
  for (const [name, tree] of Object.entries(trees)) {
    measureOurs(rootIn(base, name), name, tree);
    if (name !== 'g25') measurePeers(tree, havePeers);
  }
  measureUsage(base, trees.g10);
}

function measureOurs(root, name, { label, folder }) {
  const sample = (what, ...flags) =>
    Array.from({ length: ROUNDS }, () => child('ours.mjs', [what, folder, root], flags));
  const add = (what, budget, all, key) => {
    const cold = median(all.map((one) => one.first));
    const warm = median(all.map((one) => one.again));
    const ms = median(all.map((one) => (key === 'first' ? one.firstMs : one.ms)));
    rows.push({
      what,
      on: label,
      skills: all[0].skills,
      ms,
      ratio: `${cold.toFixed(1)}x, again ${warm.toFixed(1)}x`,
      budget,
    });
  };
  add('first load / reading every file', '5x', sample('first'), 'first');
  // Files that changed in the last two seconds are not cached.
  child('ours.mjs', ['cached', folder, root]);
  add('cached load / stat of every file', '2x', sample('cached'), 'first');
  add('refresh, nothing changed / stat', '1.5x', sample('refresh'), 'again');
  for (const [what, budget] of [
    ['context', '5 ms'],
    ['search', name === 'g25' ? '10 ms' : '4 ms'],
  ]) {
    const p95 = median(sample(what).map(({ ms }) => ms.p95));
    rows.push({ what: `${what}, p95`, on: label, ms: p95, ratio: '', budget });
  }
  const memory = sample('memory', '--expose-gc');
  const mib = (key) => (median(memory.map((one) => one[key])) / 1_048_576).toFixed(0);
  rows.push({
    what: 'memory over before',
    on: label,
    ratio: `${mib('rss')} MiB resident, ${mib('heap')} MiB heap`,
    budget: '60 MiB',
  });
}

/** Processes that agents start, a change that a person lets in, and the first moment of a fresh home. */
function measureServers(base, { wild, g10 }) {
  const few = join(base, 'served');
  generateSkills(few, 100);
  rows.push(...child('mcp.mjs', [base, few]));
  const root = rootIn(base, 'approve');
  cpSync(g10.folder, join(root, 'skills'), { recursive: true });
  const { skills, first, again } = child('ours.mjs', ['approve', root, root]);
  const ratio = `the first of a process ${first.toFixed(0)} ms`;
  rows.push({ what: 'approve, processor time', on: g10.label, skills, ms: again, ratio, budget: '50 ms' });
  if (wild) rows.push(...child('at-once.mjs', [wild.folder, String(ROUNDS)]));
}

function measureUsage(base, { folder }) {
  const read = join(base, 'read');
  generateSkills(read, 200);
  for (const id of readdirSync(read))
    cpSync(join(read, id, 'SKILL.md'), join(read, id, 'references/guide.md'), { recursive: true });
  const all = Array.from({ length: ROUNDS }, () => child('ours.mjs', ['usage', read, rootIn(base, 'usage')]));
  const ratioOf = (name) => `${median(all.map((one) => one[name])).toFixed(3)}x`;
  const reads = { body: 'read_skill', resource: 'read_skill_resource', named: 'read_skill, named conversation' };
  for (const [name, what] of Object.entries(reads)) {
    const floor = name === 'named' ? `, floor ${ratioOf('commit')}` : '';
    const ratio = ratioOf(name) + floor;
    rows.push({ what: `${what}, usage on / off`, on: '200 generated', ratio, budget: '1.05x' });
  }
  const { ms } = child('ours.mjs', ['report', folder, rootIn(base, 'report')]);
  const of = '180,000 events';
  rows.push({ what: 'usage report', on: of, ms: ms.report, budget: '1000 ms' });
  rows.push({ what: 'events of one conversation', on: of, ms: ms.thread });
}

function measurePeers({ label, flat }, havePeers) {
  for (const peer of PEERS) {
    const row = { what: `${peer}: load / reading every file`, on: label };
    try {
      const all = [child('peers.mjs', [peer, flat])];
      const { skills, firstMs: ms, first, again } = all[0];
      rows.push({ ...row, skills, ms, ratio: `${first.toFixed(1)}x, again ${again.toFixed(1)}x` });
    } catch {
      rows.push({ ...row, ratio: havePeers ? 'does not run here' : 'not installed' });
    }
  }
}

function measureAnswers(base, { label, folder }) {
  const tokens = child('tokens.mjs', [folder, rootIn(base, 'wild')]);
  for (const [format, { perSkill, overhead }] of Object.entries(tokens)) {
    const ratio = `${perSkill.toFixed(1)} tokens a skill, ${overhead.toFixed(1)} of them overhead`;
    rows.push({ what: `L1 as ${format}`, on: label, ratio, budget: format === 'bullets' ? '8 overhead' : '' });
  }
  const queries = join(CORPUS, 'retrieval-queries.jsonl');
  if (!existsSync(queries)) return;
  const packages = process.env.SKILL_PACKAGES;
  const figures = child('retrieval.mjs', [queries, folder, rootIn(base, 'wild'), ...(packages ? [packages] : [])]);
  for (const [
    set,
    { queries: count, hit1, hit5, recall5, ndcg10, l1, total, empty, weak, auc, unanswered },
  ] of Object.entries(figures)) {
    const parts = [
      hit1 !== undefined && `Hit@1 ${hit1}, Recall@5 ${recall5}, nDCG@10 ${ndcg10}, ${empty} empty`,
      hit5 !== undefined && `Hit@5 ${hit5}, in L1 ${l1} %, ${total} skills found`,
      weak && `weak ${weak.right} % of right first hits, ${weak.none} % without the right skills`,
      auc !== undefined && `AUC ${auc}`,
    ];
    const row = { what: `retrieval, ${count} queries`, on: set, ratio: parts.filter(Boolean).join(', ') };
    rows.push({ ...row, budget: l1 === undefined ? '' : 'L1 92 %' });
    if (!unanswered) continue;
    const answered = `${unanswered.found} get an answer, ${unanswered.total} skills found`;
    rows.push({ what: `retrieval, ${unanswered.queries} queries`, on: `${set}-none`, ratio: answered, budget: '' });
  }
}
