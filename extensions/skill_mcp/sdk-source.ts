import { isUtf8 } from 'node:buffer';
import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import {
  DIRECTORY_MIME_TYPE,
  type DirectoryResource,
  type Skill as Entry,
  type SkillSource,
} from '@modelcontextprotocol/server/ext/skills';
import { getMimeType } from 'hono/utils/mime';
import type { TurnContext } from 'skill-registry/kernel';
import { withFallback } from '../../lib/errors/index.ts';
import { foldLine } from '../../lib/text/index.ts';
import { toProtocolError } from './errors.ts';
import { filesOf, type Publication, SKILL_MD, skillIdOf } from './resources.ts';

/** @param turnOf - The turn of a request. @param onListed - Called with the skill ids of each list answer. */
export function createSdkSource(
  publication: Publication,
  pageSize: number,
  turnOf: (ctx: ServerContext) => TurnContext,
  onListed: (skillIds: readonly string[]) => void,
): SkillSource {
  return guarded({
    async list({ cursor }, ctx) {
      const page = await pageAfter(publication, turnOf(ctx), cursor, pageSize);
      onListed(page.skills.flatMap((skill) => idOf(skill) ?? []));
      return page;
    },

    async get(uri, ctx) {
      const entry = await publication.find(canonical(uri), turnOf(ctx));
      // Refuses the URI of a file.
      return entry?.uri === canonical(uri) ? entry : undefined;
    },

    async read(uri, ctx) {
      const bytes = await publication.read(canonical(uri), turnOf(ctx));
      const mimeType = mimeTypeOf(canonical(uri));
      // Text only if its UTF-8 gives the same bytes, because the digest covers the bytes.
      if (!bytes || !isUtf8(bytes)) return bytes && { bytes, mimeType };
      return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), mimeType };
    },

    async readDirectory(uri, { cursor }, ctx) {
      const folder = canonical(uri);
      const found = await publication.find(folder, turnOf(ctx));
      const children = found && childrenOf(found, folder);
      if (!children) return undefined;
      const { page, next: more } = pageOf(children, cursor, pageSize, (child) => child.uri);
      return { resources: [...page], ...more };
    },
  });
}

/** For `resources/list`. A page, because each skill of it is read and inspected first. @throws only protocol errors. */
export async function resourcesPage(
  publication: Publication,
  turn: TurnContext,
  cursor: string | undefined,
  pageSize: number,
  onListed: (skillIds: readonly string[]) => void,
): Promise<{ readonly resources: DirectoryResource[]; readonly nextCursor?: string }> {
  // Any cached entry will do: only SKILL.md matters here, and its change makes a new entry.
  const listed = pageAfter(publication, turn, cursor, pageSize, Number.POSITIVE_INFINITY);
  const { skills, ...more } = await listed.catch((error) => {
    throw toProtocolError(error);
  });
  onListed(skills.flatMap((skill) => idOf(skill) ?? []));
  const resources = skills.map((entry): DirectoryResource => {
    // Both fields are exactly as in the file.
    const { name, description } = entry.frontmatter;
    const { uri } = entry;
    const size = filesOf(entry).find((file) => file.uri === uri)?.size ?? 0;
    return { uri, name, description: foldLine(description), mimeType: mimeTypeOf(SKILL_MD), size };
  });
  return { resources, ...more };
}

/** @throws a protocol error for an invalid cursor */
export function pageOf<T>(
  items: readonly T[],
  cursor: string | undefined,
  pageSize: number,
  key: (item: T) => string,
): { readonly page: readonly T[]; readonly next: { readonly nextCursor?: string } } {
  const after = readCursor(cursor);
  const left = after === undefined ? items : items.filter((item) => key(item) > after);
  const page = left.slice(0, pageSize);
  const last = page.at(-1);
  return { page, next: last !== undefined && left.length > page.length ? next(key(last)) : {} };
}

// --- internal ---

/** Removes paths from errors, because the SDK sends their messages unchanged. */
function guarded(source: SkillSource): SkillSource {
  const guard =
    (act: (...args: never[]) => Promise<unknown>) =>
    (...args: never[]): Promise<unknown> =>
      act(...args).catch((error) => {
        throw toProtocolError(error);
      });
  return Object.fromEntries(Object.entries(source).map(([name, act]) => [name, guard(act)])) as unknown as SkillSource;
}

async function pageAfter(
  publication: Publication,
  turn: TurnContext,
  cursor: string | undefined,
  pageSize: number,
  maxAgeMs?: number,
) {
  const skills: Entry[] = [];
  for await (const skill of publication.after(readCursor(cursor), turn, maxAgeMs))
    if (skills.push(skill) > pageSize) break;
  const page = skills.slice(0, pageSize);
  const shown = page.filter((skill) => publication.shows(skill, turn));
  return { skills: shown, ...next(skills.length > pageSize ? idOf(page.at(-1)) : undefined) };
}

const PREFIX = 'after:';

function next(after: string | undefined): { readonly nextCursor?: string } {
  return after === undefined ? {} : { nextCursor: Buffer.from(PREFIX + after).toString('base64url') };
}

/** Returns the last key of the previous page, which stays valid when the catalog changes. */
function readCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (text.startsWith(PREFIX)) return text.slice(PREFIX.length);
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'Invalid cursor: give the nextCursor of an answer, unchanged.',
  );
}

function idOf(skill: Entry | undefined): string | undefined {
  return skill && skillIdOf(skill.uri);
}

function canonical(uri: string): string {
  return withFallback(() => new URL(uri).href, uri);
}

function childrenOf(entry: Entry, folder: string): readonly DirectoryResource[] | undefined {
  const children = new Map<string, DirectoryResource>();
  for (const { uri, size } of filesOf(entry)) {
    if (!uri.startsWith(`${folder}/`)) continue;
    const [segment = '', ...below] = uri.slice(folder.length + 1).split('/');
    const child = `${folder}/${segment}`;
    const name = decodeURIComponent(segment);
    const file = { uri, name, mimeType: mimeTypeOf(name), size };
    children.set(child, below.length > 0 ? { uri: child, name, mimeType: DIRECTORY_MIME_TYPE } : file);
  }
  const isRoot = folder === entry.uri.slice(0, -`/${SKILL_MD}`.length);
  if (children.size === 0 && !isRoot) return undefined;
  return [...children.values()].sort((a, b) => (a.uri < b.uri ? -1 : 1));
}

function mimeTypeOf(path: string): string {
  if (/\.(md|markdown)$/i.test(path)) return 'text/markdown';
  return getMimeType(path)?.split(';')[0] ?? 'application/octet-stream';
}
