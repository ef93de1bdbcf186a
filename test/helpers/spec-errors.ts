import { specViolations } from '../../extensions/skill_registry/features/validate/spec-rules.ts';

/** What agentskills.io forbids in a SKILL.md, without the lines. */
export function specErrors(text: string, directoryName?: string): readonly string[] {
  return specViolations(text, directoryName).map(({ message }) => message);
}
