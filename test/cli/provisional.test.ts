import { expect, it, onTestFinished, vi } from 'vitest';
import { runCommand } from '../helpers/run-command.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

const SKILLS = Array.from({ length: 50 }, (_, at) => `tea-${String(at).padStart(2, '0')}`);

it('list and search say as JSON how many are not inspected yet, and what helps, which does', async () => {
  const root = tempFolder(
    Object.fromEntries(
      SKILLS.map((name) => [
        `skills/${name}/SKILL.md`,
        skillMd({ name, description: 'Brews tea.' }, `Body of ${name}.`),
      ]),
    ),
  );
  const run = (...args: string[]) => runCommand([...args, '--root', root], { cwd: root });
  const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);
  // With this clock nobody waits for another process that writes what was inspected.
  vi.stubEnv('XDG_CACHE_HOME', tempFolder());
  // Every look at the clock is 10 seconds later: a command has no time for more than the 16 skills that it always inspects.
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 10_000;
    return now;
  });
  onTestFinished(() => void vi.restoreAllMocks().unstubAllEnvs());
  const messageFor = (pending: number): string =>
    `${pending} skill(s) are not inspected yet, and no agent is given them: skill-registry doctor inspects all.`;
  const listed = await json('list');
  expect(listed).toMatchObject({ total: 50, provisional: true, pending: 34, message: messageFor(34) });
  expect(listed.skills).toHaveLength(50);
  const found = await json('search', 'tea-48');
  expect(found).toMatchObject({ provisional: true, pending: 18, message: messageFor(18) });
  expect(found.skills[0]).toMatchObject({ skill_id: 'tea-48' });
  const { stderr } = await run('search', 'tea-48');
  expect(stderr).toContain(`${messageFor(2)}\n`);
  expect(stderr).toMatch(/^1 skill\(s\)$/m);
  vi.restoreAllMocks();
  await run('doctor');
  for (const args of [['list'], ['search', 'tea']]) {
    const whole = await json(...args);
    expect(whole.total).toBe(50);
    for (const key of ['provisional', 'pending', 'message']) expect(whole).not.toHaveProperty(key);
  }
});
