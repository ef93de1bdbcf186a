import { createJiti } from 'jiti';
import { afterEach, expect, it, vi } from 'vitest';
import type { loadEngine } from '../../../lib/sqlite/engines.ts';

afterEach(() => void vi.unstubAllGlobals());

/** @returns the files that are opened with `node:sqlite`, which is made up, on a Node of this version. */
async function openedByNode(version: string): Promise<readonly string[]> {
  const files: string[] = [];
  class DatabaseSync {
    constructor(file: string) {
      files.push(file);
    }
    prepare(): object {
      return { get: () => ({ kind: 'blob' }) };
    }
    close(): void {}
  }
  const made = Object.create(process, {
    versions: { value: { ...process.versions, node: version } },
    getBuiltinModule: { value: () => ({ DatabaseSync }) },
  });
  vi.stubGlobal('process', made);
  // A copy of its own: the choice is made once.
  const jiti = createJiti(import.meta.url, { moduleCache: false, fsCache: false });
  const engines = await jiti.import<{ loadEngine: typeof loadEngine }>('../../../lib/sqlite/engines.ts');
  engines.loadEngine()(':memory:');
  return files;
}

it.each(['24.0.0', '24.19.0', '26.1.0'])('Node %s opens databases with its own SQLite', async (version) => {
  // Once to see what it can do.
  expect(await openedByNode(version)).toEqual([':memory:', ':memory:']);
});
