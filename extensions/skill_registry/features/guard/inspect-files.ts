import { describeError, isCodedError } from 'skill-registry/kernel';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { digestOf, digestOfLines } from '../../../../lib/digest/index.ts';
import { foldLine, oneLine } from '../../../../lib/text/index.ts';
import { MAX_FRONTMATTER, splitFrontmatter } from '../../core/skill/frontmatter.ts';
import type { Finding, InspectedFile, JudgedFile } from '../../core/skill/guard.ts';
import { parseSkill } from '../../core/skill/parse-skill.ts';
import { readYamlFields } from '../../core/skill/yaml-fields.ts';
import { type DigestedFile, inspectSkill } from './inspect/inspect-skill.ts';
import type { Inspection } from './inspect/rule.ts';
import type { Inspections } from './inspections.ts';
import { isOddName, MOST_TOGETHER, textsShown } from './texts-shown.ts';

export interface InspectedSkill {
  readonly digest: string;
  /** Of SKILL.md, the first file. */
  readonly skillDigest: string;
  readonly inspection: Inspection;
  /** Digests by path; '' for a file that was not read. */
  readonly files: ReadonlyMap<string, string>;
  /** Whether the judged file is the same on disk. */
  readonly isPresent: boolean;
}

/** A file, or a note about one that was not read; undefined is a break. */
export type ReadPart = InspectedFile | Finding | undefined;
type Read = () => Iterable<ReadPart>;
export type KnownInspections = Pick<Inspections, 'inspectionOf' | 'resultsOf' | 'keepResult'>;

/** Of all files that are inspected together, in any order; equals `InspectedSkill.digest`. */
export function digestOfRead(read: Iterable<ReadPart>): string {
  const lines: string[] = [];
  for (const one of read) if (one) lines.push('rule' in one ? lineOfNote(one) : lineOfFile(one, digestOf(one.bytes)));
  return digestOfLines(lines);
}

/** Inspects what is not known. `judged` replaces the file with its path. @param pause - Between steps. */
export async function inspectFiles(
  readAll: Read,
  known?: KnownInspections,
  judged?: JudgedFile,
  pause: () => Promise<void> = takeBreak,
): Promise<InspectedSkill> {
  let isPresent = true;
  const read = judged ? withFile(readAll, judged, () => (isPresent = false)) : readAll;
  let found = await readFiles(read, KEPT_BYTES, judged, pause);
  let inspection = known?.inspectionOf(found.digest);
  if (!inspection) {
    // A second read may give other files: the digest must be of those that are inspected.
    if (!found.kept) found = await readFiles(read, Number.POSITIVE_INFINITY, judged, pause);
    const kept = found.kept ?? [];
    inspection = await inspectOrBlock(kept, found.notes, known, pause);
    // What is shown of a frontmatter is not what stands there: lines are joined, and fields are.
    const keys = new Set(inspection.findings.flatMap((one) => (one.level === 'block' ? wordsKey(one) : [])));
    const shown = [...(await findingsOfHeader(kept)), ...(await findingsOfNames([...found.files.keys()]))];
    // A person who allows what stands in the file has not seen these.
    const more = shown.filter((one) => !keys.has(wordsKey(one)));
    if (more.length > 0) inspection = { ...inspection, verdict: 'block', findings: withBlocks(inspection, more) };
  }
  const { digest, skillDigest, files } = found;
  return { digest, skillDigest, files, inspection, isPresent };
}

/** Findings of level `block` in what is shown of frontmatters, each text on lines of its own. */
export async function findingsOfTexts(texts: readonly string[]): Promise<readonly Finding[]> {
  const bytes = Buffer.from(`---\n${texts.join('\n\n')}\n---\n`);
  const { findings } = await inspectOrBlock([{ path: 'SKILL.md', bytes }], []);
  return findings.filter(({ level }) => level === 'block');
}

/** The same in names and paths, which are `file` of a finding. */
export async function findingsOfNames(names: readonly string[]): Promise<readonly Finding[]> {
  const odd = names.filter(isOddName);
  if (odd.length === 0) return [];
  const texts = odd.map(textOfName);
  const isLong = odd.length > 1 && texts.reduce((sum, text) => sum + text.length, 0) > MOST_TOGETHER;
  const found = isLong ? [] : await findingsOfTexts(texts);
  if (odd.length === 1) return found.map(({ line: _, ...finding }) => ({ ...finding, file: odd[0] ?? '' }));
  if (!isLong && found.length === 0) return [];
  const half = odd.length >> 1;
  return [...(await findingsOfNames(odd.slice(0, half))), ...(await findingsOfNames(odd.slice(half)))];
}

// --- internal ---

