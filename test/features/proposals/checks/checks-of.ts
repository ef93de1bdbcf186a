import { parseSkill } from '../../../../extensions/skill_registry/core/skill/parse-skill.ts';
import type { Check, CheckInput } from '../../../../extensions/skill_registry/features/proposals/checks/checks.ts';
import { runChecks } from '../../../../extensions/skill_registry/features/proposals/checks/run-checks.ts';

/** The checks of a change to `tea/SKILL.md`; `change` says what is different. */
export function checksOf(
  before: string | null,
  after: string | null,
  change: Partial<CheckInput> = {},
): Promise<readonly Check[]> {
  return runChecks({
    skillId: 'tea',
    path: 'SKILL.md',
    isSkillFile: change.path === undefined,
    before,
    after,
    files: ['references/guide.md', 'scripts/brew.py'],
    problemsOf: (text) => parseSkill(text, '/skills/tea/SKILL.md', 'tea').problems,
    ...change,
  });
}

/** Those of one kind, each as one line: `warning 3: text`. */
export async function told(
  kind: Check['kind'],
  before: string | null,
  after: string | null,
  change: Partial<CheckInput> = {},
): Promise<readonly string[]> {
  const checks = await checksOf(before, after, change);
  return checks
    .filter((check) => check.kind === kind)
    .map(({ level, line, text }) => `${level}${line === undefined ? '' : ` ${line}`}: ${text}`);
}

const HEAD = '---\nname: tea\ndescription: Makes tea for guests.\n---\n';

/** A SKILL.md whose body begins on line 5. */
export function skill(body: string, fields = ''): string {
  return `${HEAD.slice(0, -4)}${fields}---\n${body}`;
}
