import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from 'skill-registry/kernel';
import { expect, it } from 'vitest';
import { reviewTools } from '../../extensions/skill_reviewer/tools.ts';
import { openRoot } from '../helpers/open-registry.ts';
import { runRegistryTool } from '../helpers/run-registry-tool.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

const ALLOW = { create: 'allow', update: 'allow', delete: 'allow' } as const;
const WHOLE = skillMd({ name: 'whole', description: 'The whole project.' }, 'Do it.');
const CODE = 'export class Main {}\n';

/** A root that is a skill itself, so that its extensions are files of a skill. */
async function project() {
  const root = tempFolder({ 'SKILL.md': WHOLE, 'extensions/tool/main.ts': CODE });
  const registry = await openRoot(root, { config: { sources: [{ path: '.' }], writes: ALLOW } });
  const [{ skillId = '' } = {}] = registry.list().skills;
  const code = () => readFileSync(join(root, 'extensions/tool/main.ts'), 'utf8');
  return { root, registry, id: skillId, code };
}

it('lets no agent change code below extensions/ as a file of a skill, though the owner allows writes', async () => {
  const { root, registry, id, code } = await project();
  const actor = { by: 'agent:builder' };
  const denied = { code: 'WRITE_DENIED' };
  const { management } = registry.admin;
  await expect(management.write(id, 'extensions/tool/main.ts', 'evil', actor)).rejects.toMatchObject(denied);
  await expect(management.write(id, 'extensions/new/main.ts', 'evil', actor)).rejects.toMatchObject(denied);
  await expect(management.write(id, 'extensions/tool/main.ts', null, actor)).rejects.toMatchObject(denied);
  await expect(management.write(id, 'extensions/tool/main.ts', 'x', { by: 'unknown' })).rejects.toMatchObject(denied);
  expect(code()).toBe(CODE);
  expect(existsSync(join(root, 'extensions/new'))).toBe(false);
  await management.write(id, 'notes.md', 'Fine.', actor);
  expect(readFileSync(join(root, 'notes.md'), 'utf8')).toBe('Fine.');
});

it('lets no reviewing agent approve such a change, and a person do it', async () => {
  const { registry, id, code } = await project();
  const proposed = await runRegistryTool(registry, 'propose_skill_update', {
    skill_id: id,
    path: 'extensions/tool/main.ts',
    content: '// changed\n',
    justification: 'Because.',
  });
  const { proposal_id } = proposed as unknown as { proposal_id: string };
  const tools = reviewTools(registry, 'reviewer', true);
  const decide = tools.find(({ name }) => name === 'decide_proposal');
  const call = { turn: { agentId: 'reviewer' }, signal: new AbortController().signal };
  const { version } = await registry.proposals.get(proposal_id);
  const args = { proposal_id, version, verdict: 'approve', reason: 'Fine.' };
  expect(decide && (await runTool(decide, args, call))).toMatchObject({
    success: false,
    error: { code: 'WRITE_DENIED' },
  });
  expect(code()).toBe(CODE);
  await registry.proposals.approve(proposal_id, { by: 'person:ada' });
  expect(code()).toBe('// changed\n');
});
