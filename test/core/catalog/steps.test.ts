import { setImmediate } from 'node:timers/promises';
import type { Problem } from 'skill-registry/kernel';
import { expect, it, onTestFinished, vi } from 'vitest';
import { uniqueProblems } from '../../../extensions/skill_registry/core/catalog/assemble.ts';
import { confusableIds } from '../../../extensions/skill_registry/core/catalog/confusable-ids.ts';
import { equalCopies } from '../../../extensions/skill_registry/core/catalog/equal-copies.ts';
import { mergeSources } from '../../../extensions/skill_registry/core/catalog/merge.ts';
import { requiresProblems } from '../../../extensions/skill_registry/core/catalog/requires.ts';
import { heldProblems, restrictScan } from '../../../extensions/skill_registry/core/catalog/restrictions.ts';
import { changedIds, isSameCatalog, type Snapshot } from '../../../extensions/skill_registry/core/catalog/snapshot.ts';
import type { SkillSource } from '../../../extensions/skill_registry/core/sources/source.ts';
import { fakeSkill } from '../../helpers/fake-skill.ts';

const COUNT = 1_000;
/** One for each hundred skills. */
const FEWEST = COUNT / 100;

const skills = Array.from({ length: COUNT }, (_, at) => fakeSkill(`skill-${at}`, { requires: [`skill-${at + 1}`] }));
const changed = skills.map((skill) => ({ ...skill, digest: 'sha256:other', heldBecause: 'made up' }));
const problem = (file: string): Problem => ({ code: 'MADE_UP', severity: 'warning', file, message: 'Made up.' });
const snapshotOf = async (some: typeof skills): Promise<Snapshot> => ({
  version: 1,
  ...(await mergeSources([{ skills: some }])),
  builtIn: new Map(),
  sources: [],
  packs: new Map(),
});
const before = await snapshotOf(skills);
const after = await snapshotOf(changed);
const restrict = () => ({ heldBecause: 'made up' });
const known = () => ({ skills: new WeakMap(), scans: new WeakMap() });

const WORK: Readonly<Record<string, () => Promise<unknown>>> = {
  'merges the sources': () => mergeSources([{ skills }]),
  'merges skills that lost their id': () => mergeSources([{ skills: [], losers: skills }]),
  'marks what is closed': () => restrictScan({ skills, problems: [] }, restrict, known()),
  'marks what is closed of skills that lost their id': () =>
    restrictScan({ skills: [], losers: skills, problems: [] }, restrict, known()),
  'says what is held': () => heldProblems(after),
  'names a problem once': () => uniqueProblems([{ skills: [], problems: skills.map(({ file }) => problem(file)) }]),
  'looks for ids that look alike': () => confusableIds(skills),
  'looks for what is required': () => requiresProblems(before),
  'compares two snapshots': () => isSameCatalog(before, { ...before }),
  'tells which ids have changed': () => changedIds(before, after),
  'looks for equal copies': () => equalCopies([{} as SkillSource], [{ skills, problems: [] }], {} as never, undefined),
};

let now = performance.now();

it.each(Object.entries(WORK))('%s with a break for at most a hundred skills', async (_, start) => {
  // Each look at the clock ends the slice, so each break waits for the next turn.
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000));
  onTestFinished(() => void vi.restoreAllMocks());
  let isDone = false;
  const work = start().finally(() => {
    isDone = true;
  });
  let turns = 0;
  for (; !isDone; turns++) await setImmediate();
  await work;
  expect(turns).toBeGreaterThanOrEqual(FEWEST - 1);
});
