import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { splitFrontmatter } from '../../extensions/skill_registry/core/skill/frontmatter.ts';
import { corpusFolder, unpackCorpus } from '../helpers/corpus.ts';
import { expectEqualOrAbstain } from '../helpers/equal-or-abstain.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { specErrors } from '../helpers/spec-errors.ts';

const NEEDS = '(skipped without SKILL_CORPUS)';

function skillFilesBelow(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter(({ name }) => name === 'SKILL.md').map((entry) => join(entry.parentPath, entry.name));
}

/** Files of all skills that can be read, those that lost their id included. */
async function loadCorpus(config: Readonly<Record<string, unknown>>) {
  const corpus = unpackCorpus(corpusFolder ?? '');
  const { registry } = await openRegistry(
    {},
    { sources: [{ path: corpus, id: 'wild' }], gates: { check: false }, ...config },
  );
  const loaded = new Set([...registry.snapshot().byQualifiedId.values()].map(({ file }) => file));
  return { corpus, files: skillFilesBelow(corpus), loaded, problems: registry.problems() };
}

it.skipIf(!corpusFolder)(
  `all 1,810 files load under lenient, and one that did not would be an error ${NEEDS}`,
  async () => {
    const { files, loaded, problems } = await loadCorpus({ validation: 'lenient' });
    expect(files).toHaveLength(1810);
    // 99.5 % would be 1,801.
    expect(files.filter((file) => loaded.has(file))).toHaveLength(1810);
    const errors = new Set(problems.filter(({ severity }) => severity === 'error').map(({ file }) => file));
    expect(files.filter((file) => !loaded.has(file) && !errors.has(file))).toEqual([]);
  },
);

it.skipIf(!corpusFolder)(
  `under spec a file loads exactly when the reference rules find nothing in it ${NEEDS}`,
  async () => {
    const { files, loaded, problems } = await loadCorpus({ validation: 'spec' });
    const verdicts = files.map(
      (file) => [file, specErrors(readFileSync(file, 'utf8'), basename(dirname(file)))] as const,
    );
    const valid = verdicts.filter(([, errors]) => errors.length === 0).map(([file]) => file);
    expect([...loaded].sort()).toEqual(valid.sort());
    expect(loaded.size).toBe(1098);

    const refused = new Map<string, string[]>();
    for (const { code, severity, file, message } of problems) {
      if (code !== 'SPEC_VIOLATION') continue;
      expect(severity).toBe('error');
      refused.set(file, [...(refused.get(file) ?? []), message]);
    }
    expect(refused).toEqual(new Map(verdicts.filter(([, errors]) => errors.length > 0)));
  },
);

it.skipIf(!corpusFolder)(
  `the line scan equals the yaml package on every real skill, and abstains on few ${NEEDS}`,
  () => {
    const files = skillFilesBelow(unpackCorpus(corpusFolder ?? ''));
    const scanned = files.filter((file) => {
      const { yaml } = splitFrontmatter(readFileSync(file, 'utf8'));
      return yaml !== undefined && expectEqualOrAbstain(yaml);
    });
    expect(scanned.length / files.length).toBeGreaterThan(0.5);
  },
);
