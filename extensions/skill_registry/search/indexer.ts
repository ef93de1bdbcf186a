import { runSteps } from '../../../lib/breaks/index.ts';
import { digestOf } from '../../../lib/digest/index.ts';
import { createBatch, type DocumentBatch, type GuardedIndex, type TextIndex } from '../../../lib/text-index/index.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import type { Skill } from '../skill/skill.ts';
import { documentKey, headerText } from './document.ts';

/** Maximum characters of the documents in one batch, which is in memory as a whole. */
const BATCH_CHARACTERS = 3_000_000;
/** Skills that one step looks up: less than a millisecond. */
const LOOKED_UP = 500;

/** Adds missing skills to the index. */
export interface Indexer {
  /** Those that are not indexed, and could be. */
  missing(skills: readonly Skill[]): readonly Skill[];
  /** Indexes all at once, in about 0.5 ms per skill. */
  index(skills: readonly Skill[]): void;
  /** Indexes in slices, with breaks for other work. @returns false when `signal` has aborted it. */
  indexSlowly(skills: readonly Skill[], signal: AbortSignal, takeBreak: () => Promise<void>): Promise<boolean>;
}

/** @param readSkill - The bytes of SKILL.md; it may throw. */
export function createIndexer(guarded: GuardedIndex, readSkill: (skill: Skill) => Buffer): Indexer {
  /** Skills that could not be read. The next snapshot may have new objects for them. */
  const unreadable = new WeakSet<Skill>();
  const missingOf = (skills: readonly Skill[]): readonly Skill[] =>
    guarded.use((index) => {
      index.catchUp();
      return skills.filter((skill) => !unreadable.has(skill) && index.numberOf(documentKey(skill)) === undefined);
    });
  function* missing(skills: readonly Skill[]): Generator<undefined, readonly Skill[], undefined> {
    const found: Skill[] = [];
    for (let at = 0; at < skills.length; at += LOOKED_UP) {
      yield;
      found.push(...missingOf(skills.slice(at, at + LOOKED_UP)));
    }
    return found;
  }
  /** Each step is short; other work may run between steps. */
  function* indexing(skills: readonly Skill[]): Generator<undefined, void, undefined> {
    let batch = createBatch();
    for (const skill of yield* missing(skills)) {
      yield;
      const text = skillFileText(skill, readSkill);
      if (text === undefined) unreadable.add(skill);
      else yield* batch.add(documentKey(skill), headerText(skill), bodyOf(text));
      if (batch.characters() < BATCH_CHARACTERS) continue;
      yield* writing(guarded, batch);
      batch = createBatch();
    }
    if (batch.documents.length > 0) yield* writing(guarded, batch);
  }
  return {
    missing: missingOf,
    index(skills) {
      runSteps(indexing(skills));
    },
    async indexSlowly(skills, signal, takeBreak) {
      for (const _ of indexing(skills)) {
        await takeBreak();
        if (signal.aborted) return false;
      }
      return true;
    },
  };
}

// --- internal ---

/** Adds a batch. Starts again when the index has been replaced by another one. */
function* writing(guarded: GuardedIndex, batch: DocumentBatch): Generator<undefined, void, undefined> {
  let started: { readonly index: TextIndex; readonly steps: ReturnType<TextIndex['add']> } | undefined;
  const step = (index: TextIndex): boolean => {
    if (started?.index !== index) started = { index, steps: index.add(batch) };
    return started.steps.next().done === true;
  };
  while (!guarded.use(step)) yield;
}

/** The text of SKILL.md; empty when it lies on another machine; undefined when the file has changed since the snapshot. */
function skillFileText(skill: Skill, readSkill: (skill: Skill) => Buffer): string | undefined {
  if (skill.remote) return '';
  try {
    const bytes = readSkill(skill);
    const digest = digestOf(bytes);
    // A source of a program may have digests of another kind.
    const comparable = /^sha256:[0-9a-f]{64}$/.test(skill.digest);
    return comparable && digest !== skill.digest ? undefined : bytes.toString('utf8');
  } catch {
    return undefined;
  }
}
