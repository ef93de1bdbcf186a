import { createHash } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import { tarGz } from '../../helpers/archives.ts';
import { attack } from '../../helpers/held.ts';
import { servePage } from '../../helpers/page-server.ts';
import { readPage } from '../../helpers/published-page.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

it('a skill of a page with an attack in its scripts is kept from models, and shown to people with the reason', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const entries = ['mixer', 'tea'].map((name) => {
    const script = name === 'mixer' ? attack(61) : 'echo';
    const bytes = tarGz([
      { path: 'SKILL.md', content: skillMd({ name, description: `Makes ${name}.` }) },
      { path: 'scripts/a.sh', content: `${script}\n`, mode: 0o755 },
    ]);
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    return { bytes, name, type: 'archive', description: `Makes ${name}.`, url: `${name}.tar.gz`, digest };
  });
  const index = {
    $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
    skills: entries.map(({ bytes: _, ...entry }) => entry),
  };
  const below = '.well-known/agent-skills';
  const page = await servePage(
    tempFolder({
      [`${below}/index.json`]: JSON.stringify(index),
      ...Object.fromEntries(entries.map(({ url, bytes }) => [`${below}/${url}`, bytes])),
    }),
  );
  const registry = await readPage(page.url, tempFolder());
  expect(page.answers).toContain(`200 /${below}/mixer.tar.gz`);
  expect(registry.visible().map(({ id }) => id)).toEqual(['tea']);
  expect(registry.snapshot().skills.map(({ id, heldBecause }) => [id, heldBecause])).toEqual([
    ['mixer', expect.stringMatching(/, scripts\/a\.sh:1\)$/)],
    ['tea', undefined],
  ]);
  const reads = [() => registry.read('mixer', {}, {}), () => registry.readResource('mixer', 'scripts/a.sh', {})];
  // One after the other: a rejection that nobody awaits yet is an error of the run.
  for (const read of reads) await expect(read()).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  expect(registry.problems()).toEqual([
    expect.objectContaining({ code: 'SKILL_HELD', message: expect.stringContaining('scripts/a.sh:1') }),
  ]);
});
