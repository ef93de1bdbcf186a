import type { Skill } from 'skill-registry';

/** A skill that is on no disk, for what works on the catalog alone. */
export function fakeSkill(id: string, fields: Partial<Skill> = {}): Skill {
  const source = fields.source ?? 's';
  const dir = fields.dir ?? `/${source}/${id}`;
  return {
    id,
    source,
    qualifiedId: `${source}:${id}`,
    dir,
    file: `${dir}/SKILL.md`,
    realFile: `${dir}/SKILL.md`,
    digest: `sha256:${id}`,
    bytes: 100,
    name: id,
    description: `Does ${id}.`,
    tags: [],
    requires: [],
    modelInvocable: true,
    userInvocable: true,
    arguments: [],
    triggerKeywords: [],
    paths: [],
    allowedTools: [],
    metadata: {},
    extra: {},
    ...fields,
  };
}
