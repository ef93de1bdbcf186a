import { assertReadable, relativeSegments, resourceNotFound, resourceTooLarge } from '../../../../lib/files/index.ts';
import type { Finding } from '../../inspect/types.ts';
import type { Skill } from '../../skill/skill.ts';
import type { SkillSource } from '../source.ts';
import { type ListedFile, type ListedSkill, SKILL_MD } from './entries.ts';
import { fileRefused, readFailed, serverFailed } from './errors.ts';
import type { McpServer } from './server.ts';

export interface FetchOptions {
  /** Id of the source. */
  readonly source: string;
  readonly server: () => McpServer;
  /** @throws RESOURCE_NOT_FOUND. */
  readonly listed: (skill: Skill) => ListedSkill;
  /** Called when a file is not what its entry says: the list may be outdated. */
  readonly onDifference: () => void;
}

/**
 * Makes `fetch` of a source: a file is fetched at every call, compared with its entry and inspected. While SKILL.md of a skill is
 * refused, nothing else of it is fetched.
 */
export function createFetch({ source, server, listed, onDifference }: FetchOptions): NonNullable<SkillSource['fetch']> {
  /** By the entry, so that a new one is tried again. */
  const refused = new WeakSet<object>();
  return async (skill, path, maxBytes) => {
    const found = listed(skill);
    const [name, file] = fileOf(found, path);
    const { entry } = found;
    const refuse = (why: string, remedy: string): Error => {
      if (name === SKILL_MD) refused.add(entry);
      return fileRefused(source, name, why, remedy);
    };
    if (file.size > maxBytes) throw resourceTooLarge(name, file.size, maxBytes);
    if (name !== SKILL_MD && refused.has(entry))
      throw refuse(`the ${SKILL_MD} of that skill was refused`, `Read ${SKILL_MD} again, or do without the skill.`);
    const bytes = await read(found, name, file.uri, refuse);
    const attack = await attackIn(name, bytes);
    if (attack) throw refuse(`a check found what a person would call an attack (${attack})`, 'Tell the user.');
    if (name === SKILL_MD) refused.delete(entry);
    return Buffer.from(bytes);
  };

  async function read(
    { entry }: ListedSkill,
    name: string,
    uri: string,
    refuse: (why: string, remedy: string) => Error,
  ): Promise<Uint8Array> {
    try {
      return await server().use((connection) => connection.read(entry, uri), isAnswer);
    } catch (error) {
      const why = differenceOf(error);
      if (why !== undefined) {
        onDifference();
        throw refuse(why, 'The list of the server is read again. Try again; if that does not help, tell the user.');
      }
      const { failure } = server();
      throw failure && !isAnswer(error) ? serverFailed(source, failure.since) : readFailed(source, name);
    }
  }
}

/** The rule, file and line of the first `block` finding; undefined when there is none. */
export async function attackIn(path: string, bytes: Uint8Array): Promise<string | undefined> {
  const { inspectSkill } = await import('../../inspect/inspect-skill.ts');
  const { findings } = await inspectSkill([{ path, bytes }]);
  const finding = findings.find(({ level }) => level === 'block');
  return finding && shown(finding);
}

// --- internal ---

/** The path of a file in the entry, and what that says of it. @throws RESOURCE_NOT_FOUND, PATH_TRAVERSAL, INVALID_ARGUMENT. */
function fileOf({ files }: ListedSkill, path: string = SKILL_MD): readonly [string, ListedFile] {
  const segments = relativeSegments(path);
  assertReadable(segments, path);
  const name = segments.join('/');
  const file = files.get(name);
  if (!file) throw resourceNotFound(path);
  return [name, file];
}

function shown({ rule, file, line }: Finding): string {
  return line === undefined ? `${rule} in ${file}` : `${rule} in ${file}:${line}`;
}

/** Whether the server has answered: with an error, or with something else than its entry says. */
function isAnswer(error: unknown): boolean {
  return typeof (error as { readonly code?: unknown } | null)?.code === 'number' || differenceOf(error) !== undefined;
}

/** What differs from the entry; undefined for another failure. */
function differenceOf(error: unknown): string | undefined {
  const { reason } = (error ?? {}) as { readonly reason?: unknown };
  return typeof reason === 'string' ? DIFFERENCES[reason] : undefined;
}

const DIFFERENCES: Readonly<Record<string, string>> = {
  unlisted: 'the entry of the skill does not list it',
  size: 'its size is not the one in the entry of the skill',
  digest: 'its digest is not the one in the entry of the skill',
  frontmatter: 'its frontmatter is not the one in the entry of the skill',
};
