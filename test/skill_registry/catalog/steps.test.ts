import type { Problem } from 'skill-registry/kernel';
import { expect, it } from 'vitest';
import { confusableIds } from '../../../extensions/skill_registry/catalog/confusable-ids.ts';
import { equalCopies } from '../../../extensions/skill_registry/catalog/equal-copies.ts';
import { mergeSources } from '../../../extensions/skill_registry/catalog/merge.ts';
import { requiresProblems } from '../../../extensions/skill_registry/catalog/requires.ts';
import {
  applyRestrictions,
  heldProblems,
  isSameRestrictions,
  restrictionsOf,
} from '../../../extensions/skill_registry/catalog/restrictions.ts';
import { changedIds, fingerprintOf, type Snapshot } from '../../../extensions/skill_registry/catalog/snapshot.ts';
import { uniqueProblems } from '../../../extensions/skill_registry/catalog/unique-problems.ts';
import type { SkillSource } from '../../../extensions/skill_registry/sources/source.ts';
import { runSteps, type Steps } from '../../../lib/breaks/index.ts';
import { fakeSkill } from '../../helpers/fake-skill.ts';

const COUNT = 1_000;
/** One for each hundred skills. */
const FEWEST = COUNT / 100;

const skills = Array.from({ length: COUNT }, (_, at) => fakeSkill(`skill-${at}`, { requires: [`skill-${at + 1}`] }));
const changed = skills.map((skill) => ({ ...skill, digest: 'sha256:other', heldBecause: 'made up' }));
const problem = (file: string): Problem => ({ code: 'MADE_UP', severity: 'warning', file, message: 'Made up.' });
const snapshotOf = (some: typeof skills): Snapshot => ({
  version: 1,
  ...runSteps(mergeSources([{ skills: some }])),
  builtIn: new Map(),
  sources: [],
  packs: new Map(),
});
const before = snapshotOf(skills);
const after = snapshotOf(changed);
const closed = runSteps(restrictionsOf([{ skills, problems: [] }], { heldBecause: () => 'made up' }));

const WORK: Readonly<Record<string, () => Steps<unknown>>> = {
  'merges the sources': () => mergeSources([{ skills }]),
  'merges skills that lost their id': () => mergeSources([{ skills: [], losers: skills }]),
  'asks what closes a skill': () => restrictionsOf([{ skills, problems: [] }], {}),
  'marks what is closed': () => applyRestrictions({ skills, problems: [] }, closed),
  'compares what is closed': () => isSameRestrictions(closed, new Map(closed)),
  'says what is held': () => heldProblems(after),
  'names a problem once': () => uniqueProblems([{ skills: [], problems: skills.map(({ file }) => problem(file)) }]),
  'looks for ids that look alike': () => confusableIds(skills),
  'looks for what is required': () => requiresProblems(before),
  'compares two snapshots': () => fingerprintOf(before),
  'tells which ids have changed': () => changedIds(before, after),
};

it.each(Object.entries(WORK))('%s with a break for at most a hundred skills', (_, start) => {
  const steps = start();
  let count = 0;
  while (!steps.next().done) count++;
  expect(count).toBeGreaterThanOrEqual(FEWEST);
});

it('looks for equal copies with a break for at most a hundred skills', async () => {
  let count = 0;
  const takeBreak = async (): Promise<void> => void count++;
  await equalCopies([{} as SkillSource], [{ skills, problems: [] }], {} as never, takeBreak, undefined);
  expect(count).toBeGreaterThanOrEqual(FEWEST);
});
