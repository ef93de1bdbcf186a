import { expect, it, onTestFinished, vi } from 'vitest';
import { runCommand } from '../helpers/run-command.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

it('list says how many of many skills are not inspected yet, and what helps, which does', async () => {
  const names = Array.from({ length: 30 }, (_, at) => `tea-${String(at).padStart(2, '0')}`);
  const tree = names.map((name) => {
    const text = skillMd({ name, description: 'Brews tea.' }, `Body of ${name}.`);
    return [`skills/${name}/SKILL.md`, text];
  });
  const root = tempFolder(Object.fromEntries(tree));
  // Other tests write into the common cache, or forget what it has.
  vi.stubEnv('XDG_CACHE_HOME', tempFolder());
  onTestFinished(() => void vi.unstubAllEnvs());
  const run = (...args: string[]) => runCommand([...args, '--root', root], { cwd: root });
  const { stderr } = await run('list');
  expect(stderr).toContain('30 skills, 30 not inspected yet (skill-registry doctor inspects them)');
  const message =
    '30 skills not inspected yet. Agents see their lines; the rest is inspected when it is asked for, and skill-registry doctor inspects all.';
  const listed = JSON.parse((await run('list', '--json')).stdout);
  expect(listed).toMatchObject({ total: 30, pending: 30, message });
  expect(listed.skills).toHaveLength(30);
  await run('doctor');
  const whole = JSON.parse((await run('list', '--json')).stdout);
  expect(whole.total).toBe(30);
  for (const key of ['pending', 'message']) expect(whole).not.toHaveProperty(key);
});
