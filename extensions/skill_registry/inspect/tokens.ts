import { loadTokenCounter } from '../../../lib/text/index.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import { parseSkill } from '../skill/parse-skill.ts';
import { bulletOf } from '../skill/skill.ts';
import type { Check, CheckInput } from './findings.ts';

/** What the change costs: of SKILL.md its line in the catalog (L1) and its body (L2), of another file its text. */
export async function tokenChecks({
  before,
  after,
  isSkillFile,
  skillId,
  path,
}: CheckInput): Promise<readonly Check[]> {
  const count = await loadTokenCounter();
  const difference = (what: string, tokensOf: (text: string) => number): Check => ({
    kind: 'tokens',
    level: 'info',
    text: `${what}: ${fromTo(before === null ? null : tokensOf(before), after === null ? null : tokensOf(after))}`,
  });
  if (!isSkillFile) return [difference('Text of the file', (text) => count(text))];
  const lineOf = (text: string): string => {
    const { header } = parseSkill(text, path, skillId);
    return header ? `${bulletOf({ id: skillId, description: header.description })}\n` : '';
  };
  return [
    difference('Catalog line (L1)', (text) => count(lineOf(text))),
    difference('Body (L2)', (text) => count(bodyOf(text))),
  ];
}

// --- internal ---

function fromTo(before: number | null, after: number | null): string {
  if (before === null || after === null) return `${before ?? 0} -> ${after ?? 0} tokens`;
  if (before === after) return `${after} tokens, unchanged`;
  return `${before} -> ${after} tokens (${after > before ? '+' : ''}${after - before})`;
}
