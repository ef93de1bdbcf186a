import { basename } from 'node:path';
import { type Skill as Entry, SKILL_LIMITS, skillEntry } from '@modelcontextprotocol/server/ext/skills';
import { describeError, isCodedError, type Problem, type TurnContext } from 'skill-registry/kernel';
import { digestOf } from '../../lib/digest/index.ts';
import type { Skill, SkillRegistry } from '../skill_registry/api.ts';

/** All digests describe bytes that were read together. */
export interface McpSkill {
  readonly entry: Entry;
  /** By URI. */
  readonly files: ReadonlyMap<string, PublishedFile>;
}

export interface PublishedFile {
  readonly path: string;
  readonly digest: string;
  readonly size: number;
}

export const SKILL_MD: string = 'SKILL.md';

/** Accepts the URI of a skill, its files and its folders; undefined for any other URI. */
export function skillIdOf(uri: string): string | undefined {
  const authority = /^skill:\/\/([^/?#]+)(?:\/[^?#]*)?$/.exec(uri)?.[1];
  return authority === undefined ? undefined : decode(authority);
}

/** Publishes the skills of one scope that conform to SEP-2640, each with the digests of all its files. */
export interface Publication {
  /** Yields skills by id, after the given one. @param maxAgeMs - Oldest usable cache entry; default as at creation. */
  after(id: string | undefined, maxAgeMs?: number): AsyncGenerator<McpSkill>;
  /** Accepts the URI of a skill, its files and its folders. Reads the files, not the cache. */
  find(uri: string): Promise<McpSkill | undefined>;
  /** Bytes that match the digest of the entry; undefined for an unpublished file. */
  read(uri: string): Promise<{ readonly file: PublishedFile; readonly bytes: Uint8Array } | undefined>;
  /** Checks all skills; returns SKILL_NOT_PUBLISHED for each unpublished one. */
  problems(): Promise<readonly Problem[]>;
}

/**
 * @param turn - Limits the skills to those it may see.
 * @param maxAgeMs - Oldest usable cache entry, because files beside SKILL.md may change.
 */
export function createPublication(registry: SkillRegistry, turn: TurnContext, maxAgeMs: number): Publication {
  const cache = new Map<string, CachedEntry>();
  let current: { readonly version: number; readonly skills: ReadonlyMap<string, Skill> } | undefined;

  const skills = (): ReadonlyMap<string, Skill> => {
    const { version } = registry.snapshot();
    if (current?.version !== version) {
      const sorted = [...registry.visible(turn)].sort((a, b) => (a.id < b.id ? -1 : 1));
      current = { version, skills: new Map(sorted.map((skill) => [skill.id, skill])) };
      const visibleIds = new Set(sorted.map(({ qualifiedId }) => qualifiedId));
      for (const id of cache.keys()) if (!visibleIds.has(id)) cache.delete(id);
    }
    return current.skills;
  };
  const publish = (skill: Skill, maxAge = maxAgeMs): Promise<McpSkill | Unpublished> => {
    const before = cache.get(skill.qualifiedId);
    const isFresh = before?.digest === skill.digest && performance.now() - before.at < maxAge;
    // Concurrent calls share one result.
    if (before && (isFresh || before.running)) return before.result;
    const read = (path?: string): Promise<Uint8Array> =>
      registry.admin.readBytes(skill.id, { ...(path === undefined ? {} : { path }), countsAsLoad: false }, turn);
    const next: CachedEntry = {
      digest: skill.digest,
      at: performance.now(),
      running: true,
      result: publishSkill(skill, registry.admin, read).finally(() => {
        next.running = false;
      }),
    };
    cache.set(skill.qualifiedId, next);
    return next.result;
  };
  const lookUp = async (uri: string, maxAge?: number): Promise<McpSkill | undefined> => {
    const id = skillIdOf(uri);
    const skill = id === undefined ? undefined : skills().get(id);
    if (!skill) return undefined;
    const result = await publish(skill, maxAge);
    return isPublished(result) ? result : undefined;
  };

  return {
    async *after(id, maxAge) {
      for (const skill of skills().values()) {
        if (id !== undefined && skill.id <= id) continue;
        const result = await publish(skill, maxAge);
        if (isPublished(result)) yield result;
      }
    },
    find: (uri) => lookUp(uri, 0),
    async read(uri) {
      // A mismatch with the cached entry means that the file changed: make the entry again.
      for (const maxAge of [Number.POSITIVE_INFINITY, 0, 0]) {
        const found = await lookUp(uri, maxAge);
        const file = found?.files.get(uri);
        if (!file && maxAge === 0) return undefined;
        if (!file) continue;
        const bytes = await readOne(registry, turn, skillIdOf(uri) ?? '', file);
        if (bytes) return { file, bytes };
      }
      return undefined;
    },
    async problems() {
      const found: (readonly [Skill, Problem])[] = [];
      for (const skill of skills().values()) {
        const result = await publish(skill, Number.POSITIVE_INFINITY);
        if (!isPublished(result)) found.push([skill, notPublished(skill, result.reason)]);
      }
      // Leaves out skills that became held meanwhile: the hold is another problem.
      const now = skills();
      return found.flatMap(([{ id }, problem]) => (now.has(id) ? problem : []));
    },
  };
}

// --- internal ---

interface Unpublished {
  readonly reason: string;
}

/**
 * The SDK makes the entry and applies agentskills.io and SEP-2640: what its clients would refuse is not published.
 * @param read - Reads SKILL.md without a path.
 */
async function publishSkill(
  skill: Skill,
  admin: Pick<SkillRegistry['admin'], 'resources'>,
  read: (path?: string) => Promise<Uint8Array>,
): Promise<McpSkill | Unpublished> {
  if (skill.remote)
    return {
      reason: `it comes from the MCP server "${skill.source}", which publishes it itself. Connect to that server`,
    };
  if (/[:/]/.test(skill.id)) return { reason: 'another skill has the same id, so this one has no address of its own' };
  if (skill.dir !== null && basename(skill.file) !== SKILL_MD) {
    return { reason: `its file is called ${basename(skill.file)}, expected ${SKILL_MD}` };
  }
  try {
    const resources = admin.resources(skill.id);
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

function isPublished(result: McpSkill | Unpublished): result is McpSkill {
  return 'entry' in result;
}

function filesOf({ uri, resources }: Entry): ReadonlyMap<string, PublishedFile> {
  const root = uri.slice(0, -SKILL_MD.length);
  const listed = resources === 'dynamic' ? [] : resources;
  return new Map(
    listed.map((file) => {
      if (new URL(file.uri).href !== file.uri) throw new Error(`the name of ${file.uri} cannot be part of a URI`);
      const path = file.uri.slice(root.length).split('/').map(decodeURIComponent).join('/');
      return [file.uri, { path, digest: file.digest, size: file.size }];
    }),
  );
}

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

interface CachedEntry {
  readonly digest: string;
  readonly at: number;
  readonly result: Promise<McpSkill | Unpublished>;
  running: boolean;
}

async function readOne(
  registry: SkillRegistry,
  turn: TurnContext,
  id: string,
  { path, digest }: PublishedFile,
): Promise<Uint8Array | undefined> {
  let isSame = false;
  const countsAsLoad = (bytes: Uint8Array): boolean => {
    isSame = digestOf(bytes) === digest;
    return isSame;
  };
  try {
    const bytes = await registry.admin.readBytes(id, { ...(path === SKILL_MD ? {} : { path }), countsAsLoad }, turn);
    return isSame ? bytes : undefined;
  } catch (error) {
    if (isCodedError(error)) return undefined;
    throw error;
  }
}

function notPublished({ id, file, remote }: Skill, reason: string): Problem {
  const message = `Skill "${id}" is not published over MCP: ${reason.replace(/\.$/, '')}${remote ? '' : '. Correct it'}; the tools and its prompt still work.`;
  return { code: 'SKILL_NOT_PUBLISHED', severity: 'warning', file, message, details: { skill_id: id } };
}
