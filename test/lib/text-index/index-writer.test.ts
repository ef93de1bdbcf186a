import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Skill } from '../../../extensions/skill_registry/api.ts';
import { documentKey, headerText } from '../../../extensions/skill_registry/search/document.ts';
import { openCacheDatabase } from '../../../extensions/skill_registry/store/cache.ts';
import { runSteps } from '../../../lib/breaks/index.ts';
import { createBatch } from '../../../lib/text-index/document-batch.ts';
import { postingDocument } from '../../../lib/text-index/postings.ts';
import { createTextIndex, SEARCH_INDEX, type TextIndex } from '../../../lib/text-index/text-index.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const WEEK_MS = 7 * 24 * 3_600_000;

it('finds nothing of a batch that was cut short, and all of it when it is written again', () => {
  const open = indexes();
  const [cut, next] = [open(), open()];
  const steps = cut.add(batchOf('tea', 'cup'));
  while (cut.postings('brew').length === 0) expect(steps.next().done).toBe(false);
  next.catchUp();
  expect(next.numberOf(keyOf('tea'))).toBeUndefined();
  writeAll(next, 'tea', 'cup');
  expect(having(next, 'brew')).toEqual(['cup', 'tea']);
});

it('counts and writes a long document in steps of a thousand runs and of five hundred rows', () => {
  const [index] = [indexes()()];
  const batch = createBatch();
  const body = Array.from({ length: 5_000 }, (_, at) => `w${at.toString(36)}z`).join(' ');
  expect([...batch.add('long', 'Long', body)]).toHaveLength(5);
  const terms = batch.terms.size;
  expect(terms).toBeGreaterThan(4_000);
  expect([...iterated(index.add(batch))].length).toBeGreaterThanOrEqual(terms / 500 + terms / 100);
});

it('keeps the documents of two writers apart, whoever is done first', () => {
  const open = indexes();
  const [one, other] = [open(), open()];
  const steps = one.add(batchOf('tea', 'cup'));
  steps.next();
  writeAll(other, 'pot', 'tea');
  while (!steps.next().done);
  other.catchUp();
  for (const index of [one, other]) {
    expect(having(index, 'brew')).toEqual(['cup', 'pot', 'tea']);
    expect(having(index, 'cup')).toEqual(['cup']);
  }
});

it('begins a batch anew when the index is emptied under it', () => {
  const open = indexes();
  const [writer, other] = [open(), open()];
  writeAll(other, ...Array.from({ length: 2_000 }, (_, at) => `old${at}`));
  const steps = writer.add(batchOf('tea'));
  for (let step = 0; step < 2; step++) steps.next();
  other.emptyWhenStale(0, WEEK_MS + 1);
  expect(other.size()).toBe(0);
  while (!steps.next().done);
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
  for (const id of ids) runSteps(batch.add(keyOf(id), headerText(skillOf(id)), `# ${id}\n\nBrew it.`));
  return batch;
}

function writeAll(index: TextIndex, ...ids: readonly string[]): void {
  const steps = index.add(batchOf(...ids));
  while (!steps.next().done);
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

function* iterated(steps: Iterator<undefined, void>): Generator<undefined> {
  while (!steps.next().done) yield undefined;
}
