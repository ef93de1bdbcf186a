import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { SkillRegistry } from 'skill-registry';
import { isCodedError, type TurnContext } from 'skill-registry/kernel';
import { expect, it } from 'vitest';
import { proposalsCommand } from '../../extensions/skill_registry/features/proposals/conversation.ts';
import { attack } from '../helpers/held.ts';
import { reviewPage } from '../helpers/review-page.ts';
import { TEA, teaRegistry } from '../helpers/tea.ts';

const ATTACK = TEA.replace('Serve.', `Serve.\n${attack(151)}`);
/** The proposal does not apply to it. */
const OTHER = TEA.replace('Serve.', 'Pour it into cups.');
const ATTEMPTS = 400;

/** In a thread, which also exchanges between two lines of the registry that wait for nothing. */
const EXCHANGE = `
  const { renameSync, writeFileSync } = require('node:fs');
  const { file, texts } = require('node:worker_threads').workerData;
  for (let turn = 0; ; turn += 1) {
    writeFileSync(file + '.new', texts[turn % 2]);
    renameSync(file + '.new', file);
  }`;

/** Attempts while SKILL.md is now the one text, now the other. @returns the distinct codes of what was refused. */
async function whileExchanged(root: string, attempt: () => Promise<unknown>): Promise<ReadonlySet<string>> {
  const workerData = { file: join(root, 'skills/tea/SKILL.md'), texts: [OTHER, TEA] };
  const worker = new Worker(EXCHANGE, { eval: true, workerData });
  const codes = new Set<string>();
  try {
    await once(worker, 'online');
    for (let left = ATTEMPTS; left > 0; left -= 1) {
      const code = await attempt().then(
        () => '',
        (error: unknown) => (isCodedError(error) ? error.code : String(error)),
      );
      codes.add(code);
    }
  } finally {
    await worker.terminate();
  }
  return codes;
}

async function expectNothingWritten({ history }: Pick<SkillRegistry, 'history'>): Promise<void> {
  const kinds = (await history.revisions('tea')).map(({ kind }) => kind);
  expect(kinds).not.toContain('proposal');
}

it('writes no attack into a skill that is exchanged while an agent approves', async () => {
  const { registry, root, propose } = await teaRegistry();
  const id = await propose(ATTACK);
  const codes = await whileExchanged(root, () => registry.proposals.approve(id, { by: 'agent:reviewer' }));
  await expectNothingWritten(registry);
  expect(codes).not.toContain('');
  expect(codes).toContain('BLOCK_NOT_CONFIRMED');
  expect(codes).toContain('PROPOSAL_STALE');
});

it('writes no attack that was not confirmed into a skill that is exchanged while a person approves in a conversation', async () => {
  const { registry, root, propose } = await teaRegistry();
  const id = await propose(ATTACK);
  const turn = { userId: 'ada' } as TurnContext;
  await whileExchanged(root, async () => proposalsCommand(registry).execute(`approve ${id}`, turn));
  await expectNothingWritten(registry);
});

it('writes no attack that was not confirmed into a skill that is exchanged while a person approves at the page', async () => {
  const page = await reviewPage();
  const id = await page.propose(ATTACK);
  const { version } = await page.registry.proposals.get(id);
  const [, blocks = ''] = /name="blocks" value="([^"]+)"/.exec((await page.get(`/proposals/${id}`)).text) ?? [];
  const answers = new Set<number>();
  await whileExchanged(page.root, async () => {
    answers.add((await page.post(`/proposals/${id}/approve`, { version, blocks })).status);
  });
  expect([...answers]).toEqual([409]);
  await expectNothingWritten(page.registry);
});
