import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { openTrust } from '../../../lib/trust/index.ts';
import { openRoot } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd, type Tree, tempFolder } from '../../helpers/temp-folder.ts';

const HOME: Tree = { 'SKILL.md': skillMd({ name: 'home', description: 'Everything I have.' }), 'notes.md': 'Mine.' };

it('keeps what a person has approved out of the reach of skills, though the root is the home directory', async () => {
  const root = tempFolder({ ...HOME, '.state/skill-registry/.keep': '', way: { link: '.state/skill-registry' } });
  vi.stubEnv('XDG_STATE_HOME', join(root, '.state'));
  vi.stubEnv('XDG_CACHE_HOME', join(root, '.cache'));
  try {
    openTrust().decide({ action: 'allow', kind: 'root', path: root, by: 'person:ada' });
    const { file } = openTrust();
    const before = readFileSync(file, 'utf8');
    const writes = { create: 'allow', update: 'allow', delete: 'allow' } as const;
    const registry = await openRoot(root, { config: { sources: [{ path: '.', allow_outside: true }], writes } });
    const [{ skillId = '' } = {}] = registry.list().skills;
    const { resources } = await registry.read(skillId);
    expect(resources.map(({ path }) => path)).toEqual(['notes.md']);
    for (const path of ['.state/skill-registry/trust.jsonl', 'way/trust.jsonl']) {
      const read = await runRegistryTool(registry, 'read_skill_resource', { skillId, path });
      expect(read).toMatchObject({ success: false });
      const line = '{"action":"allow","kind":"root","path":"/","at":"","by":"agent:evil"}\n';
      const written = registry.admin.management.write(skillId, path, before + line, { by: 'agent:evil' });
      await expect(written).rejects.toMatchObject({
        code: expect.stringMatching(/^(INVALID_ARGUMENT|PATH_TRAVERSAL)$/),
      });
    }
    expect(readFileSync(file, 'utf8')).toBe(before);
  } finally {
    vi.unstubAllEnvs();
  }
});
