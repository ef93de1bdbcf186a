import type { Skill as Entry, SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { describeError, type Problem } from 'skill-registry/kernel';
import { yamlPackage } from '../../../../kernel/host.ts';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import { relativeSegments } from '../../../../lib/files/index.ts';
import { needsFolding, oneLine } from '../../../../lib/text/index.ts';
import { parseSkill } from '../../core/skill/parse-skill.ts';
import { quotedName, type Skill, type SkillListing } from '../../core/skill/skill.ts';
import { makeSkill } from '../../core/sources/make-skill.ts';
import { freeId } from '../../core/sources/source.ts';
import { withoutPrivate } from '../../core/sources/walk/list-files.ts';

export type { Entry };

type McpFiles = ReadonlyMap<string, Exclude<Entry['resources'], 'dynamic'>[number]>;

/** `invalid`: entries that break the rules of SEP-2640 or agentskills.io. `ttlMs`: how long it stays valid. */
export type McpListing = Awaited<ReturnType<SkillsClient['list']>>;

export interface McpListedSkill {
  readonly skill: Skill;
  readonly entry: Entry;
  /** SKILL.md as generated from the entry's frontmatter: all that is known before it is read. */
  readonly header: string;
  readonly digest: string;
  /** All files by path; SKILL.md always under that name. */
  readonly files: McpFiles;
  readonly listing: SkillListing;
}

const MAX_ENTRIES = 10_000;
/** Characters of a frontmatter, as JSON in an entry, and in a file. */
export const MAX_FRONTMATTER = 65_536;
/** Files per skill, and their bytes together: the limits of SEP-2640. */
const MAX_FILES = 512;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_PROBLEMS = 100;

export const SKILL_MD = 'SKILL.md';

/** Problems: MCP_SKILL_REFUSED for an unusable entry, and those of its fields. @param maxBytes - Of SKILL.md. */
export async function skillsOf(
  { skills: entries, invalid }: McpListing,
  source: string,
  maxBytes: number,
): Promise<{ readonly skills: readonly McpListedSkill[]; readonly problems: readonly Problem[] }> {
  const skills: McpListedSkill[] = [];
  const problems: Problem[] = [];
  const taken = new Set<string>();
  const refuse = (uri: string, reason: string): void => void problems.push(refused(uri, source, reason));
  for (const { uri = source, reason } of invalid) refuse(uri, reason);
  if (entries.length > MAX_ENTRIES)
    refuse(source, `it lists ${entries.length} skills, and only the first ${MAX_ENTRIES} are used`);
  for (const entry of entries.slice(0, MAX_ENTRIES)) {
    await takeBreak();
    try {
      const found = skillOf(entry, source, maxBytes, taken);
      taken.add(found.skill.qualifiedId);
      skills.push(found);
      problems.push(...found.problems);
    } catch (error) {
      refuse(entry.uri, describeError(error));
    }
  }
  return { skills, problems: atMost(problems, source) };
}

export function refused(uri: string, source: string, reason: string): Problem {
  const message = `A skill of the MCP server "${source}" is not used: ${oneLine(reason, 300).replace(/\.$/, '')}. Tell those who run that server.`;
  return { code: 'MCP_SKILL_REFUSED', severity: 'warning', file: oneLine(uri, 300), message };
}

// --- internal ---

/** @throws an Error that says why the entry is not used. */
function skillOf(entry: Entry, source: string, maxBytes: number, taken: ReadonlySet<string>) {
  const files = filesOf(entry);
  const own = files.get(SKILL_MD);
  if (!own) throw new Error('its SKILL.md is not among its files');
  if (own.size > maxBytes)
    throw new Error(`its SKILL.md has ${own.size} bytes, more than limits.file_bytes (${maxBytes})`);
  const { name: id } = entry.frontmatter;
  const header = headerOf(entry);
  const { header: fields, problems } = parseSkill(header, entry.uri, id);
  if (!fields) throw new Error(problems.map(({ message }) => message).join(' ') || 'it has nothing to load');
  const qualifiedId = freeId(`${source}:${pathOf(entry.uri)}`, taken);
  const identity = { id, qualifiedId, source, file: entry.uri, dir: null, realFile: null };
  const skill: Skill = { ...makeSkill(fields, identity, own.digest, own.size), remote: true };
  const others = [...files].filter(([path]) => path !== SKILL_MD).map(([path, { size }]) => ({ path, size }));
  const label = `The skill ${quotedName(id)} of the MCP server "${source}": `;
  return {
    skill,
    entry,
    header,
    digest: entryDigest(header, files),
    files,
    listing: withoutPrivate(others.sort((a, b) => (a.path < b.path ? -1 : 1))),
    // Line numbers would be those of the generated text.
    problems: problems.map(({ line: _line, ...problem }) => ({ ...problem, message: label + problem.message })),
  };
}

function headerOf({ frontmatter }: Entry): string {
  const { length } = JSON.stringify(frontmatter);
  if (length > MAX_FRONTMATTER)
    throw new Error(`its frontmatter has ${length} characters, more than ${MAX_FRONTMATTER}`);
  return `---\n${yamlPackage().stringify(frontmatter, { lineWidth: 0, aliasDuplicateObjects: false })}---\n`;
}

function filesOf({ uri, resources }: Entry): McpFiles {
  if (resources === 'dynamic') throw new Error('its files have no digests ("dynamic"), so they could not be checked');
  if (resources.length > MAX_FILES) throw new Error(`it has more than ${MAX_FILES} files`);
  const size = resources.reduce((sum, one) => sum + one.size, 0);
  if (size > MAX_BYTES) throw new Error(`its files have ${size} bytes, more than ${MAX_BYTES}`);
  const root = uri.slice(0, -SKILL_MD.length);
  return new Map(resources.map((one) => [relativePath(one.uri, root), one]));
}

/** Includes the frontmatter: it may differ from SKILL.md's, which is noticed only when SKILL.md is read. */
function entryDigest(header: string, files: McpFiles): string {
  const lines = [...files].map(([path, { digest, size }]) => `${digest} ${size} 644 ${path}\n`);
  return digestOf(lines.sort().join('') + header);
}

/** The path of a file below its skill; lists show it, and agents repeat it. */
function relativePath(uri: string, root: string): string {
  const given = uri.startsWith(root) ? uri.slice(root.length) : '';
  const path = given.split('/').map(decodeURIComponent).join('/');
  if (relativeSegments(path).join('/') === path && !needsFolding(path)) return path;
  throw new Error(`one of its files has the address ${quotedName(uri)}, which gives no usable path`);
}

function pathOf(uri: string): string {
  const path = uri.slice(0, -`/${SKILL_MD}`.length).replace(/^[a-z][a-z\d+.-]*:\/*/i, '');
  if (/^[\w!$&'()*+,;=:@%./~-]+$/.test(path)) return path;
  throw new Error('its address has characters that no address has');
}

function atMost(problems: readonly Problem[], source: string): readonly Problem[] {
  if (problems.length <= MAX_PROBLEMS) return problems;
  const left = problems.length - MAX_PROBLEMS;
  return [...problems.slice(0, MAX_PROBLEMS), refused(source, source, `${left} more problems are not shown`)];
}
