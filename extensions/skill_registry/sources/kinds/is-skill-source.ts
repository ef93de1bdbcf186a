import type { SkillSource } from '../source.ts';

/** Told by its members: it may come from somebody else's package. */
export function isSkillSource(value: unknown): value is SkillSource {
  if (typeof value !== 'object' || value === null) return false;
  const methods = ['scan', 'readSkill', 'resources', 'readResource', 'watchFolders', 'contains'];
  const members = value as Record<string, unknown>;
  if (![members.id, members.kind, members.location].every((text) => typeof text === 'string' && text !== ''))
    return false;
  return methods.every((method) => typeof members[method] === 'function');
}
