import { basename } from 'node:path';
import {
  type Skill as Entry,
  SKILL_LIMITS,
  type SkillResourceEntry,
  skillEntry,
} from '@modelcontextprotocol/server/ext/skills';
import { describeError, isCodedError, type Problem, type TurnContext } from 'skill-registry/kernel';
import { digestOf } from '../../lib/digest/index.ts';
import { withFallback } from '../../lib/errors/index.ts';
import type { Skill, SkillRegistry } from '../skill_registry/api.ts';

export const SKILL_MD: string = 'SKILL.md';

/** Accepts the URI of a skill, its files and its folders; undefined for any other URI. */
export function skillIdOf(uri: string): string | undefined {
  const authority = /^skill:\/\/([^/?#]+)(?:\/[^?#]*)?$/.exec(uri)?.[1];
  return authority === undefined ? undefined : withFallback(() => decodeURIComponent(authority));
}

export function filesOf({ resources }: Entry): readonly SkillResourceEntry[] {
  return resources === 'dynamic' ? [] : resources;
}

/** Publishes the skills of one scope that conform to SEP-2640, each with the digests of files read together. */
export interface Publication {
  /**
   * Yields skills by id, after the given one; each is inspected before.
   * @param maxAgeMs - Oldest usable cache entry; default as at creation.
   */
  after(id: string | undefined, turn: TurnContext, maxAgeMs?: number): AsyncGenerator<Entry>;
  /** Whether this skill may be shown now: others may have become held while later ones were inspected. */
  shows(entry: Entry, turn: TurnContext): boolean;
  /** For the URI of a skill, its files and its folders. Reads the files, not the cache. @throws SKILL_NOT_INSPECTED. */
  find(uri: string, turn: TurnContext): Promise<Entry | undefined>;
  /** Bytes that match the digest of the entry; undefined for an unpublished file. @throws SKILL_NOT_INSPECTED. */
  read(uri: string, turn: TurnContext): Promise<Uint8Array | undefined>;
  /** Checks all skills; returns SKILL_NOT_PUBLISHED for each unpublished one. */
  problems(): Promise<readonly Problem[]>;
}

/**
 * @param turn - Limits the skills to those it may see. The turn of a request differs only in its thread.
 * @param maxAgeMs - Oldest usable cache entry, because files beside SKILL.md may change.
 */
export function createPublication(registry: SkillRegistry, turn: TurnContext, maxAgeMs: number): Publication {
  const cache = new Map<string, CachedEntry>();
  let version: number | undefined;
  /** Most threads of one scope share one list of visible skills. */
  const sorted = new WeakMap<readonly Skill[], ReadonlyMap<string, Skill>>();

  const skills = (ofRequest: TurnContext = turn): ReadonlyMap<string, Skill> => {
    const now = registry.snapshot().version;
    if (version !== now) {
      version = now;
      const visibleIds = new Set(registry.visible(turn).map(({ qualifiedId }) => qualifiedId));
      for (const id of cache.keys()) if (!visibleIds.has(id)) cache.delete(id);
    }
    const visible = registry.visible(ofRequest);
    const known = sorted.get(visible) ?? new Map(visible.toSorted(byId).map((skill) => [skill.id, skill]));
    sorted.set(visible, known);
    return known;
  };
  const publish = (skill: Skill, maxAge = maxAgeMs, wait = true): Promise<Entry | Reason> => {
    const before = cache.get(skill.qualifiedId);
    if (before?.digest === skill.digest && performance.now() - before.at < maxAge) return before.result;
    const read = (path?: string): Promise<Uint8Array> =>
      registry.admin.readBytes(skill.id, { ...(path === undefined ? {} : { path }), countsAsLoad: false, wait }, turn);
    const at = performance.now();
    const result = publishSkill(skill, registry.admin, read).finally(() => {
      next.at = at;
    });
    // Concurrent calls share one result.
    const next = { digest: skill.digest, at: Number.POSITIVE_INFINITY, result };
    cache.set(skill.qualifiedId, next);
    result.catch(() => cache.get(skill.qualifiedId) === next && cache.delete(skill.qualifiedId));
    return result;
  };
  const lookUp = async (uri: string, ofRequest: TurnContext, maxAge: number): Promise<Entry | undefined> => {
    const id = skillIdOf(uri) ?? '';
    const bring = () => registry.admin.readBytes(id, { countsAsLoad: false, wait: false }, ofRequest);
    if (skills(ofRequest).get(id)?.remote === 'until-read') await bring().catch(unlessHeld);
    const skill = skills(ofRequest).get(id);
    const result = skill && (await publish(skill, maxAge, false));
    return typeof result === 'string' ? undefined : result;
  };

  return {
    async *after(id, ofRequest, maxAge) {
      for (const skill of skills(ofRequest).values()) {
        if (id !== undefined && skill.id <= id) continue;
        const result = await publish(skill, maxAge);
        if (typeof result !== 'string') yield result;
      }
    },
    shows: ({ uri }, ofRequest) => skills(ofRequest).has(skillIdOf(uri) ?? ''),
    find: (uri, ofRequest) => lookUp(uri, ofRequest, 0),
    async read(uri, ofRequest) {
      // A mismatch with the cached entry means that the file changed: make the entry again.
      for (const maxAge of [Number.POSITIVE_INFINITY, 0, 0]) {
        const entry = await lookUp(uri, ofRequest, maxAge);
        const file = entry && filesOf(entry).find((one) => one.uri === uri);
        if (!file && maxAge === 0) return undefined;
        const bytes = file && (await readOne(registry, ofRequest, entry, file));
        if (bytes) return bytes;
      }
      return undefined;
    },
    async problems() {
      const found: (readonly [Skill, Problem])[] = [];
      for (const skill of skills().values()) {
        if (skill.remote === 'until-read') continue;
        const result = await publish(skill, Number.POSITIVE_INFINITY);
        if (typeof result !== 'string') continue;
        const message = `Skill "${skill.id}" is not published over MCP: ${result.replace(/\.$/, '')}${skill.remote ? '' : '. Correct it'}; the tools and its prompt still work.`;
        const details = { skill_id: skill.id };
        found.push([skill, { code: 'SKILL_NOT_PUBLISHED', severity: 'warning', file: skill.file, message, details }]);
      }
      // Leaves out skills that became held meanwhile: the hold is another problem.
      const now = skills();
      return found.flatMap(([{ id }, problem]) => (now.has(id) ? problem : []));
    },
  };
}

// --- internal ---

function byId(a: Skill, b: Skill): number {
  return a.id < b.id ? -1 : 1;
}

/** What was fetched may hold it: then it is not among the skills any more. */
function unlessHeld(error: unknown): void {
  if (!isCodedError(error, 'SKILL_NOT_FOUND')) throw error;
}

/** Why a skill is not published. */
type Reason = string;

interface CachedEntry {
  readonly digest: string;
  /** Infinite until the result is there. */
  at: number;
  readonly result: Promise<Entry | Reason>;
}

/**
 * The SDK makes the entry and applies agentskills.io and SEP-2640: what its clients would refuse is not published.
 * @param read - Reads SKILL.md without a path.
 */
async function publishSkill(
  skill: Skill,
  admin: Pick<SkillRegistry['admin'], 'resources'>,
  read: (path?: string) => Promise<Uint8Array>,
): Promise<Entry | Reason> {
  if (skill.remote === 'until-read') return 'it comes when it is read';
  if (skill.remote)
    return `it comes from the MCP server "${skill.source}", which publishes it itself. Connect to that server`;
  if (/[:/]/.test(skill.id))
    return 'here it is known only with the name of its source, so it has no address of its own';
  if (skill.dir !== null && basename(skill.file) !== SKILL_MD)
    return `its file is called ${basename(skill.file)}, expected ${SKILL_MD}`;
  try {
    const resources = admin.resources(skill.id);
    const size = resources.reduce((sum, one) => sum + one.size, skill.bytes);
    if (resources.length >= SKILL_LIMITS.files) return `it has more than ${SKILL_LIMITS.files} files`;
    if (size > SKILL_LIMITS.bytes) return `it has ${size} bytes, more than ${SKILL_LIMITS.bytes}`;
    const files: Record<string, Uint8Array> = Object.create(null);
    files[SKILL_MD] = await read();
    for (const { path } of resources) files[path] = await read(path);
    const entry = await skillEntry(skill.id, files);
    const odd = filesOf(entry).find(({ uri }) => new URL(uri).href !== uri);
    return odd ? `the name of ${odd.uri} cannot be part of a URI` : entry;
  } catch (error) {
    if (isCodedError(error, 'SKILL_NOT_INSPECTED')) throw error;
    const { problems } = error as { problems?: readonly { readonly message: string }[] };
    return Array.isArray(problems) ? problems.map(({ message }) => message).join('; ') : describeError(error);
  }
}

/** Bytes with the digest of the entry. */
async function readOne(
  registry: SkillRegistry,
  turn: TurnContext,
  { uri: whole }: Entry,
  { uri, digest }: SkillResourceEntry,
): Promise<Uint8Array | undefined> {
  const root = whole.slice(0, -SKILL_MD.length);
  const path = uri.slice(root.length).split('/').map(decodeURIComponent).join('/');
  let isSame = false;
  const countsAsLoad = (bytes: Uint8Array): boolean => {
    isSame = digestOf(bytes) === digest;
    return isSame;
  };
  try {
    const id = skillIdOf(uri) ?? '';
    const bytes = await registry.admin.readBytes(id, { ...(path === SKILL_MD ? {} : { path }), countsAsLoad }, turn);
    return isSame ? bytes : undefined;
  } catch (error) {
    // Of a budget and of an inspection the client is told; all else is a file that is not there.
    if (isCodedError(error) && !/_TOKENS_SPENT$|^SKILL_NOT_INSPECTED$/.test(error.code)) return undefined;
    throw error;
  }
}
