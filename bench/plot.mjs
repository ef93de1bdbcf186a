/**
 * `node bench/plot.mjs [rounds]`: measures what the first load costs a process, of this package and of the peers, with 4 to 10,000
 * generated skills. The medians go into load-times.json, their picture into load-times.svg. `node bench/plot.mjs draw` draws the
 * numbers that are there once more. bench/README.md explains what is measured.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { child, inTemporaryHome, PEERS, rootIn } from './children.mjs';
import { drawPlot } from './draw-plot.mjs';
import { median } from './statistics.mjs';
import { makeTrees } from './trees.mjs';

const SKILLS = [4, 100, 500, 1_000, 2_000, 5_000, 10_000];
const [NUMBERS, PICTURE] = ['load-times.json', 'load-times.svg'].map((name) => new URL(name, import.meta.url));
const FLOOR = 'reading every file';

if (process.argv[2] !== 'draw') {
  inTemporaryHome((base) => {
    const numbers = measure(base, Number(process.argv[2] ?? 5));
    writeFileSync(NUMBERS, inLines(numbers));
  });
}
writeFileSync(PICTURE, drawPlot(JSON.parse(readFileSync(NUMBERS, 'utf8'))));

/** One after the other in each round, so that a machine that becomes slower slows all of them. */
function measure(base, rounds) {
  const trees = Object.entries(makeTrees(base, undefined, SKILLS)).map(([name, { folder }], index) => {
    const root = rootIn(base, name);
    child('ours.mjs', ['cached', folder, root]);
    return { folder, root, skills: SKILLS[index] };
  });
  const samples = {};
  const note = (name, index, ms) => {
    samples[name] ??= SKILLS.map(() => []);
    samples[name][index].push(ms);
  };
  const programs = whatRuns(trees[0]);
  for (let round = 0; round < rounds; round++) {
    console.error(`round ${round + 1} of ${rounds}`);
    for (const [index, tree] of trees.entries()) {
      for (const [name, load] of programs) {
        const { skills, firstCpu, floorCpu } = load(tree);
        if (skills !== tree.skills) throw new Error(`${name} took ${skills} of ${tree.skills} skills`);
        note(name, index, firstCpu);
        note(FLOOR, index, floorCpu);
      }
    }
  }
  const medians = Object.entries(samples).map(([name, all]) => [
    name,
    all.map((values) => Number(median(values).toPrecision(3))),
  ]);
  return { node: process.version, rounds, skills: SKILLS, milliseconds: Object.fromEntries(medians) };
}

/** JSON with a line for each program, as biome formats it. */
function inLines({ skills, milliseconds, ...rest }) {
  const list = (all) => `[${all.join(', ')}]`;
  const lines = Object.entries(milliseconds).map(([name, all]) => `    ${JSON.stringify(name)}: ${list(all)}`);
  const known = Object.entries(rest).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`);
  return `{\n${known.join('')}  "skills": ${list(skills)},\n  "milliseconds": {\n${lines.join(',\n')}\n  }\n}\n`;
}

/** Names, and what loads a tree. A peer that is not installed is left out. */
function whatRuns(smallest) {
  const peers = PEERS.map((peer) => [peer, ({ folder }) => child('peers.mjs', [peer, folder, '1'])]);
  const running = peers.filter(([peer, load]) => {
    try {
      return load(smallest);
    } catch {
      console.error(`${peer} does not run here, and is left out`);
      return false;
    }
  });
  return [
    ['skill-registry', ({ folder, root }) => child('ours.mjs', ['load', folder, root])],
    ['skill-registry, cached', ({ folder, root }) => child('ours.mjs', ['start', folder, root])],
    ...running,
  ];
}