const wordsKey = ({ rule, excerpt }: Finding): string => `${rule} ${excerpt}`;

function withBlocks({ findings }: Inspection, blocks: readonly Finding[]): readonly Finding[] {
  const others = findings.findIndex(({ level }) => level !== 'block');
  return findings.toSpliced(others === -1 ? findings.length : others, 0, ...blocks);
}

/** A path up to each of its folders, where a command may end. No line begins as a heading or a block of code. */
function textOfName(name: string): string {
  const ends = [...name.matchAll(/\/|$/g)].map(({ index }) => name.slice(0, index));
  return ends
    .filter(isOddName)
    .map((one) => `name: ${foldLine(one)}`)
    .join('\n\n');
}

const KEPT_BYTES = 16 * 1024 * 1024;

interface ReadFiles extends Pick<InspectedSkill, 'digest' | 'skillDigest' | 'files'> {
  /** Undefined when there are more bytes. */
  readonly kept: readonly DigestedFile[] | undefined;
  /** About what was not read. */
  readonly notes: readonly Finding[];
}

async function readFiles(
  read: Read,
  keptBytes: number,
  judged: JudgedFile | undefined,
  pause: () => Promise<void>,
): Promise<ReadFiles> {
  const lines: string[] = [];
  const files = new Map<string, string>();
  const kept: DigestedFile[] = [];
  const notes: Finding[] = [];
  let [bytes, skillDigest] = [0, ''];
  for (const one of read()) {
    await pause();
    if (!one) continue;
    if ('rule' in one) {
      notes.push(one);
      lines.push(lineOfNote(one));
      if (!files.has(one.file)) files.set(one.file, '');
      continue;
    }
    const digest = one.bytes === judged?.bytes ? judged.digest : digestOf(one.bytes);
    skillDigest ||= digest;
    files.set(one.path, digest);
    lines.push(lineOfFile(one, digest));
    bytes += one.bytes.length;
    if (bytes <= keptBytes) kept.push({ ...one, digest });
  }
  return { digest: digestOfLines(lines), skillDigest, files, kept: bytes <= keptBytes ? kept : undefined, notes };
}

/** Also fields that this registry ignores: others read them. What it cannot read is judged as one line. */
async function findingsOfHeader(files: readonly InspectedFile[]): Promise<readonly Finding[]> {
  const text = new TextDecoder().decode(files.find(({ path }) => path === 'SKILL.md')?.bytes);
  const { yaml = '' } = splitFrontmatter(text);
  const { header } = parseSkill(text, 'SKILL.md', 'skill');
  const { data, error } = yaml.length > MAX_FRONTMATTER ? { error: true } : readYamlFields(yaml);
  const found = await findingsOfTexts(textsShown([header, error ? { yaml } : data]));
  return found.map(({ line: _, ...finding }) => finding);
}

function lineOfNote({ message, file }: Finding): string {
  return `size:${message} ${inOneLine(file)}`;
}

function lineOfFile({ path, bytes, executable }: InspectedFile, digest: string): string {
  return `${digest} ${bytes.length} ${executable ? 755 : 644} ${inOneLine(path)}`;
}

function withFile(read: Read, { path, bytes }: JudgedFile, differs: () => void): Read {
  return function* () {
    let isThere = false;
    for (const one of read()) {
      const isJudged = one !== undefined && !('rule' in one) && one.path === path;
      if (isJudged && Buffer.compare(one.bytes, bytes) !== 0) differs();
      isThere ||= isJudged;
      yield isJudged ? { ...one, bytes } : one;
    }
    if (isThere) return;
    differs();
    yield { path, bytes };
  };
}

/** A line break in a name must not begin a line: different lists of files must have different lines. */
function inOneLine(path: string): string {
  return /\n|^"/.test(path) ? JSON.stringify(path) : path;
}

/** Files that cannot be inspected are held: an attacker could make them so. */
async function inspectOrBlock(
  files: readonly DigestedFile[],
  notes: readonly Finding[],
  known?: KnownInspections,
  pause?: () => Promise<void>,
): Promise<Inspection> {
  try {
    const { verdict, findings, reach } = await inspectSkill(files, known, pause);
    return {
      verdict: verdict === 'info' && notes.length > 0 ? 'warn' : verdict,
      findings: [...findings, ...notes],
      reach,
    };
  } catch (error) {
    if (isCodedError(error)) throw error;
    const message = `The inspection failed: ${oneLine(describeError(error), 200)}`;
    const finding: Finding = { rule: 'inspection-failed', level: 'block', file: 'SKILL.md', excerpt: '', message };
    return { verdict: 'block', findings: [finding, ...notes], reach: [] };
  }
}
