import { createHash } from 'node:crypto';
import type { Skill } from '../api.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import { documentKey, type IndexDocument, makeDocument } from './document.ts';
import type { GuardedIndex } from './guarded-index.ts';

/** Terms of documents in one transaction: a few milliseconds while other work goes on, and what is fastest when it does not. */
const SLICE_TERMS = 4_000;
const BATCH_TERMS = 64_000;

/** Puts skills into the index that are not there yet. */
export interface Indexer {
  /** At once, whatever it takes: about half a millisecond a skill. */
  index(skills: readonly Skill[]): void;
  /** The same in slices, other work going on between them. @returns false when `signal` has aborted it. */
  indexSlowly(skills: readonly Skill[], pace: () => Promise<void>, signal: AbortSignal): Promise<boolean>;
}

/** @param readSkill - The bytes of SKILL.md; it may throw. */
export function createIndexer(guarded: GuardedIndex, readSkill: (skill: Skill) => Buffer): Indexer {
  /** What could not be read; the next snapshot has other objects. */
  const unreadable = new WeakSet<Skill>();
  const documentOf = (skill: Skill): IndexDocument | undefined => {
    const text = textOf(skill, readSkill);
    if (text === undefined) unreadable.add(skill);
    return text === undefined ? undefined : makeDocument(skill, bodyOf(text));
  };
  const missing = (skills: readonly Skill[]): readonly Skill[] =>
    guarded.use((index) => {
      index.catchUp();
      return skills.filter((skill) => !unreadable.has(skill) && index.numberOf(documentKey(skill)) === undefined);
    });
  return {
    index(skills) {
      const batch = createBatch(guarded, BATCH_TERMS);
      for (const skill of missing(skills)) batch.add(documentOf(skill));
      batch.write();
    },
    async indexSlowly(skills, pace, signal) {
      const batch = createBatch(guarded, SLICE_TERMS);
      for (const skill of missing(skills)) {
        await pace();
        if (signal.aborted) return false;
        batch.add(documentOf(skill));
      }
      batch.write();
      return true;
    },
  };
}

// --- internal ---

function createBatch(
  guarded: GuardedIndex,
  terms: number,
): { add(document: IndexDocument | undefined): void; write(): void } {
  let documents: IndexDocument[] = [];
  let size = 0;
  const write = (): void => {
    const written = documents;
    if (written.length > 0) guarded.use((index) => index.add(written));
    documents = [];
    size = 0;
  };
  return {
    add(document) {
      if (!document) return;
      documents.push(document);
      size += document.postings.size;
      if (size >= terms) write();
    },
    write,
  };
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
