import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadedModules, modulesIn } from '../helpers/loaded-modules.ts';
import { ROOT } from './imports.ts';

const files = readdirSync(join(ROOT, 'dist'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.js'))
  .map((path) => join(ROOT, 'dist', path));

it('has every module in one file, so that it has one state whichever door leads to it', () => {
  const all = files.flatMap(modulesIn);
  expect(all).toContain('kernel/errors.ts');
  expect(all.filter((module, at) => all.indexOf(module) !== at)).toEqual([]);
});

it('contains the tokenizer with its licence, and of no other package a line', () => {
  const bundled = new Set(
    files.flatMap(modulesIn).flatMap((module) => /^node_modules\/([^/]+)/.exec(module)?.[1] ?? []),
  );
  expect([...bundled]).toEqual(['gpt-tokenizer']);
  expect(readdirSync(join(ROOT, 'dist', 'licenses'))).toEqual(['gpt-tokenizer.txt']);
  const licence = readFileSync(join(ROOT, 'dist', 'licenses', 'gpt-tokenizer.txt'), 'utf8');
  expect(licence).toBe(readFileSync(join(ROOT, 'node_modules', 'gpt-tokenizer', 'LICENSE'), 'utf8'));
});

it('gives a host the kernel that the registry uses: an error of one is known by the other', () => {
  const loaded = loadedModules(`
    import { createSkillRegistry } from 'skill-registry';
    import { CodedError } from 'skill-registry/kernel';
    const registry = await createSkillRegistry({ config: { sources: [] } });
    const error = await registry.read('nothing').catch((error) => error);
    if (!(error instanceof CodedError)) throw error;
    await registry.close();`);
  expect(loaded.filter((module) => module === 'kernel/errors.ts')).toHaveLength(1);
});
