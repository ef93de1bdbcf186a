import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT, sourceFiles } from './imports.ts';

/** Who asks whether something of a skill may leave, and what it is. */
const ASKED: Readonly<Record<string, readonly string[]>> = {
  // The catalog marks what is held; every list and prompt leaves out what is marked.
  'core/parts.ts': ['line'],
  // Every body and file that an agent is given: tools, prompts, MCP, file tools, bindings, slash commands.
  'core/read/reading.ts': ['line', 'derived', 'bytes'],
  // Phrases of bodies that a search has looked for.
  'core/registry.ts': ['derived'],
  // Errors of a change that quote the present text.
  'features/history/change-context.ts': ['derived'],
  // Lines and headings of bodies, for the endpoint that the owner configured.
  'features/meaning/meaning.ts': ['derived', 'line'],
  // Results of test cases.
  'features/evaluate/evidence.ts': ['derived', 'derived', 'derived'],
};

/** Who else reads files of skills through their sources. None of them hands bytes to an agent. */
const READS: Readonly<Record<string, string>> = {
  'core/parts.ts': 'gives SKILL.md to counts of tokens, the search and meaning',
  'core/read/read-file.ts': 'gives bytes to the one below, which asks',
  'core/sources/source.ts': 'names the ways to read',
  'core/sources/kinds/custom-source.ts': 'is a source',
  'features/packs/group-source.ts': 'is a source',
  'features/guard/files-for-inspection.ts': 'gives files to inspection',
  'core/catalog/equal-copies.ts': 'compares digests',
  'core/show/token-counts.ts': 'counts tokens',
  'core/search/document.ts': 'gives bodies to the four below',
  'core/search/searcher.ts': 'indexes words, and looks for those of a query',
  'core/search/list-skills.ts': 'quotes a line for a person only',
  'features/meaning/meaning.ts': 'sends bodies to the endpoint that the owner configured',
  'features/evaluate/overlap/overlap.ts': 'reads test queries for a person',
  'features/evaluate/overlap/trigger-queries.ts': 'reads test queries for a person',
  'features/history/skill-tree.ts': 'keeps revisions',
  'features/pages/publish/artifact.ts': 'gives files to publish, which inspects exactly these',
  'features/proposals/propose/elsewhere.ts': 'makes a change for a hub; an error that quotes is judged',
  'features/evaluate/subject.ts': 'gives texts to test cases, which ask before they answer',
};

const REGISTRY = 'extensions/skill_registry';
const READING =
  /\breadSkill\(|(?:\b(?:source|member)|\))\??\.(?:readResource\(|fetch(?:\?\.)?\()|\breadFile\(skill|\b(?:resourceBytes|bodyIfThere)\(/;

const codeOf = (file: string): string =>
  readFileSync(join(ROOT, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

const files = ['lib', 'kernel', 'extensions', 'cli'].flatMap((folder) => sourceFiles(folder));

it('asks one function whether something of a skill may leave, at these places', () => {
  const asked = files.flatMap((file) => {
    const kinds = [...codeOf(file).matchAll(/\badmit\(\{([^}]*)\}\)/g)].map(
      ([, given = '']) => /\bkind: '(\w+)'/.exec(given)?.[1] ?? 'bytes',
    );
    return kinds.length > 0 ? [[file.replace(`${REGISTRY}/`, ''), kinds] as const] : [];
  });
  expect(Object.fromEntries(asked)).toEqual(ASKED);
  // However it is written.
  const named = files.filter((file) => /\badmit\(/.test(codeOf(file))).map((file) => file.replace(`${REGISTRY}/`, ''));
  expect(named).toEqual(Object.keys(ASKED).sort());
});

it('has no other place that hands bytes of a skill to an agent: who reads through a source is known', () => {
  const reading = files.filter((file) => READING.test(codeOf(file))).map((file) => file.replace(`${REGISTRY}/`, ''));
  expect(reading).toEqual([...Object.keys(READS), 'core/read/reading.ts'].sort());
});
