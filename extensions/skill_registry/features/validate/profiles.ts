import type { FileToCheck, Profile } from '../../core/skill/profile.ts';
import { findSkillMd } from './read-skill-md.ts';
import { specViolations } from './spec-rules.ts';
import { strictViolations } from './strict-rules.ts';

/** `spec`: the rules of agentskills.io. `strict`: unknown keys and wrong types are errors; declared files exist. */
export const PROFILES: readonly Profile[] = [
  {
    name: 'spec',
    code: 'SPEC_VIOLATION',
    check: (text, name, file) => unread(file) ?? { violations: specViolations(text, name) },
  },
  {
    name: 'strict',
    code: 'STRICT_VIOLATION',
    check: (text, name, file) => unread(file) ?? strictViolations(text, name, file?.realDir),
  },
];

// --- internal ---

function unread(file: FileToCheck | undefined): ReturnType<Profile['check']> | undefined {
  if (file?.dir !== undefined && findSkillMd(file.dir) === undefined)
    return { violations: [{ message: 'Missing required file: SKILL.md', line: 1 }] };
  return file?.refusal === undefined ? undefined : { violations: [{ message: file.refusal, line: file.invalidLine }] };
}
