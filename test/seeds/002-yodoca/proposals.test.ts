import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { type BootedRoot, bootRoot, skill } from '../../helpers/boot-root.ts';
import { type OpenRegistry, openRegistry } from '../../helpers/open-registry.ts';
import { runKernelTool, runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { atEndOfSuite, skillMd } from '../../helpers/temp-folder.ts';

const PERSON = { by: 'person:ada' };
const diffOf = (skill_id: string, better = 'Better body.') => ({
  skill_id,
  diff: `@@\n-Body of ${skill_id}.\n+${better}\n`,
  justification: 'It was wrong.',
  evidence: 'A user said so.',
});

const atEnd = atEndOfSuite();
let opened: OpenRegistry;
let booted: BootedRoot;

beforeAll(async () => {
  opened = await openRegistry({ ...skill('tea'), ...skill('cup'), ...skill('pot'), ...skill('old') }, {}, atEnd);
  booted = await bootRoot(skill('tea'), { sources: [{ path: 'skills' }] }, atEnd);
});

/** What a model is told of a proposal, and its report. */
async function propose(args: object) {
  const result = (await runRegistryTool(opened.registry, 'propose_skill_update', args)) as Record<string, string>;
  return { ...result, report: join(opened.root, result.file ?? '') } as Readonly<Record<string, string>>;
}

it('1a.34, 1d.7 a skill that an agent writes is there for the next turn where writes allow it, else proposed like an edit', async () => {
  const content = skillMd({ name: 'new', description: 'Just written.' });
  const write = { path: 'skills/new/SKILL.md', content };
  const catalogOf = async ({ kernel }: BootedRoot): Promise<string | undefined> =>
    (await kernel.describeTurn('orchestrator_agent', '', {})).find(({ source }) => source === 'skill_registry')?.text;
  const open = await bootRoot(skill('tea'), { writes: { create: 'allow' } });
  expect(await runKernelTool(open.kernel, 'write_file', write)).toMatchObject({ success: true });
  expect(await catalogOf(open)).toContain('`new` — Just written.');
  const proposed = await runKernelTool(booted.kernel, 'write_file', write);
  expect(proposed).toMatchObject({ success: true, written: false, state: 'open' });
  expect(await catalogOf(booted)).not.toContain('Just written.');
});

it('1a.35, 1d.3 an update goes through propose_skill_update, which writes a file of its own named after skill and time', async () => {
  const [first, second] = [await propose(diffOf('tea')), await propose(diffOf('tea', 'Other body.'))];
  expect(first.file).toMatch(/^data\/skill_registry\/proposals\/tea-\d{8}T\d{6}Z-[0-9a-f]{6}\.md$/);
  expect(second.file).not.toBe(first.file);
  for (const { report = '' } of [first, second]) expect(existsSync(report)).toBe(true);
  expect((await opened.registry.read('tea')).content).toBe('Body of tea.');
});

it('1a.36, 1d.2 a proposal has the sections Diff, Justification and Evidence, and an argument for each', async () => {
  const text = readFileSync((await propose(diffOf('cup'))).report ?? '', 'utf8');
  expect(text.match(/^## .*$/gm)).toEqual(['## Diff', '## Justification', '## Evidence', '## Checks']);
  for (const part of ['+Better body.', 'It was wrong.', 'A user said so.']) expect(text).toContain(part);
});

it('1a.37 a person is told, that person or the reviewing agent decides, and SKILL.md changes only after approval', async () => {
  const { kernel, root } = booted;
  const turn = { agentId: 'orchestrator_agent' };
  const { proposal_id } = await runKernelTool(kernel, 'propose_skill_update', diffOf('tea'), turn);
  const body = (): string => readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8');
  expect(kernel.agents().map(({ id }) => id)).toContain('skill_reviewer');
  expect(kernel.undelivered().some((line) => line.includes(String(proposal_id)))).toBe(true);
  expect(body()).toContain('Body of tea.');
  await kernel.runCommand(`/proposals show ${proposal_id}`, {});
  await kernel.runCommand(`/proposals approve ${proposal_id}`, {});
  expect(body()).toContain('Better body.');
});

it('1a.38 versions and changes of a skill are tracked below data/skill_registry', async () => {
  const { registry, root } = opened;
  const { proposal_id = '' } = await propose(diffOf('pot'));
  await registry.proposals.approve(proposal_id, PERSON);
  expect((await registry.history.revisions('pot')).map(({ kind, by }) => [kind, by])).toEqual([
    ['seen', 'unknown'],
    ['proposal', 'person:ada'],
  ]);
  expect(existsSync(join(root, 'data/skill_registry/history.db'))).toBe(true);
});

it('1d.4, 8.11 a proposal knows the content it was made for, is stale when that has changed, and is not applied', async () => {
  const { registry, root } = opened;
  const { proposal_id = '', report = '' } = await propose(diffOf('old'));
  expect(readFileSync(report, 'utf8')).toMatch(/base: sha256:[0-9a-f]{64}/);
  const file = join(root, 'skills/old/SKILL.md');
  const changed = skillMd({ name: 'old', description: 'Does old.' }, 'Somebody wrote this.');
  writeFileSync(file, changed);
  await expect(registry.proposals.approve(proposal_id, PERSON)).rejects.toMatchObject({ code: 'PROPOSAL_STALE' });
  expect(await registry.proposals.get(proposal_id)).toMatchObject({ state: 'stale' });
  expect(readFileSync(file, 'utf8')).toBe(changed);
});
