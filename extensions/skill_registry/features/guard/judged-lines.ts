import { takeBreak } from '../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import type { Finding } from '../../core/skill/guard.ts';
import type { Skill } from '../../core/skill/skill.ts';
import type { FileResults } from './inspect/inspect-skill.ts';
import { MOST_TOGETHER, textsShown } from './texts-shown.ts';

/** Skills of which only the line was judged yet: what a line, a hit of a search or an event can have. */
export class JudgedLines {
  readonly #results: FileResults;
  /** Digests of SKILL.md by the path of the skill. */
  readonly #usual = new Map<string, string>();

  /** @param results - Has lines in which nothing was found, by their text. */
  constructor(results: FileResults) {
    this.#results = results;
  }

  /** Those that it returns, with what was found, need an inspection of all files. Many together cost half as much. */
  async judge(skills: readonly Skill[]): Promise<readonly Unusual[]> {
    const whole: Unusual[] = [];
    let [group, characters]: [Line[], number] = [[], 0];
    for (const [done, skill] of skills.entries()) {
      await takeBreak(done, skills.length, 'Inspecting descriptions');
      const { file, dir, realFile, source, qualifiedId, digest, pack, ...shown } = skill;
      const text = textsShown(shown).join('\n');
      group.push({ skill, text, key: `line ${digestOf(text)}` });
      characters += text.length;
      if (group.length < TOGETHER && characters < MOST_TOGETHER) continue;
      whole.push(...(await this.#judgeTogether(this.#notKnown(group))));
      [group, characters] = [[], 0];
    }
    return [...whole, ...(await this.#judgeTogether(this.#notKnown(group)))];
  }

  isUsual(skill: Skill): boolean {
    return this.#usual.get(pathOf(skill)) === skill.digest;
  }

  #notKnown(lines: readonly Line[]): readonly Line[] {
    const known = this.#results.resultsOf(lines.map(({ key }) => key));
    for (const line of lines) if (known.has(line.key)) this.#noteUsual(line);
    return lines.filter((line) => !known.has(line.key));
  }

  #noteUsual({ skill }: Line): void {
    this.#usual.set(pathOf(skill), skill.digest);
  }

  async #judgeTogether(lines: readonly Line[]): Promise<readonly Unusual[]> {
    if (lines.length === 0) return [];
    const { findingsOfTexts } = await import('./inspect-files.ts');
    const found = await findingsOfTexts(lines.map(({ text }) => text));
    if (found.length === 0) {
      for (const line of lines) {
        this.#noteUsual(line);
        this.#results.keepResult(line.key, { found: [], reach: [] });
      }
      return [];
    }
    if (lines.length === 1) return lines.map(({ skill }) => [skill, found]);
    const whole: Unusual[] = [];
    for (const line of lines) whole.push(...(await this.#judgeTogether([line])));
    return whole;
  }
}

/** Identifies a skill for inspections. */
export function pathOf({ dir, realFile, file, qualifiedId }: Skill): string {
  return dir ?? realFile ?? `${file}\0${qualifiedId}`;
}

// --- internal ---

type Unusual = readonly [skill: Skill, found: readonly Finding[]];

interface Line {
  readonly skill: Skill;
  readonly text: string;
  /** Of its text. No file has such a key. */
  readonly key: string;
}

const TOGETHER = 50;
