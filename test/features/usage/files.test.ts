import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { textOf } from '../../helpers/review-page.ts';
import { runCommand } from '../../helpers/run-command.ts';

const TREE = {
  'data/.keep': '',
  ...skill('tea'),
  'skills/tea/references/black.md': 'Four minutes.',
  'skills/tea/references/green.md': 'Two minutes.',
  'skills/tea/scripts/boil.sh': 'boil\n',
  ...skill('bread'),
  'skills/bread/references/rye.md': 'Sour.',
};
const AGENT = { agentId: 'clerk', threadId: 'thread-1' };

it('counts each file of a skill that agents open, and names those that nobody opened', async () => {
  const { registry, root } = await openRegistry(TREE);
  await registry.read('tea', {}, AGENT);
  for (const path of ['references/black.md', 'references/./black.md', 'scripts/boil.sh'])
    await registry.readResource('tea', path, AGENT);
  for (const path of ['references/hunter2.md', '../../../etc/passwd', '/etc/shadow'])
    await registry.readResource('tea', path, AGENT).catch(() => undefined);
  await registry.readResource('tea', 'SKILL.md', AGENT);
  const { files, totals } = await registry.usage.report({ skillId: 'tea' });
  expect(totals.loads).toBe(2);
  expect(files).toEqual([
    { path: '(missing)', reads: 3 },
    { path: 'references/black.md', reads: 2 },
    { path: 'scripts/boil.sh', reads: 1 },
    { path: 'references/green.md', reads: 0 },
  ]);
  expect(JSON.stringify(await registry.usage.events())).not.toMatch(/hunter2|passwd|shadow/);
  const { stdout } = await runCommand(['stats', 'tea', '--root', root]);
  expect(stdout.replace(/ +/g, ' ')).toContain(
    'READS FILE\n 3 (missing)\n 2 references/black.md\n 1 scripts/boil.sh\n 0 references/green.md\n',
  );
});

it('keeps the path of a file that is there and too large to be given, and none where the agent may not have the skill', async () => {
  const { registry, root } = await openRegistry(TREE, { limits: { resource_bytes: 20 }, disabled: ['bread'] });
  writeFileSync(join(root, 'skills/tea/references/black.md'), 'x'.repeat(30));
  await registry.readResource('tea', 'references/black.md', AGENT).catch(() => undefined);
  await registry.readResource('bread', 'references/rye.md', AGENT).catch(() => undefined);
  const events = await registry.usage.events();
  expect(events.map(({ kind, outcome, path }) => [kind, outcome, path])).toEqual([
    ['failure', 'RESOURCE_TOO_LARGE', 'references/black.md'],
    ['refusal', 'SKILL_DISABLED', undefined],
  ]);
});

it('names the skills whose body is read and whose references never are', async () => {
  const { registry, root } = await openRegistry(TREE);
  for (const id of ['tea', 'bread', 'bread']) await registry.read(id, {}, AGENT);
  await registry.readResource('tea', 'references/black.md', AGENT);
  const { unread } = await registry.usage.report();
  expect(unread).toEqual([{ skillId: 'bread', loads: 2, references: 1 }]);
  const { stdout } = await runCommand(['stats', '--root', root]);
  expect(textOf(stdout)).toMatch(/REFERENCES, NONE READ +SKILL\s+2 +1 +bread/);
});
