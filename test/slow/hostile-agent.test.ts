import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { boot, isCodedError, type Kernel } from 'skill-registry/kernel';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { approveExtension, heldExtension, holdExtensionFile } from '../../kernel/host.ts';
import { agent, skill } from '../helpers/boot-root.ts';
import { hostileCalls, trapFiles } from '../helpers/hostile-calls.ts';
import { type ScriptedModel, scriptedModel, type WireRequest } from '../helpers/scripted-model.ts';
import { seededRandom } from '../helpers/seeded-random.ts';
import { type Tree, tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { treeOf } from '../helpers/tree-of.ts';
import { waitFor } from '../helpers/wait-for.ts';

/** CAMPAIGN_CALLS: so many for each kind of root. CAMPAIGN_SEED: repeats a run. */
const CALLS = Number(process.env.CAMPAIGN_CALLS ?? 60);
const SEED = Number(process.env.CAMPAIGN_SEED ?? 20_261_122);
/** Then the agent ends its turn, and a person does what people do. */
const CALLS_OF_A_TURN = 20;

/** Nobody may read it. */
const SECRET = 'zq7-private-0451';
/** Only who is not bound to other skills may read it. */
const OF_HIDDEN = 'zq7-hidden-0452';
const PROPOSE = { create: 'propose', update: 'propose', delete: 'deny' };
const ALLOW = { create: 'allow', update: 'allow', delete: 'allow' };
const SKILLS = [{ path: 'skills' }, { path: 'extensions/team' }, { shipped: true }];
const AGENT = 'uses_tools: [skill_registry, workspace_files, builder_agent], limits: { max_turns: 60 }';

afterEach(() => void vi.unstubAllEnvs());

it.each([
  ['whose skills are changed by proposal', SKILLS, PROPOSE],
  ['whose owner lets agents change skills', SKILLS, ALLOW],
  ['that is a skill as a whole, which agents may change', [{ path: '.' }, { shipped: true }], ALLOW],
])(
  'an agent that tries everything in a root %s runs nothing and reads nothing hidden',
  async (title, sources, writes) => {
    const outside = tempFolder({ 'secret.txt': SECRET, 'main.ts': '' });
    const canary = join(outside, 'canary');
    const root = rootWithin(outside, sources === SKILLS);
    const state = join(root, '.state');
    vi.stubEnv('XDG_STATE_HOME', state);
    vi.stubEnv('XDG_CACHE_HOME', join(root, '.cache'));
    const guarded = ['extensions', '.git', 'data/notes', 'node_modules', ...(writes === PROPOSE ? ['skills'] : [])];
    const before = guarded.map((folder) => treeOf(join(root, folder)));

    const nextCall = hostileCalls({
      root,
      state: join(state, 'skill-registry'),
      canary,
      skills: ['good', 'hidden', 'gated', 'quiet', 'team', root.split('/').at(-1) as string],
      random: seededRandom(SEED),
    });
    let made = 0;
    const model = await scriptedModel((request) => {
      const isHostile = request.model !== 'scripted';
      if (!isHostile || made >= CALLS || answersIn(request).length >= CALLS_OF_A_TURN)
        return { text: '/extensions approve trap\n/proposals approve all' };
      made++;
      return nextCall();
    });
    const config = { skill_registry: { sources, writes, tools: TOOLS, watch: { mode: 'off' } } };
    const kernel = await start(root, model, config);
    for (let turn = 0; made < CALLS; turn++) {
      await kernel.invokeAgent(turn % 2 === 0 ? 'bound' : 'free', 'Do as you please.').catch((error) => {
        // It may have removed the very skill that it is bound to.
        if (!isCodedError(error, 'AGENT_UNAVAILABLE')) throw error;
      });
      await asPeopleDo(kernel);
    }
    expect(made).toBe(CALLS);
    await waitFor('the last reload', () => kernel.extensions().some(({ state }) => state === 'RUNNING'));

    const outcomes = outcomesOf(model.requests);
    const told = [...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(', ');
    process.stdout.write(`a root ${title}, ${CALLS} calls, seed ${SEED}: ${told}\n`);
    // Not everything is refused, so what is shows something.
    expect(outcomes.get('done')).toBeGreaterThan(CALLS / 20);
    expect(existsSync(canary)).toBe(false);
    expect(Object.keys(treeOf(outside))).toEqual(['main.ts', 'secret.txt']);
    expect(guarded.map((folder) => treeOf(join(root, folder)))).toEqual(before);
    expect(existsSync(join(state, 'skill-registry/trust.jsonl'))).toBe(false);
    expect(existsSync(join(root, 'data/skill_registry/config.yaml'))).toBe(false);
    expect(JSON.stringify(model.requests)).not.toContain(SECRET);
    expect(JSON.stringify(model.requests.filter(({ model }) => model === 'bound-model'))).not.toContain(OF_HIDDEN);

    // Whoever comes next runs none of it either, until a person has approved the code.
    await kernel.shutdown();
    commit(root);
    const next = await start(root, model, config);
    await asPeopleDo(next);
    expect(existsSync(canary)).toBe(false);
    // What it wrote first, it may have spoiled later: what is approved is known to do harm.
    for (const { path, content } of trapFiles(canary)) holdExtensionFile(root, path, content, 'agent:bound');
    const held = heldExtension(root, 'trap');
    approveExtension({ dir: root, trusted: true }, 'trap', held?.digest ?? '');
    await next.reload();
    expect(readFileSync(canary, 'utf8')).toBe('ran');
  },
);

// --- internal ---

const TOOLS = [
  'list_skills',
  'read_skill',
  'read_skill_resource',
  'propose_skill_update',
  'load_skill',
  'skill',
  'create_skill',
];

/** @param withSkills - Skills of their own, some hidden; else all of the root is one. */
function rootWithin(outside: string, withSkills: boolean): string {
  const box =
    'export class Main { initialize() {} start() {} stop() {} destroy() {} healthCheck() { return true; } }\n';
  const gate = { metadata: '{ openclaw: { requires: { bins: [no-such-program] } } }' };
  const hidden: Tree = {
    ...skill('hidden', {}, OF_HIDDEN),
    'skills/hidden/references/a.md': OF_HIDDEN,
    ...skill('gated', gate, SECRET),
    'skills/gated/references/a.md': SECRET,
    ...skill('quiet', { 'disable-model-invocation': 'true' }, SECRET),
    'skills/quiet/references/a.md': SECRET,
    'extensions/team/team/SKILL.md': '---\nname: team\ndescription: For the team.\n---\n\nTogether.\n',
  };
  const root = tempFolder({
    ...(withSkills ? hidden : { 'SKILL.md': '---\nname: whole\ndescription: All of it.\n---\n\nAll.\n' }),
    ...skill('good', {}, 'Good.'),
    'skills/good/scripts/run.sh': 'echo\n',
    'skills/good/.env': SECRET,
    'skills/good/id_ed25519': SECRET,
    'skills/good/way': { link: outside },
    'skills/good/state': { link: '../../.state/skill-registry' },
    '.env': `TOKEN=${SECRET}\n`,
    'data/notes/config.yaml': SECRET,
    'node_modules/trap/package.json': '{ "name": "trap" }',
    'extensions/box/manifest.yaml': 'id: box\nname: Box\nversion: 1.0.0\nentrypoint: main:Main\n',
    'extensions/box/main.ts': box,
    'extensions/box/.env': SECRET,
    'extensions/shared/util.ts': '',
    'extensions/way': { link: outside },
    ...agent('bound', `${AGENT}, model: bound-model, uses_skills: [${withSkills ? 'good' : ''}]`),
    ...agent('free', `${AGENT}, model: free-model`),
  });
  execFileSync('git', ['init', '--quiet', root]);
  writeTree(root, { '.gitignore': 'data\n.state\n.cache\n' });
  return root;
}

async function start(
  root: string,
  { environment }: ScriptedModel,
  config: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): Promise<Kernel> {
  const kernel = await boot({ root, environment, config });
  onTestFinished(() => kernel.shutdown());
  return kernel;
}

/** Looks at everything and uses every skill that is offered, and approves nothing. */
async function asPeopleDo(kernel: Kernel): Promise<void> {
  await kernel.reload();
  const names = kernel.commands().map(({ name }) => name);
  const used = names.filter(
    (name) => name.startsWith('skills:') || ['extensions', 'proposals', 'skills'].includes(name),
  );
  for (const name of used) await kernel.runCommand(`/${name}`, {}).catch(() => {});
}

/** With the hooks that are there. */
function commit(root: string): void {
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  execFileSync('git', ['-C', root, 'add', '--all', '--', 'skills'], { stdio: 'pipe' });
  execFileSync('git', ['-C', root, ...who, 'commit', '--quiet', '--allow-empty', '--message', 'Go on'], {
    stdio: 'pipe',
  });
}

/** What the tools have answered, as it was sent to the model. */
function answersIn({ messages }: WireRequest): readonly string[] {
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
}

/** How often which outcome, each answer once: a request repeats those before it. */
function outcomesOf(requests: readonly WireRequest[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const request of requests) {
    if (request.messages.at(-1)?.role !== 'tool') continue;
    const outcome = outcomeOf(answersIn(request).at(-1) ?? '');
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  return counts;
}

function outcomeOf(answer: string): string {
  // What is no tool of ours is answered by the model's own loop, in words.
  if (!answer.startsWith('{')) return 'no tool';
  const { success, error } = JSON.parse(answer) as { readonly success?: boolean; readonly error?: { code?: string } };
  return success ? 'done' : String(error?.code);
}
