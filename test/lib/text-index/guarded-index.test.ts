import { expect, it, onTestFinished } from 'vitest';
import type { Skill } from '../../../extensions/skill_registry/api.ts';
import { documentKey, headerText } from '../../../extensions/skill_registry/core/search/document.ts';
import { openCacheDatabase } from '../../../extensions/skill_registry/core/store/cache.ts';
import { createBatch, type DocumentBatch } from '../../../lib/text-index/document-batch.ts';
import { createGuardedIndex, createMemoryIndex } from '../../../lib/text-index/guarded-index.ts';
import { createTextIndex, SEARCH_INDEX, type TextIndex } from '../../../lib/text-index/text-index.ts';

const WORDS = ['tea', 'cup', 'pot', 'leaf', 'kettle', 'water', 'spoon'];

/** More than one chunk of postings has room for. */
const SKILLS = Array.from({ length: 1_300 }, (_, at) => {
  const id = `${WORDS[at % 7]}-${at}`;
  const texts = { id, name: id, description: `Brew ${WORDS[at % 5]}.`, tags: [], triggerKeywords: [] };
  return { ...texts, digest: `digest-${at}` } as unknown as Skill;
});

function batchOf(skills: readonly Skill[]): DocumentBatch {
  const batch = createBatch();
  for (const skill of skills) {
    // The same in every batch: a key is that of one content.
    const at = SKILLS.indexOf(skill);
    const body = `# ${WORDS[at % 3]}\n\nBrew it.\n\n## ${WORDS[at % 4]}\n`;
    batch.add(documentKey(skill), headerText(skill), body);
  }
  return batch;
}

function inSqlite(): TextIndex {
  const database = openCacheDatabase(':memory:', [SEARCH_INDEX]);
  onTestFinished(() => database.close());
  return createTextIndex(database);
}

/** Two batches, which share some skills; then one of skills that are all there. */
function fill(index: TextIndex): TextIndex {
  for (const some of [SKILLS.slice(0, 700), SKILLS.slice(500), SKILLS.slice(3, 5)]) index.add(batchOf(some));
  return index;
}

/** What it says of every skill, whatever number it has. */
function contentOf(index: TextIndex): unknown {
  const ids = new Map(SKILLS.map((skill) => [index.numberOf(documentKey(skill)), skill.id]));
  const postings = [...WORDS, 'brew', 'nowhere'].map((term) =>
    index
      .postings(term)
      .flatMap(({ chunk, postings }) =>
        [...postings].map((one) => `${ids.get(chunk * 512 + (one >>> 23)) ?? 'nobody'} ${one & 0x7fffff}`),
      )
      .filter((line) => !line.startsWith('nobody'))
      .sort(),
  );
  const lengths = [...ids].map(([number, id]) => [id, ...index.lengthsOf(number as number)]).sort();
  return { postings, lengths, words: [...index.words()].sort() };
}

it('holds what the one in SQLite holds, also of documents that are added twice', () => {
  const memory = fill(createMemoryIndex());
  expect(contentOf(memory)).toEqual(contentOf(fill(inSqlite())));
  expect(memory.numberOf('another')).toBeUndefined();
  const before = structuredClone(memory.postings('brew'));
  // However many batches there were.
  expect(new Set(before.map(({ chunk }) => chunk)).size).toBe(before.length);
  memory.add(batchOf(SKILLS.slice(0, 9)));
  expect(memory.postings('brew')).toEqual(before);
});

it('takes the place of the one whose file fails, and is filled anew', () => {
  const database = openCacheDatabase(':memory:', [SEARCH_INDEX]);
  const guarded = createGuardedIndex(() => database);
  onTestFinished(() => guarded.close());
  expect(guarded.use((index) => fill(index).numberOf(documentKey(SKILLS[0] as Skill)))).toBeDefined();
  database.exec('DROP TABLE search_posting');
  expect(guarded.use((index) => index.postings('tea').length + index.size())).toBe(0);
  expect(guarded.use((index) => contentOf(fill(index)))).toEqual(contentOf(fill(inSqlite())));
  expect(() =>
    guarded.use(() => {
      throw new TypeError('a mistake of ours');
    }),
  ).toThrow('a mistake of ours');
});
