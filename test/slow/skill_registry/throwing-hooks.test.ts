import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import type { Problem } from 'skill-registry/kernel';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { InternalOptions } from '../../../extensions/skill_registry/core/options.ts';
import { embeddingsServer } from '../../helpers/embeddings-server.ts';
import { skillMd, tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const TEA = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews tea.' }, 'Boil water.') };
const CUP = { 'skills/cup/SKILL.md': skillMd({ name: 'cup', description: 'Holds tea.' }) };
const ADA = { by: 'person:ada', reason: 'Because.' };

const WAYS: readonly (readonly [how: string, fail: (name: string) => never])[] = [
  [
    'throws',
    (name) => {
      throw new Error(`${name} is broken`);
    },
  ],
  ['rejects', (name) => Promise.reject(new Error(`${name} is broken`)) as never],
];

async function open(options: InternalOptions): Promise<{ root: string; registry: SkillRegistry }> {
  const root = tempFolder(TEA);
  const registry = await createSkillRegistry({
    root,
    ...options,
    config: { sources: [{ path: 'skills' }], ...options.config },
  });
  onTestFinished(() => registry.close());
  return { root, registry };
}

/** The hooks that are said to have failed. */
function failed(problems: readonly Problem[]): readonly unknown[] {
  const found = problems.filter(({ code }) => code === 'HOOK_FAILED');
  // A key that would come later is none.
  for (const { message, details } of found)
    expect(message).toMatch(
      new RegExp(`^${details?.hook} failed: (${details?.hook} is broken|it gave something of type object)`),
    );
  return found.map(({ details }) => details?.hook);
}

describe.each(WAYS)('a hook that %s is a problem, and what it was called for succeeds:', (_, fail) => {
  it('onSkillLoaded', async () => {
    const told: Problem[] = [];
    const { registry } = await open({ onSkillLoaded: () => fail('onSkillLoaded'), onProblem: (one) => told.push(one) });
    expect(await registry.read('tea')).toMatchObject({ content: 'Boil water.' });
    await expect(registry.read('nope')).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
    expect(await registry.admin.readBytes('tea', {}, {})).toHaveLength(TEA['skills/tea/SKILL.md'].length);
    expect(failed(registry.problems())).toEqual(['onSkillLoaded']);
    expect(told).toEqual(registry.problems());
  });

  it('onProblem', async () => {
    const { root, registry } = await open({ onProblem: () => fail('onProblem') });
    writeTree(root, { 'skills/mug/SKILL.md': skillMd({ name: 'cup', description: 'Holds.' }), ...CUP });
    expect((await registry.refresh()).skills).toHaveLength(3);
    await new Promise((resolve) => setImmediate(resolve));
    expect(failed(registry.problems())).toEqual(['onProblem']);
  });

  it('getSecret and onProgress', async () => {
    const server = await embeddingsServer();
    let requests = 0;
    // A real second has to pass before there is a line.
    server.behave(() => (requests++ < 1 ? { status: 429, headers: { 'retry-after': '1.1' } } : undefined));
    const { registry } = await open({
      config: { embeddings: { base_url: server.baseUrl, model: 'm', batch: 1 } },
      getSecret: () => fail('getSecret'),
      onProgress: () => fail('onProgress'),
    });
    await registry.addSource({
      inline: ['one', 'two'].map((name) => ({ name, description: name, instructions: name })),
    });
    expect(await registry.admin.embedSkills()).toEqual({ embedded: 3, total: 3 });
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    expect(failed(registry.problems())).toEqual(['getSecret', 'onProgress']);
  });

  it('onWriteStep and a listener of onArrival', async () => {
    const { registry } = await open({ onWriteStep: () => fail('onWriteStep') });
    const heard: string[] = [];
    registry.proposals.onArrival(() => fail('onArrival'));
    registry.proposals.onArrival(({ skillId }) => heard.push(skillId));
    const content = TEA['skills/tea/SKILL.md'].replace('Boil', 'Heat');
    const { proposalId } = await registry.proposals.propose({ skillId: 'tea', content, justification: 'Softer.' });
    await registry.proposals.approve(proposalId, ADA);
    expect(await registry.read('tea')).toMatchObject({ content: 'Heat water.' });
    expect(heard).toEqual(['tea']);
    expect(failed(registry.problems())).toEqual(['onWriteStep', 'onArrival']);
  });

  it('a listener of onChange', async () => {
    const { root, registry } = await open({});
    const heard: (readonly string[])[] = [];
    registry.onChange(() => fail('onChange'));
    registry.onChange((ids) => heard.push(ids));
    writeTree(root, CUP);
    await registry.refresh();
    expect(heard).toEqual([['cup']]);
    await waitFor('the problem', () => registry.problems().length > 0);
    expect(failed(registry.problems())).toEqual(['onChange']);
  });
});

it('a hook that fails in ever new words is reported a few times', async () => {
  const { registry } = await open({
    onSkillLoaded: ({ durationSeconds: duration_s }) => Promise.reject(new Error(`${duration_s} ${Math.random()}`)),
  });
  for (let count = 0; count < 50; count++) await registry.read('tea');
  expect(registry.problems()).toHaveLength(20);
});
