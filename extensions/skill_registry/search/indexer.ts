import { createHash } from 'node:crypto';
import { createBreaks } from '../../../lib/breaks/index.ts';
import { createBatch, type DocumentBatch, type GuardedIndex, type TextIndex } from '../../../lib/text-index/index.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import type { Skill } from '../skill/skill.ts';
import { documentKey, headerText } from './document.ts';

/** Characters of the documents of one batch: more save little, and are in memory at once. */
const BATCH_CHARACTERS = 3_000_000;

/** Puts skills into the index that are not there yet. */
export interface Indexer {
  /** At once, whatever it takes: about half a millisecond a skill. */
  index(skills: readonly Skill[]): void;
  /** The same in slices, other work going on between them. @returns false when `signal` has aborted it. */
  indexSlowly(skills: readonly Skill[], signal: AbortSignal): Promise<boolean>;
}

/** @param readSkill - The bytes of SKILL.md; it may throw. */
export function createIndexer(guarded: GuardedIndex, readSkill: (skill: Skill) => Buffer): Indexer {
  /** What could not be read; the next snapshot has other objects. */
  const unreadable = new WeakSet<Skill>();
  const missing = (skills: readonly Skill[]): readonly Skill[] =>
    guarded.use((index) => {
      index.catchUp();
      return skills.filter((skill) => !unreadable.has(skill) && index.numberOf(documentKey(skill)) === undefined);
    });
  /** Between its steps other work may go on. */
  function* indexing(skills: readonly Skill[]): Generator<undefined, void, undefined> {
    let batch = createBatch();
    for (const skill of missing(skills)) {
      yield;
      const text = textOf(skill, readSkill);
      if (text === undefined) unreadable.add(skill);
      else batch.add(documentKey(skill), headerText(skill), bodyOf(text));
      if (batch.characters() < BATCH_CHARACTERS) continue;
      yield* writing(guarded, batch);
      batch = createBatch();
    }
    if (batch.documents.length > 0) yield* writing(guarded, batch);
  }
  return {
    index(skills) {
      for (const _ of indexing(skills));
    },
    async indexSlowly(skills, signal) {
      const takeBreak = createBreaks();
      for (const _ of indexing(skills)) {
        await takeBreak();
        if (signal.aborted) return false;
      }
      return true;
    },
  };
}

// --- internal ---

/** Begins anew where another index has taken the place of the one it began with. */
function* writing(guarded: GuardedIndex, batch: DocumentBatch): Generator<undefined, void, undefined> {
  let begun: { readonly index: TextIndex; readonly steps: ReturnType<TextIndex['add']> } | undefined;
  const step = (index: TextIndex): boolean => {
    if (begun?.index !== index) begun = { index, steps: index.add(batch) };
    return begun.steps.next().done === true;
  };
  while (!guarded.use(step)) yield;
}

/** Undefined when it is not what the snapshot has: the next snapshot will have it. */
function textOf(skill: Skill, readSkill: (skill: Skill) => Buffer): string | undefined {
  try {
    const bytes = readSkill(skill);
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    // A source of somebody else's may count in another way.
    const comparable = /^sha256:[0-9a-f]{64}$/.test(skill.digest);
    return comparable && digest !== skill.digest ? undefined : bytes.toString('utf8');
  } catch {
    return undefined;
  }
}
