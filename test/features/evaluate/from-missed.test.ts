import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { openRoot } from '../../helpers/open-registry.ts';
import { runCommand, startOnTerminal } from '../../helpers/run-command.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const KEEP = 'sources: [{ path: skills }]\nusage: { queries: keep }\n';
const TREE = {
  'data/skill_registry/config.yaml': KEEP,
  ...skill('tea-brewing', { description: 'How to brew green tea.', tags: '[kettle]' }),
  ...skill('tax-forms', { description: 'Fills in yearly forms for the tax office.' }),
  ...skill('bread', { description: 'Kneads and bakes a loaf.' }),
};
const ASKED = [
  'Brew tea with the kettle, Hunterius',
  'Brew green tea in a kettle \u001b[1m\u202e',
  'Which yearly forms does the tax office want?',
];
const COMMAND = ['eval', 'add', '--from-missed'];

async function rootWhere(asked: readonly string[], tree: Readonly<Record<string, string>> = {}): Promise<string> {
  const root = tempFolder({ ...TREE, ...tree });
  const registry = await openRoot(root, { config: { sources: [{ path: 'skills' }], usage: { queries: 'keep' } } });
  for (const query of asked) await registry.context(query, { agentId: 'clerk', threadId: query });
  expect((await registry.usage.report()).missed).not.toEqual([]);
  await registry.close();
  return root;
}

it('shows each sentence escaped, asks, and proposes those with the answer yes as trigger cases of their skill', async () => {
  const before = [{ query: 'water for a cup', should_trigger: false }];
  const root = await rootWhere(ASKED, { 'skills/tea-brewing/evals/trigger-eval.json': JSON.stringify(before) });
  const questions: string[] = [];
  const answers = ['y', 'no', 'yes'];
  const answer = (question: string): string => {
    questions.push(question);
    return answers[questions.length - 1] ?? '';
  };
  const { status, stdout, stderr } = await runCommand([...COMMAND, '--root', root, '--json'], { answer });
  expect([status, questions.length]).toEqual([0, 3]);
  expect(stderr).toContain('1 of 3, for tax-forms:\n  "Which yearly forms does the tax office want?"');
  expect(stderr).toContain('kettle \\u001b[1m\\u{202e}"');
  expect(['\u001b', '\u202e'].filter((one) => stderr.includes(one))).toEqual([]);
  expect(
    JSON.parse(stdout)
      .proposals.map(({ skill_id }: { skill_id: string }) => skill_id)
      .sort(),
  ).toEqual(['tax-forms', 'tea-brewing']);
  const registry = await openRoot(root, { config: { sources: [{ path: 'skills' }], usage: { queries: 'keep' } } });
  const [tea, tax] = await Promise.all(
    ['tea-brewing', 'tax-forms'].map((skillId) => registry.proposals.list('open', { skillId })),
  );
  expect(tax).toMatchObject([{ path: 'evals/trigger-eval.json', author: expect.stringMatching(/^person:/) }]);
  const { content } = await registry.proposals.text(tea?.[0]?.id ?? '');
  const left = ASKED.slice(0, 2).filter((query) => content.includes(JSON.stringify(query)));
  expect(JSON.parse(content)).toEqual([...before, { query: left[0], should_trigger: true }]);
  expect(left).toHaveLength(1);
  // Nothing of them is asked again, and the skill is as it was until a person approves.
  expect(await registry.admin.keptQueries()?.list()).toEqual([]);
  expect((await registry.admin.evidence('tax-forms')).suite.queries).toEqual([]);
  await registry.proposals.approve(tax?.[0]?.id ?? '', { by: 'person:ada' });
  const { queries } = (await registry.admin.evidence('tax-forms')).suite;
  expect(queries).toEqual([{ query: ASKED[2], shouldTrigger: true }]);
});

it('proposes nothing without a yes, and asks again later for anything else than yes or no', async () => {
  const root = await rootWhere(ASKED);
  for (const said of ['', 'later']) {
    const { status, stdout } = await runCommand([...COMMAND, '--root', root, '--json'], { answer: () => said });
    expect([status, JSON.parse(stdout)]).toEqual([0, { proposals: [] }]);
  }
  const registry = await openRoot(root, { config: { sources: [{ path: 'skills' }], usage: { queries: 'keep' } } });
  expect(await registry.admin.keptQueries()?.list()).toHaveLength(3);
  expect(await registry.proposals.list('all')).toEqual([]);
});

it('asks nobody without a terminal, and says what is to be set where nothing is kept', async () => {
  const root = await rootWhere(ASKED.slice(0, 1));
  const without = await runCommand([...COMMAND, '--root', root]);
  expect([without.status, without.stderr]).toEqual([2, expect.stringContaining('no terminal to ask at')]);
  expect(without.stdout + without.stderr).not.toContain('Hunterius');
  const unset = tempFolder(skill('tea'));
  const off = await runCommand([...COMMAND, '--root', unset], { answer: () => 'y' });
  expect(off.stderr).toContain('usage: { queries: keep } in the config keeps it');
  const other = await runCommand(['eval', 'tea', '--from-missed', '--root', unset], { answer: () => 'y' });
  expect([other.status, other.stderr]).toEqual([2, expect.stringContaining('eval add --from-missed')]);
});

it('says which file takes no case, keeps the sentence, and goes on with the next skill', async () => {
  const root = await rootWhere(ASKED, { 'skills/tax-forms/evals/trigger-eval.json': '{ broken' });
  const { status, stderr, stdout } = await runCommand([...COMMAND, '--root', root, '--json'], { answer: () => 'y' });
  expect(status).toBe(1);
  expect(stderr).toContain('No case can be added to evals/trigger-eval.json');
  expect(JSON.parse(stdout).proposals).toMatchObject([{ skill_id: 'tea-brewing', cases: 2 }]);
  const registry = await openRoot(root, { config: { sources: [{ path: 'skills' }], usage: { queries: 'keep' } } });
  expect(await registry.admin.keptQueries()?.list()).toMatchObject([{ skillId: 'tax-forms' }]);
});

it('asks at a real terminal', async () => {
  const root = await rootWhere(ASKED.slice(0, 1));
  const running = startOnTerminal([...COMMAND, '--root', root]);
  await running.until('[y/n]');
  running.child.stdin?.write('y\n');
  expect(await running.exited).toBe(0);
  expect(running.stdout()).toContain('1 trigger case proposed');
});
