import { boot } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { agent, skill } from '../helpers/boot-root.ts';
import { attack } from '../helpers/held.ts';
import { type ScriptedAnswer, scriptedModel, systemText } from '../helpers/scripted-model.ts';
import { type Tree, tempFolder } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';

const CROWD: Tree = Object.assign({}, ...Array.from({ length: 60 }, (_, at) => skill(`chess-${at}`)));
const TREE: Tree = {
  ...CROWD,
  ...skill('manifests', { paths: '"extensions/**/manifest.yaml"' }),
  ...skill('notes', { paths: '"*.md"' }),
  ...skill('hostile', { paths: '"*.yaml, *.md"' }, attack(7)),
  ...agent('clerk', 'instructions: Help., uses_tools: [skill_registry, workspace_files]', { 'notes.txt': 'Hi.' }),
  ...agent('player', 'instructions: Play., uses_tools: [skill_registry, workspace_files], uses_skills: [chess-1]'),
};
const CATALOG = { budget_tokens: 150 };

/** A kernel whose model calls these tools, and says "Done." at the end of each turn. */
async function started(script: readonly ScriptedAnswer[]) {
  const root = tempFolder(TREE);
  const model = await scriptedModel(script);
  const skill_registry = { sources: [{ path: 'skills' }], catalog: CATALOG };
  const kernel = await boot({ root, environment: model.environment, config: { skill_registry } });
  onTestFinished(() => kernel.shutdown());
  // The text of the attack is inspected after the start.
  const isHeld = async () => JSON.stringify(await kernel.describeTurn('clerk', 'chess', {})).includes(' of 62 skills');
  await waitFor('the attack to be held', isHeld);
  const textOf = async (turn: object, id = 'clerk', prompt = 'play chess'): Promise<string> => {
    const before = model.requests.length;
    await kernel.invokeAgent(id, prompt, { turn });
    return systemText(model.requests[before]) ?? '';
  };
  return { root, kernel, textOf };
}

const DONE = { text: 'Done.' };

it('shows the model a skill for a file that the turn names', async () => {
  const { root, textOf } = await started([DONE, DONE, DONE, DONE, DONE]);
  expect(await textOf({})).not.toContain('`notes`');
  expect(await textOf({ paths: ['docs/a.md'] })).toContain('• `notes` — Does notes.');
  expect(await textOf({ paths: [`${root}/README.md`, '\0'] })).toContain('`notes`');
  expect(await textOf({ paths: ['../README.md'] })).not.toContain('`notes`');
  // What holds a skill, or what an agent is bound to, decides as it does without files.
  expect(await textOf({ paths: ['README.md'] }, 'player')).not.toContain('`notes`');
});

it('shows no held skill for a file', async () => {
  const { textOf } = await started([DONE]);
  const text = await textOf({ paths: ['README.md'] });
  expect(text).toContain('`notes`');
  expect(text).not.toContain('`hostile`');
});

it('shows in the next turn of a conversation the skill for a file that a file tool has touched', async () => {
  const read = { call: 'read_file', args: { path: 'extensions/clerk/manifest.yaml' } };
  const refused = { call: 'read_file', args: { path: 'extensions/clerk/none.md' } };
  const write = { call: 'write_file', args: { path: 'extensions/clerk/README.md', content: 'Hello.' } };
  const listed = { call: 'list_files', args: { path: 'extensions/clerk' } };
  const { textOf } = await started([refused, listed, DONE, read, DONE, write, DONE, DONE, DONE, DONE]);
  const thread = { threadId: 't' };
  const first = await textOf(thread);
  const second = await textOf(thread);
  expect(second).toBe(first);
  expect(first).not.toMatch(/`notes`|`manifests`/);
  const third = await textOf(thread);
  expect(third).toContain('• `manifests` — Does manifests.');
  expect(third).not.toContain('`notes`');
  const fourth = await textOf(thread);
  expect(fourth).toContain('• `notes` — Does notes.');
  // The lines before stay: prompt caches live on them.
  const lines = (text: string) => text.split('\n').filter((line) => line.startsWith('•'));
  expect(lines(fourth).slice(0, lines(third).length)).toEqual(lines(third));
  expect(lines(third).slice(0, lines(first).length)).toEqual(lines(first));
  // Another conversation has touched nothing.
  expect(await textOf({ threadId: 'u' })).not.toMatch(/`notes`|`manifests`/);
  expect(await textOf({})).not.toMatch(/`notes`|`manifests`/);
});
