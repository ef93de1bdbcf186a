import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT, sourceFiles } from './imports.ts';

/**
 * Lines and characters that the files of each folder may have: what was there when the core was separated from its features, and 5 %. A
 * feature grows by deleting, or an issue says by how much.
 */
const FILE = join(ROOT, 'test/architecture/rooms.json');

interface Size {
  readonly lines: number;
  readonly characters: number;
}

it('keeps each room within its lines and characters', () => {
  const rooms = sizes();
  const budgets = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Size>;
  expect(Object.keys(rooms).filter((room) => !budgets[room])).toEqual([]);
  expect(Object.keys(budgets).filter((room) => !rooms[room])).toEqual([]);
  const over = Object.entries(rooms).filter(([room, { lines, characters }]) => {
    const most = budgets[room];
    return !most || lines > most.lines || characters > most.characters;
  });
  expect(over).toEqual([]);
});

// --- internal ---

function sizes(): Readonly<Record<string, Size>> {
  const rooms: Record<string, Size> = {};
  for (const file of ['lib', 'kernel', 'extensions', 'cli'].flatMap((folder) => sourceFiles(folder))) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const { lines, characters } = rooms[dirname(file)] ?? { lines: 0, characters: 0 };
    rooms[dirname(file)] = { lines: lines + text.split('\n').length - 1, characters: characters + text.length };
  }
  return rooms;
}
