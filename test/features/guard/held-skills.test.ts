import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { describe, expect, it } from 'vitest';
import { attack } from '../../helpers/held.ts';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';
import { skillMd } from '../../helpers/temp-folder.ts';

const PERSON = { by: 'person:ada', reason: 'ours' };
const text = (body: string): string => skillMd({ name: 'one', description: 'Does one.' }, body);

async function registryWith(body: string, lock?: string) {
  const { registry, root } = await openRegistry({
    'skills/one/SKILL.md': text(body),
    'skills/one/scripts/run.sh': 'echo one\n',
    ...(lock === undefined ? {} : { 'skills-lock.json': lock }),
  });
  const write = async (path: string, content: string): Promise<void> => {
    mkdirSync(join(root, 'skills/one', path, '..'), { recursive: true });
    writeFileSync(join(root, 'skills/one', path), content);
    await registry.refresh();
  };
  return { registry, root, write };
}

/** What agents are given. */
async function given(registry: SkillRegistry): Promise<string> {
  return registry.read('one', {}, {}).then(
    ({ content }) => content,
    ({ code }: { code: string }) => code,
  );
}

const LOCK = JSON.stringify({
  version: 1,
  skills: { one: { source: 'a/b', sourceType: 'github', computedHash: 'x' } },
});

describe('a skill that would be called an attack', () => {
  it('is given to no agent until a person allows it, and to none again once that is revoked', async () => {
    const { registry } = await registryWith(attack(41));
    expect(registry.visible({})).toEqual([]);
    expect(await given(registry)).toBe('SKILL_NOT_FOUND');
    const shown = await registry.admin.trustOf('one');
    expect(shown).toMatchObject({ verdict: 'block', allowed: false, origin: 'own' });
    expect(shown.heldBecause).toContain('(fetch-from-address-and-run, SKILL.md:');

    const allowed = await registry.admin.decideTrust('allow', 'one', { ...PERSON, digest: shown.digest });
    expect(allowed).toMatchObject({ verdict: 'block', allowed: true, heldBecause: null, digest: shown.digest });
    expect(registry.visible({}).map(({ id }) => id)).toEqual(['one']);
    expect(await given(registry)).toContain('203.0.113.41');

    const revoked = await registry.admin.decideTrust('revoke', 'one', PERSON);
    expect(revoked).toMatchObject({ allowed: false, heldBecause: shown.heldBecause });
    expect(registry.visible({})).toEqual([]);
    expect(await given(registry)).toBe('SKILL_NOT_FOUND');
  });

  it('is in no list of another process once a person has revoked what was allowed', async () => {
    const { registry, root } = await registryWith(attack(44));
    const other = await openRoot(root);
    await registry.admin.decideTrust('allow', 'one', PERSON);
    await other.refresh();
    expect(other.visible({}).map(({ id }) => id)).toEqual(['one']);
    await registry.admin.decideTrust('revoke', 'one', PERSON);
    expect(other.visible({})).toEqual([]);
  });

  it('is held because of another file, too', async () => {
    const { registry, write } = await registryWith('Clean.');
    expect(await given(registry)).toContain('Clean.');
    await write('scripts/run.sh', `${attack(42)}\n`);
    expect(await given(registry)).toBe('SKILL_NOT_FOUND');
    expect((await registry.admin.trustOf('one')).heldBecause).toContain(', scripts/run.sh:1)');
  });

  it('is held by a process that has its verdict from another one', async () => {
    const { registry, root } = await registryWith(attack(43));
    await registry.close();
    const again = await openRoot(root);
    expect(again.visible({})).toEqual([]);
    await again.admin.decideTrust('allow', 'one', PERSON);
    await again.close();
    expect((await openRoot(root)).visible({}).map(({ id }) => id)).toEqual(['one']);
  });
});

describe('a decision', () => {
  it('is refused when the files are others than the person was shown', async () => {
    const { registry, write } = await registryWith(attack(44));
    const { digest } = await registry.admin.trustOf('one');
    await write('references/more.md', 'Written meanwhile.');
    for (const action of ['allow', 'revoke'] as const) {
      const decided = registry.admin.decideTrust(action, 'one', { ...PERSON, digest });
      await expect(decided).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    expect(await given(registry)).toBe('SKILL_NOT_FOUND');
  });

  it('is refused where nothing holds the skill', async () => {
    const { registry } = await registryWith('Clean.');
    const decided = registry.admin.decideTrust('allow', 'one', PERSON);
    await expect(decided).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('about what is one’s own holds across edits, as long as nothing else is found', async () => {
    const { registry, write } = await registryWith(attack(45));
    await registry.admin.decideTrust('allow', 'one', PERSON);
    await write('SKILL.md', text(`Edited.\n\n${attack(45)}`));
    expect(await given(registry)).toContain('Edited.');
    await write('SKILL.md', text(`${attack(45)}\n\n${attack(46)}`));
    expect(await given(registry)).toBe('SKILL_NOT_FOUND');
    expect((await registry.admin.trustOf('one')).findings.filter(({ level }) => level === 'block')).toHaveLength(2);
  });

  it('about what was brought in is for its content alone', async () => {
    const { registry, write } = await registryWith(attack(47), LOCK);
    expect(await registry.admin.trustOf('one')).toMatchObject({ origin: 'brought-in' });
    await registry.admin.decideTrust('allow', 'one', PERSON);
    expect(await given(registry)).toContain('203.0.113.47');
    await write('SKILL.md', text(`Edited.\n\n${attack(47)}`));
    expect(await given(registry)).toBe('SKILL_NOT_FOUND');
    await write('SKILL.md', text(attack(47)));
    expect(await given(registry)).toContain('203.0.113.47');
  });
});
