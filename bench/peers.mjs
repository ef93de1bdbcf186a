/**
 * Loads by a peer (of openskills, which is a command only, see commands.mjs), in a process of its own:
 * `node peers.mjs <peer> <folder> [rounds]`. Prints JSON: the time of the first load, the median of later ones, how many skills it
 * took, beside the floor of reading every file. What a peer prints is dropped.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readFloor } from './floors.mjs';
import { compared, timed } from './statistics.mjs';

const require = createRequire(import.meta.url);
/** A file of an installed package, whatever its `exports` say. */
const file = (name, path) => import(pathToFileURL(join(require.resolve.paths(name)[0], name, path)).href);

/** Each gives a function that loads the folder and says how many skills it found. */
const PEERS = {
  pi: async () => {
    const { loadSkillsFromDir } = await file('@mariozechner/pi-coding-agent', 'dist/core/skills.js');
    return (dir) => loadSkillsFromDir({ dir, source: 'bench' }).skills.length;
  },
  'gemini-cli': async () => {
    const { loadSkillsFromDir } = await file('@google/gemini-cli-core', 'dist/src/skills/skillLoader.js');
    return async (dir) => (await loadSkillsFromDir(dir)).length;
  },
  mastra: () => mastra({}),
  'mastra + BM25': () => mastra({ bm25: true }),
  'mcp ext/skills': async () => {
    const { loadSkills } = await import('@modelcontextprotocol/server/ext/skills/node');
    return async (dir) => (await loadSkills(dir)).entries.length;
  },
};

async function mastra(options) {
  const { LocalSkillSource, Workspace } = await file('@mastra/core', 'dist/workspace/index.js');
  return async (dir) => {
    const skillSource = new LocalSkillSource({ basePath: dir });
    return (await new Workspace({ skills: ['.'], skillSource, ...options }).skills.list()).length;
  };
}

const [, , name, folder, rounds = 3] = process.argv;
const print = console.log;
console.log = console.warn = console.error = console.info = console.debug = () => undefined;
const load = await PEERS[name]();
const [floors, theirs] = [[], []];
for (let round = 0; round < Number(rounds); round++) {
  floors.push(await timed(() => readFloor(folder)));
  theirs.push(await timed(() => load(folder)));
}
print(JSON.stringify({ skills: theirs[0].value, ...compared(floors, theirs) }));
process.exit(0);
