// A feature of your own. docs/internals/add-a-feature.md says where it goes, and which lines name it.
import { readFile } from 'node:fs/promises';
import { someText } from '../../core/config/readers.ts';
import { locate } from '../../core/config/source-entry.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import { createCustomSource } from '../../core/sources/kinds/custom-source.ts';
import type { SourceKind } from '../../core/sources/source-kind.ts';

const glossaryKind: SourceKind = {
  key: 'glossary',
  entry: { glossary: someText },
  async open({ glossary = '' }, { idOr, root }) {
    const [id, file] = [idOr('glossary'), locate(glossary, root)];
    const description = 'What the words of our house mean.';
    const skills = async () => [{ id: 'glossary', description, body: await readFile(file, 'utf8') }];
    return [createCustomSource({ id, skills }, { id, location: file })];
  },
};

/** A file with lines `word: meaning` as a skill, and who read it. */
export const glossary: Feature = {
  id: 'glossary',
  sources: [glossaryKind],
  open,
  commands: async () => (await import('./commands.ts')).commands,
};

function open({ events }: Core): Opened {
  const readers = new Map<string, number>();
  events.on('loaded', ({ skillId, agentId, outcome }) => {
    if (skillId !== 'glossary' || agentId === null || outcome !== 'success') return;
    readers.set(agentId, (readers.get(agentId) ?? 0) + 1);
  });
  const reviewPages = async () => (await import('./pages.ts')).pages;
  return { admin: { glossaryReaders: () => new Map(readers) }, reviewPages };
}
