import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { userStateDirectory } from '../../lib/trust/index.ts';

/** Lines that are kept. */
export const MAX_LINES = 1_000;
/** Characters of a line that is kept: what is longer was pasted. */
const MAX_CHARS = 2_000;

/** The lines that a person has typed, of this start and those before, in a file that only this user can read. */
export interface LineHistory {
  /** The last one first. */
  read(): string[];
  /** Adds a line to the file. What begins with a blank is not kept, as in a shell, and neither is the line that is the last one already. */
  add(line: string): void;
}

/** @param directory - Default: the folder for the state of this user; never one of a root. */
export function openLineHistory(directory: string = userStateDirectory()): LineHistory {
  const file = join(directory, 'typed-lines');
  const read = (): string[] => {
    try {
      return readFileSync(file, 'utf8').split('\n').filter(isKept).reverse().slice(0, MAX_LINES);
    } catch {
      return [];
    }
  };
  return {
    read,
    add(line) {
      if (!isKept(line)) return;
      // Read again, because another terminal may have added lines.
      const lines = read();
      if (lines[0] === line) return;
      try {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        writeFileSync(file, `${[line, ...lines].slice(0, MAX_LINES).reverse().join('\n')}\n`, { mode: 0o600 });
        chmodSync(file, 0o600);
      } catch {
        // Typing goes on where nothing can be kept, as on a full disk.
      }
    },
  };
}

// --- internal ---

function isKept(line: string): boolean {
  return line !== '' && !/^\s/.test(line) && line.length <= MAX_CHARS;
}
