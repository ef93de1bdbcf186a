import { dirname } from 'node:path';
import type { Finding } from '../../core/skill/guard.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { isOddName, textsShown } from './texts-shown.ts';

/** What stands in no file of a skill: names of its folders, of an inline skill; what a half saved file said before. */
export class JudgedNames {
  /** By name, only odd ones. */
  readonly #blocks = new Map<string, readonly Finding[]>();
  readonly #looked = new WeakSet<Skill>();
  #hasBlocks = false;

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
    if (fresh.length > 0) {
      const { findingsOfNames } = await import('./inspect-files.ts');
      const found = await findingsOfNames(fresh);
      this.#hasBlocks ||= found.length > 0;
      for (const name of fresh) {
        const blocks = found.filter(({ file }) => file === name);
        this.#blocks.set(name, blocks);
      }
    }
    return [...odd].every((name) => this.#blocks.get(name)?.length === 0);
  }

  blocksOf(skill: Skill): readonly Finding[] {
    return this.#hasBlocks ? oddNamesOf(skill).flatMap((name) => this.#blocks.get(name) ?? []) : [];
  }
}

// --- internal ---

function oddNamesOf(skill: Skill): readonly string[] {
  const { name, qualifiedId, source, file, dir, realFile } = skill;
  const below = qualifiedId.slice(source.length + 1);
  // The name of a skill in a file stands in that file.
  const names = [below, ...(realFile === null ? [name] : [])];
  // The config names the folder of a source, and a link leads elsewhere.
  for (const folder of realFile === null ? [] : [dirname(file), dir ?? ''])
    names.push(folder.endsWith(below) ? folder.slice(0, -below.length).replace(/\/[0-9a-f]{32,64}/g, '') : folder);
  if (skill.isKept) names.push(...textsShown(skill));
  return names.filter(isOddName);
}
