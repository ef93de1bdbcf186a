import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Skill } from '../../../extensions/skill_registry/api.ts';
import { documentKey, headerText } from '../../../extensions/skill_registry/core/search/document.ts';
import { openCacheDatabase } from '../../../extensions/skill_registry/core/store/cache.ts';
import { createBatch } from '../../../lib/text-index/document-batch.ts';
import { postingDocument } from '../../../lib/text-index/postings.ts';
import { createTextIndex, SEARCH_INDEX, type TextIndex } from '../../../lib/text-index/text-index.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const WEEK_MS = 7 * 24 * 3_600_000;

it('finds nothing of a batch that was cut short, and all of it when it is written again', () => {
  const open = indexes();
  const [cut, next] = [open(), open()];
  const batch = batchOf('tea', 'cup');
  const end = {
    get postings(): readonly number[] {
      throw new Error('cut short');
    },
  };
  expect(() => cut.add({ ...batch, terms: new Map([...batch.terms, ['zzz', end]]) })).toThrow('cut short');
  for (const index of [cut, next]) {
    index.catchUp();
    expect([index.numberOf(keyOf('tea')), index.postings('brew')]).toEqual([undefined, []]);
  }
  next.add(batch);
  cut.catchUp();
  for (const index of [cut, next]) expect(having(index, 'brew')).toEqual(['cup', 'tea']);
});

it('keeps the documents of two writers apart, and writes none twice', () => {
  const open = indexes();
  const [one, other] = [open(), open()];
  one.add(batchOf('tea'));
  other.add(batchOf('pot', 'tea'));
  one.add(batchOf('cup', 'pot'));
  other.catchUp();
  for (const index of [one, other]) {
    expect(having(index, 'brew')).toEqual(['cup', 'pot', 'tea']);
    expect(having(index, 'cup')).toEqual(['cup']);
    expect(index.postings('tea').flatMap(({ postings }) => [...postings])).toHaveLength(2);
  }
});

it('adds to an index that another process has emptied', () => {
  const open = indexes();
  const [writer, other] = [open(), open()];
  other.add(batchOf(...Array.from({ length: 2_000 }, (_, at) => `old${at}`)));
  writer.catchUp();
  other.emptyWhenStale(0, WEEK_MS + 1);
  expect(other.size()).toBe(0);
  writer.add(batchOf('tea'));
  other.catchUp();
  expect(having(other, 'brew')).toEqual(['tea']);
  expect(having(other, 'tea')).toEqual(['tea']);
});

// --- internal ---

const names = ['tea', 'cup', 'pot'];

/** Opens one file again and again, as several processes do. */
function indexes(): () => TextIndex {
  const file = join(tempFolder(), 'cache.db');
  return () => {
    const database = openCacheDatabase(file, [SEARCH_INDEX]);
    onTestFinished(() => void database.close());
    return createTextIndex(database);
  };
}

function skillOf(id: string): Skill {
  const texts = { id, name: id, description: `Brew ${id}.`, tags: [], triggerKeywords: [] };
  return { ...texts, digest: `digest-${id}` } as unknown as Skill;
}

function keyOf(id: string): string {
  return documentKey(skillOf(id));
}

function batchOf(...ids: readonly string[]) {
  const batch = createBatch();
  for (const id of ids) batch.add(keyOf(id), headerText(skillOf(id)), `# ${id}\n\nBrew it.`);
  return batch;
}

/** Which of `names` have a term. */
function having(index: TextIndex, term: string): readonly string[] {
  const numbers = new Set(
    index
      .postings(term)
      .flatMap(({ chunk, postings }) => [...postings].map((one) => chunk * 512 + postingDocument(one))),
  );
  return names.filter((name) => numbers.has(index.numberOf(keyOf(name)) ?? -1)).sort();
}
