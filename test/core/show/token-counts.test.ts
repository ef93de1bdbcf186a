import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Snapshot } from '../../../extensions/skill_registry/core/catalog/snapshot.ts';
import { createTokenCounts } from '../../../extensions/skill_registry/core/show/token-counts.ts';
import type { Cache } from '../../../extensions/skill_registry/core/store/cache.ts';
import { countTokens, loadTokenCounter } from '../../../lib/text/index.ts';
import { fakeSkill } from '../../helpers/fake-skill.ts';
import { loadedModules } from '../../helpers/loaded-modules.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

const NO_CACHE: Cache = {
  use: () => undefined,
  useIfThere: () => undefined,
  trouble: () => undefined,
  close: () => {},
};

it('counts one long body in several turns of the event loop, as it counts it at once', async () => {
  // Each line has other words, so that a fast machine needs several slices, too.
  const lines = Array.from({ length: 30_000 }, (_, at) => `Read change ${at * 7919} before the first remark.\n`);
  const body = lines.join('');
  const bytes = Buffer.from(body);
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const skill = fakeSkill('long', { digest, bytes: bytes.length });
  const counts = createTokenCounts(5_000, () => bytes, NO_CACHE);
  await loadTokenCounter();
  let [turns, isCounting] = [0, true];
  const turn = (): void => {
    turns++;
    if (isCounting) setImmediate(turn);
  };
  setImmediate(turn);
  const counted = await counts.count({ skills: [skill] } as unknown as Snapshot, { bodies: true, atMost: 1 });
  isCounting = false;
  expect(turns).toBeGreaterThan(3);
  expect(counted.get('long')?.l2).toBe(await countTokens(body.trim()));
});

it('gives the count of a body that was counted before, and counts the body of other bytes', async () => {
  const [before, after] = ['Read the diff.', 'Read the whole diff, and every file it names.'];
  const digest = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
  const skill = fakeSkill('review', { digest: digest(before), bytes: before.length });
  const counts = createTokenCounts(5_000, () => Buffer.from(before), NO_CACHE);
  await counts.count({ skills: [skill] } as unknown as Snapshot, { bodies: true, atMost: 1 });
  const tokens = await countTokens(before);
  // Another text under the digest that was counted: it is not counted again.
  expect(await counts.ofBody(skill, digest(before), after)).toBe(tokens);
  expect(await counts.ofBody(skill, digest(after), after)).toBe(await countTokens(after));
  expect(await counts.ofBody(skill, undefined, after)).toBe(await countTokens(after));
  expect(await counts.ofBody(skill, digest(before), before)).toBe(tokens);
});

it('counts the body of a skill on a server at every read: its key stays when only the body changes', async () => {
  const [before, after] = ['Read the diff.', 'Read the whole diff, and every file it names.'];
  const counts = createTokenCounts(5_000, () => Buffer.from(''), NO_CACHE);
  for (const body of [before, after]) {
    const skill = fakeSkill('review', { digest: `digest of ${body}`, remote: true });
    expect(await counts.ofBody(skill, skill.digest, body)).toBe(await countTokens(body));
  }
});

it('gives the content of the snapshot no count of a file that has changed or was removed since', async () => {
  const [before, after] = ['Read the diff.', 'Read the whole diff, and every file it names.'];
  const digest = `sha256:${createHash('sha256').update(before).digest('hex')}`;
  const skill = fakeSkill('review', { digest, bytes: before.length });
  const removed = (): Buffer => {
    throw new Error('It is gone.');
  };
  for (const read of [() => Buffer.from(after), removed]) {
    const counts = createTokenCounts(5_000, read, NO_CACHE);
    const counted = await counts.count({ skills: [skill] } as unknown as Snapshot, { bodies: true, atMost: 1 });
    expect(counted.get('review')).toEqual({ l1: expect.any(Number), l2: null });
    expect(await counts.ofBody(skill, digest, before)).toBe(await countTokens(before));
  }
});

it('keeps the counts of texts: only the first process that shows a catalog or a body loads the tokenizer', () => {
  const description =
    'Makes tea for guests, the green as well as the black, with water as hot as each needs it. '.repeat(3);
  const skills = ['assam', 'ceylon', 'sencha'].map((name) => [
    `skills/${name}/SKILL.md`,
    skillMd({ name, description }),
  ]);
  const root = tempFolder({ ...Object.fromEntries(skills), 'skills/assam/steps.md': 'Boil the water first.' });
  const out = join(root, 'shown.json');
  const show = () => {
    const modules = loadedModules(
      `import { writeFileSync } from 'node:fs';
       import { createSkillRegistry } from 'skill-registry';
       const registry = await createSkillRegistry({ root: ${JSON.stringify(root)} });
       const shown = [
         await registry.context(''),
         await registry.read('assam', {}, {}),
         await registry.readResource('assam', 'steps.md', {}),
       ];
       await registry.close();
       writeFileSync(${JSON.stringify(out)}, JSON.stringify(shown))`,
    );
    return {
      isLoaded: modules.some((name) => name.includes('gpt-tokenizer')),
      shown: JSON.parse(readFileSync(out, 'utf8')) as readonly unknown[],
    };
  };
  const [first, next] = [show(), show()];
  expect(first.isLoaded).toBe(true);
  expect(first.shown).toEqual([
    expect.stringContaining('`sencha`'),
    expect.objectContaining({ skillId: 'assam' }),
    expect.objectContaining({ approxTokens: 6 }),
  ]);
  expect(next).toEqual({ isLoaded: false, shown: first.shown });
});
