import { basename } from 'node:path';
import { type Skill as Entry, SKILL_LIMITS, skillEntry } from '@modelcontextprotocol/server/ext/skills';
import { describeError } from 'skill-registry/kernel';
import type { Skill, SkillRegistry } from '../skill_registry/api.ts';

/** A skill as MCP clients get it: every digest is of bytes that were read together. */
export interface PublishedSkill {
  readonly entry: Entry;
  /** Path below the skill by URI. */
  readonly files: ReadonlyMap<string, PublishedFile>;
}

export interface PublishedFile {
  readonly path: string;
  readonly digest: string;
  readonly size: number;
}

/** Why a skill is not published. */
export interface Unpublished {
  readonly reason: string;
}

export const SKILL_MD: string = 'SKILL.md';

/**
 * Reads every file of a skill and makes its entry by the SDK's own rules, those of agentskills.io and SEP-2640: what a client
 * of the SDK would refuse is not published.
 *
 * @param read - The bytes of a file; without a path those of SKILL.md.
 */
export async function publishSkill(
  skill: Skill,
  registry: Pick<SkillRegistry, 'resources'>,
  read: (path?: string) => Promise<Uint8Array>,
): Promise<PublishedSkill | Unpublished> {
  if (/[:/]/.test(skill.id)) return { reason: 'another skill has its id, so it has no address of its own' };
  if (skill.dir !== null && basename(skill.file) !== SKILL_MD) {
    return { reason: `its file is called ${basename(skill.file)}, expected ${SKILL_MD}` };
  }
  try {
    const resources = registry.resources(skill.id);
    const size = resources.reduce((sum, one) => sum + one.size, skill.bytes);
    if (resources.length >= SKILL_LIMITS.files) return { reason: `it has more than ${SKILL_LIMITS.files} files` };
    if (size > SKILL_LIMITS.bytes) return { reason: `it has ${size} bytes, more than ${SKILL_LIMITS.bytes}` };
    const files: Record<string, Uint8Array> = Object.create(null);
    files[SKILL_MD] = await read();
    for (const { path } of resources) files[path] = await read(path);
    const entry = await skillEntry(skill.id, files);
    return { entry, files: filesOf(entry) };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

export function isPublished(result: PublishedSkill | Unpublished): result is PublishedSkill {
  return 'entry' in result;
}

/** The id in the URI of a skill, of a file or of a folder of one; undefined for any other URI. */
export function skillIdOf(uri: string): string | undefined {
  const authority = /^skill:\/\/([^/?#]+)(?:\/[^?#]*)?$/.exec(uri)?.[1];
  return authority === undefined ? undefined : decode(authority);
}

// --- internal ---

function filesOf({ uri, resources }: Entry): ReadonlyMap<string, PublishedFile> {
  const root = uri.slice(0, -SKILL_MD.length);
  const listed = resources === 'dynamic' ? [] : resources;
  return new Map(
    listed.map((file) => {
      if (new URL(file.uri).href !== file.uri) throw new Error(`the name of ${file.uri} has no place in a URI`);
      const path = file.uri.slice(root.length).split('/').map(decodeURIComponent).join('/');
      return [file.uri, { path, digest: file.digest, size: file.size }];
    }),
  );
}

/** The SDK lists the problems of an entry, one a line, below a heading. */
function reasonOf(error: unknown): string {
  const { problems } = error as { problems?: readonly { readonly message: string }[] };
  return Array.isArray(problems) ? problems.map(({ message }) => message).join('; ') : describeError(error);
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
