import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startOnTerminal } from '../helpers/run-command.ts';
import { LONGER, TEA, teaRegistry } from '../helpers/tea.ts';

async function proposed() {
  const { root, registry, propose } = await teaRegistry();
  const id = await propose(LONGER);
  const run = (...args: string[]) => startOnTerminal([...args, '--root', root], { environment: { USER: 'ada' } });
  const tea = (): string => readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8');
  return { registry, id, run, tea };
}

it('shows a proposal at a real terminal, asks, and decides by the answer (needs script(1))', async () => {
  const { registry, id, run, tea } = await proposed();
  for (const [answer, status, text] of [
    ['n', 1, TEA],
    ['\x03', undefined, TEA],
    ['y', 0, LONGER],
  ] as const) {
    const running = run('proposals', 'approve', id.slice(0, 6));
    await running.until(`Approve the change of tea/SKILL.md (${id})? [y/N]`);
    expect(running.stdout()).toContain('+Steep for three minutes.');
    expect(tea()).toBe(TEA);
    running.child.stdin?.write(`${answer}\n`);
    const ended = await running.exited;
    if (status === undefined) expect(ended).not.toBe(0);
    else expect(ended).toBe(status);
    expect(tea()).toBe(text);
  }
  expect(await registry.proposals.get(id)).toMatchObject({ state: 'approved', decision: { by: 'person:ada' } });
});

it('rejects, and goes back, after the difference was shown and the answer was yes (needs script(1))', async () => {
  const { registry, id, run, tea } = await proposed();
  const rejecting = run('proposals', 'reject', id, '--reason', 'Weak.');
  await rejecting.until(`Reject the change of tea/SKILL.md (${id})? [y/N]`);
  rejecting.child.stdin?.write('yes\n');
  expect(await rejecting.exited).toBe(0);
  expect(await registry.proposals.get(id)).toMatchObject({ state: 'rejected', decision: { reason: 'Weak.' } });
  await registry.admin.management.write('tea', 'SKILL.md', LONGER, { by: 'person:ada' });
  const rolling = run('rollback', 'tea', '1');
  await rolling.until('[y/N]');
  expect(rolling.stdout()).toContain('-Steep for three minutes.');
  expect(tea()).toBe(LONGER);
  rolling.child.stdin?.write('y\n');
  expect(await rolling.exited).toBe(0);
  expect(tea()).toBe(TEA);
});
