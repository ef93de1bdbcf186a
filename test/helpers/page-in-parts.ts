import { type Artifact, artifactOf } from '../../extensions/skill_registry/features/pages/publish/artifact.ts';
import {
  type IndexLimits,
  openPublished,
  writePublished,
} from '../../extensions/skill_registry/features/pages/publish/write-page.ts';
import { fakeSkill } from './fake-skill.ts';
import { skillMd } from './temp-folder.ts';

/** Below a page. */
export const PAGE = '.well-known/agent-skills';
/** So that a few skills are more than an index has room for. */
const SMALL: IndexLimits = { entries: 8, bytes: 1_000_000 };

export function idsOfPage(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `tea-${String(at).padStart(2, '0')}`);
}

export function artifactFor(id: string, body = 'Steep it.'): Artifact {
  const description = 'Brew tea.';
  const bytes = Buffer.from(skillMd({ name: id, description }, body));
  const files = [{ path: 'SKILL.md', bytes, executable: false }];
  return artifactOf(fakeSkill(id, { description }), { files, leftOut: 0, links: [] }) as Artifact;
}

/** Publishes these skills, each with its body, as if an index had room for eight. */
export function publishInParts(
  to: string,
  ids: readonly string[],
  bodies: Readonly<Record<string, string>> = {},
  limits: IndexLimits = SMALL,
): ReturnType<typeof writePublished> {
  const artifacts = ids.map((id) => artifactFor(id, bodies[id]));
  return writePublished(openPublished(to, []), artifacts, limits);
}
