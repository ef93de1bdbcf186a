import { dirname } from 'node:path';
import { digestOf } from '../../../../lib/digest/index.ts';
import type { Finding } from '../../core/skill/guard.ts';
import type { Skill } from '../../core/skill/skill.ts';
import type { FileResults } from './inspect/inspect-skill.ts';
import { isOddName, textsShown } from './texts-shown.ts';

/** What is in no file of a skill: names of its folders, of an inline skill; what a half saved file said before. */
export class JudgedNames {
  readonly #results: FileResults;
  /** By name, only odd ones. */
  readonly #blocks = new Map<string, readonly Finding[]>();
  readonly #looked = new WeakSet<Skill>();
  #hasBlocks = false;

  /** @param results - Has names in which nothing was found: for these no rules are loaded. */
  constructor(results: FileResults) {
    this.#results = results;
  }

  /** Called for each skill before it is shown. */
  async judge(skills: readonly Skill[]): Promise<void> {
    const fresh = skills.filter((skill) => !this.#looked.has(skill));
    await this.mayName(fresh.flatMap(oddNamesOf));
    for (const skill of fresh) this.#looked.add(skill);
  }

  /** Whether none of them has a `block` finding. */
  async mayName(names: readonly string[]): Promise<boolean> {
    const odd = new Set(names.filter(isOddName));
    const fresh = [...odd].filter((name) => !this.#blocks.has(name));
    const known = fresh.length > 0 ? this.#results.resultsOf(fresh.map(keyOf)) : new Map();
    for (const name of fresh) if (known.has(keyOf(name))) this.#blocks.set(name, []);
    const unknown = fresh.filter((name) => !this.#blocks.has(name));
    if (unknown.length > 0) {
      const { findingsOfNames } = await import('./inspect-files.ts');
      const found = await findingsOfNames(unknown);
      this.#hasBlocks ||= found.length > 0;
      for (const name of unknown) {
        const blocks = found.filter(({ file }) => file === name);
        this.#blocks.set(name, blocks);
        if (blocks.length === 0) this.#results.keepResult(keyOf(name), { found: [], reach: [] });
      }
    }
    return [...odd].every((name) => this.#blocks.get(name)?.length === 0);
  }

  blocksOf(skill: Skill): readonly Finding[] {
    return this.#hasBlocks ? oddNamesOf(skill).flatMap((name) => this.#blocks.get(name) ?? []) : [];
  }
}

// --- internal ---

/** No file and no line has such a key. */
const keyOf = (name: string): string => `name ${digestOf(name)}`;

function oddNamesOf(skill: Skill): readonly string[] {
  const { name, qualifiedId, source, file, dir, realFile } = skill;
  const below = qualifiedId.slice(source.length + 1);
  // The name of a skill in a file stands in that file.
  const names = [below, ...(realFile === null ? [name] : [])];
  // The config names the folder of a source, and a link leads elsewhere. Folders of copies are called by a digest.
  for (const folder of realFile === null ? [] : [dirname(file), dir ?? ''])
    names.push(folder.endsWith(below) ? folder.slice(0, -below.length).replace(/\/[0-9a-f]{32,64}/g, '') : folder);
  if (skill.isKept) names.push(...textsShown(skill));
  return names.filter(isOddName);
}
