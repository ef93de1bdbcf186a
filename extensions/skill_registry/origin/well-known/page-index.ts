import { z } from 'skill-registry/kernel';
import { digestOf } from '../../../../lib/digest/index.ts';
import { originRefused } from '../../../../lib/fetch/index.ts';
import { oneLine } from '../../../../lib/text/index.ts';

/** Of the one version of the format that has digests. */
export const INDEX_SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';
/** Below the page. */
export const INDEX_PATH = '.well-known/agent-skills/index.json';
/** Bytes of an index, and of each of its parts. */
export const MAX_INDEX: number = 8 * 1024 * 1024;
/** Skills in it. */
export const MAX_ENTRIES = 10_000;

/** Of a page: skills, as many as a machine keeps inspections of; bytes and files of all skills, unpacked. */
export const MAX_PAGE_SKILLS = 100_000;
export const MAX_PAGE_BYTES: number = 2 * 1024 * 1024 * 1024;
export const MAX_PAGE_FILES = 200_000;

/** Names the parts of an index that would be too large; beside the index, which has it as `parts`. */
export const HEAD_NAME = 'index-parts.json';

/** Characters of a description. */
export const MAX_DESCRIPTION = 1024;

/** One skill as the index of a page names it. */
export interface IndexEntry {
  /** 1-64 lower-case letters, digits and single hyphens. */
  readonly name: string;
  /** `skill-md`: the artifact is SKILL.md; `archive`: a .tar.gz or .zip with SKILL.md at its top. */
  readonly type: 'skill-md' | 'archive';
  readonly description: string;
  /** Absolute. */
  readonly url: string;
  /** `sha256:<64 hex>` of the bytes of the artifact. */
  readonly digest: string;
}

export interface PageIndex {
  readonly entries: readonly IndexEntry[];
  /** Problems of the others. */
  readonly refused: readonly string[];
  /** Whether the page has more skills than these, which its parts name (`page-parts.ts`). */
  readonly hasParts: boolean;
}

/** @param url - Where the index is. @throws ORIGIN_REFUSED for another format. */
export function readIndex(bytes: Buffer, url: string): PageIndex {
  const document = indexDocument.safeParse(jsonOf(bytes));
  if (!document.success) throw originRefused(url, 'it is no index: expected { $schema, skills: [...] }.');
  const { $schema, skills, parts } = document.data;
  if ($schema !== INDEX_SCHEMA) {
    const found = $schema === undefined ? 'none, which is 0.1.0 and has no digests' : oneLine(String($schema), 100);
    throw originRefused(url, `expected $schema "${INDEX_SCHEMA}", found ${found}.`);
  }
  const entries = new Map<string, IndexEntry>();
  const refused: string[] = [];
  for (const [at, skill] of skills.entries()) {
    const entry = readIndexEntry(skill, at, url);
    if (typeof entry === 'string') refused.push(entry);
    else if (entries.has(entry.name)) refused.push(`"${entry.name}" is named a second time.`);
    else entries.set(entry.name, entry);
  }
  return { entries: [...entries.values()], refused, hasParts: parts === HEAD_NAME };
}

/** @throws ORIGIN_REFUSED. */
export function assertDigest(bytes: Buffer, { digest, name }: Pick<IndexEntry, 'digest' | 'name'>): void {
  const found = digestOf(bytes);
  if (found !== digest) throw originRefused(`"${name}"`, `the index says ${digest}, its bytes are ${found}.`);
}

/** Whether the index of a page can name a skill so. */
export function isSkillName(name: string): boolean {
  return SKILL_NAME.test(name);
}

// --- internal ---

const SKILL_NAME = /^(?!.*--)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/;
const indexDocument = z.object({
  $schema: z.unknown().optional(),
  parts: z.unknown().optional(),
  skills: z.array(z.unknown()).max(MAX_ENTRIES),
});
const indexEntry = z.object({
  name: z.string().regex(SKILL_NAME),
  type: z.enum(['skill-md', 'archive']),
  description: z.string().min(1).max(MAX_DESCRIPTION),
  url: z.string().min(1).max(2000),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
});

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Otherwise the problem with it. */
function readIndexEntry(value: unknown, at: number, url: string): IndexEntry | string {
  const parsed = indexEntry.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `Skill number ${at + 1} is no entry (${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'unknown'}).`;
  }
  if (!URL.canParse(parsed.data.url, url)) return `The address of "${parsed.data.name}" is none.`;
  const { href, username, password } = new URL(parsed.data.url, url);
  if (username !== '' || password !== '')
    return `The address of "${parsed.data.name}" has a user name or a password in it.`;
  return { ...parsed.data, url: href };
}
