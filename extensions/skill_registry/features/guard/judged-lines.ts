import { foldLine } from '../../../../lib/text/index.ts';
import type { Skill } from '../../core/skill/skill.ts';

/** Skills of which nothing but the line was judged yet: whatever a line, a hit of a search or an event can have. */
export class JudgedLines {
  /** Digests of SKILL.md by the path of the skill. */
  readonly #usual = new Map<string, string>();

  /** Of those that it returns, the line has something that holds the skill. Many together cost half as much. */
  async judge(skills: readonly Skill[]): Promise<readonly Skill[]> {
    const { inspectFiles } = await import('./inspect-files.ts');
    const lines = skills.map((skill) => fieldsOf(skill).join('\n'));
    const bytes = Buffer.from(`---\n${lines.join('\n\n')}\n---\n`);
    const { inspection } = await inspectFiles(() => [{ path: 'SKILL.md', bytes }]);
    if (inspection.verdict !== 'block') {
      for (const skill of skills) this.#usual.set(pathOf(skill), skill.digest);
      return [];
    }
    if (skills.length === 1) return skills;
    const found: Skill[] = [];
    for (const skill of skills) found.push(...(await this.judge([skill])));
    return found;
  }

  isUsual(skill: Skill): boolean {
    return this.#usual.get(pathOf(skill)) === skill.digest;
  }
}

/** Identifies a skill for inspections. */
export function pathOf({ dir, realFile, file, qualifiedId }: Skill): string {
  return dir ?? realFile ?? `${file}\0${qualifiedId}`;
}

// --- internal ---

/** Each text of the frontmatter on one line, with its key. */
function fieldsOf({ file, dir, realFile, source, qualifiedId, digest, pack, ...shown }: Skill): readonly string[] {
  const lines: string[] = [];
  // YAML can name one value in many places.
  const seen = new Set<object>();
  const left: (readonly [key: string, value: unknown])[] = [['skill', shown]];
  for (const [key, value] of left) {
    if (typeof value !== 'object' || value === null) {
      // A hostile key must not begin a line as a block of code does, which would reach into the skills below.
      lines.push(foldLine(`${/^\w/.test(key) ? key : JSON.stringify(key)}: ${value}`));
    } else if (!seen.has(value)) {
      seen.add(value);
      for (const [below, one] of Object.entries(value)) left.push([Array.isArray(value) ? key : below, one]);
    }
  }
  return lines;
}
