import { readFileSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { boot } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { agent, skill } from '../helpers/boot-root.ts';
import { type ScriptedAnswer, scriptedModel, toolResults } from '../helpers/scripted-model.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../helpers/temp-folder.ts';

const SECRET = 'the launch code is 0451';
const TOOLS = 'uses_tools: [skill_registry, workspace_files], limits: { max_turns: 40 }';

/** Boots the kernel, lets the model make these calls as an agent, and gives what it was answered and everything it was sent. */
async function ask(root: string, sources: readonly unknown[], calls: readonly ScriptedAnswer[]) {
  const model = await scriptedModel([...calls, { text: 'I give up.' }]);
  const kernel = await boot({
    root,
    environment: model.environment,
    config: { skill_registry: { sources, watch: { mode: 'off' } } },
  });
  onTestFinished(() => kernel.shutdown());
  await kernel.invokeAgent('curious', 'Find out.');
  const results = toolResults(model.requests.at(-1));
  expect(results).toHaveLength(calls.length);
  return { results, told: JSON.stringify(model.requests) };
}

const read = (path: string): ScriptedAnswer => ({ call: 'read_file', args: { path } });
const list = (path: string): ScriptedAnswer => ({ call: 'list_files', args: { path } });

it('lets nothing of data/ and of secrets reach a model that works on a root which is a skill', async () => {
  const root = tempFolder({
    'SKILL.md': skillMd({ name: 'whole', description: 'All of it.' }),
    '.env': `TOKEN=${SECRET}\n`,
    'keys/id_ed25519': SECRET,
    'data/notes/config.yaml': SECRET,
    ...agent('curious', TOOLS),
  });
  const paths = ['.env', 'keys/id_ed25519', 'data/notes/config.yaml', 'data/skill_registry/history.db', '.ENV'];
  const { results, told } = await ask(
    root,
    [{ path: '.' }],
    [
      {
        call: 'propose_skill_update',
        args: { skill_id: basename(root), path: 'x.md', content: 'x', justification: 'x' },
      },
      { call: 'read_skill', args: { skill_id: basename(root) } },
      ...paths.flatMap((path): readonly ScriptedAnswer[] => [
        { call: 'read_skill_resource', args: { skill_id: basename(root), path } },
        {
          call: 'propose_skill_update',
          args: { skill_id: basename(root), path, content: 'mine', justification: 'x' },
        },
        { call: 'write_file', args: { path: `extensions/${path}`, content: 'mine' } },
        read(`extensions/../${path}`),
      ]),
    ],
  );
  const [proposed, skillRead, ...refused] = results;
  expect(proposed).toMatchObject({ success: true, file: expect.stringMatching(/^data\/skill_registry\/proposals\//) });
  expect(skillRead).toMatchObject({ success: true, resources_left_out: 3 });
  // A file that is written below extensions/ is another one, whatever it is called.
  expect(refused.filter(({ success }, index) => success && index % 4 !== 2)).toEqual([]);
  expect(told).not.toContain(SECRET);
  // Where a skill lies is told once, by read_skill; nothing else tells it.
  expect(skillRead?.directory).toBe(realpathSync(root));
  const others = [proposed, { ...skillRead, directory: '' }, ...refused];
  expect(JSON.stringify(others)).not.toContain(root);
  expect(readFileSync(join(root, '.env'), 'utf8')).toContain(SECRET);
});

it('lets nothing of skills that an agent is not bound to reach its model', async () => {
  const hidden: Tree = { ...skill('hidden', {}, SECRET), 'skills/hidden/references/a.md': SECRET };
  const root = tempFolder({ ...skill('good', {}, 'Good.'), ...hidden });
  writeTree(root, agent('curious', `${TOOLS}, uses_skills: [good]`));
  const { results, told } = await ask(
    root,
    [{ path: 'skills' }],
    [
      list('skills'),
      read('skills/good/SKILL.md'),
      read('skills/hidden/SKILL.md'),
      read('skills/hidden/references/a.md'),
      list('skills/hidden'),
      { call: 'read_skill', args: { skill_id: 'hidden' } },
    ],
  );
  const [listed, good, ...refused] = results;
  expect(listed).toMatchObject({ entries: [{ name: 'good', kind: 'directory' }] });
  expect(good).toMatchObject({ success: true, content: expect.stringContaining('Good.') });
  expect(refused.map((one) => (one as { error: { code: string } }).error.code)).toEqual(
    Array(4).fill('SKILL_NOT_FOUND'),
  );
  expect(told).not.toContain(SECRET);
  expect(told).not.toContain(root);
});
