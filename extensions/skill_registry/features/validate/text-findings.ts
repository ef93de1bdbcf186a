import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import { isPrivatePath, listContained, readContained } from '../../../../lib/files/index.ts';
import { findHiddenText, findKeys, oneLine, shorten, showName } from '../../../../lib/text/index.ts';
import type { Snapshot } from '../../core/catalog/snapshot.ts';
import type { Reading } from '../../core/read/types.ts';
import type { Skill } from '../../core/skill/skill.ts';

/** Text in a file or a file name that people do not see, or see in another order than models; a key; a token. */
interface TextFinding {
  readonly code: 'HIDDEN_CHARACTERS' | 'KEY_OR_TOKEN';
  /** Relative to the skill. */
  readonly path: string;
  /** 1-based; undefined for a finding in the name. */
  readonly line?: number;
  readonly message: string;
}

/** HIDDEN_CHARACTERS for files and file names of all skills. Reads no file that would have to be fetched. */
export async function hiddenTextOf(
  { byQualifiedId }: Snapshot,
  reading: Pick<Reading, 'readBytes' | 'resources'>,
): Promise<readonly Problem[]> {
  // Several sources may contain one file.
  const skills = new Map([...byQualifiedId.values()].map((skill) => [skill.realFile ?? skill.qualifiedId, skill]));
  const folders = hiddenInNames([...skills.values()].flatMap(({ dir }) => dir ?? []));
  const problems = folders.map((finding) => problemIn(finding.path, finding));
  for (const [done, skill] of [...skills.values()].entries()) {
    const paths = reading.resources(skill.qualifiedId).map(({ path }) => path);
    problems.push(...hiddenInNames(paths).map((finding) => problemOf(skill, finding)));
    for (const path of skill.remote ? [] : [undefined, ...paths]) {
      await takeBreak(done, skills.size);
      const options = { countsAsLoad: false, ...(path === undefined ? {} : { path }) };
      // Models cannot read a file that was removed or is too large either.
      const bytes = await reading.readBytes(skill.qualifiedId, options).catch(() => new Uint8Array());
      problems.push(...hiddenInText(path ?? '', bytes).map((finding) => problemOf(skill, finding)));
    }
  }
  return problems;
}

/** Each name of a file or folder once. Paths are relative to one folder, or absolute. */
export function hiddenInNames(paths: readonly string[]): readonly TextFinding[] {
  const prefixes = paths.flatMap((path) => {
    const names = path.split('/');
    return names.map((_, index) => names.slice(0, index + 1).join('/'));
  });
  return [...new Set(prefixes)].flatMap((path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (showName(name) === name) return [];
    const message = `The name ${JSON.stringify(shorten(showName(name), 120))} has characters that are invisible or change the direction of text. Rename it.`;
    return [{ code: 'HIDDEN_CHARACTERS', path, message }];
  });
}

/** Of the first 512 files, with SKILL.md. Links are not read. `directory` is a real path. */
export function textFindingsBelow(directory: string): readonly TextFinding[] {
  const paths = filesBelow(directory);
  // A file that cannot be read is empty: no model can read it either.
  const bytesOf = (path: string) => withFallback(() => readContained(directory, path, MAX_BYTES), new Uint8Array());
  const read = paths.map((path) => ({ path, bytes: bytesOf(path) }));
  const hidden = [...hiddenInNames(paths), ...read.flatMap(({ path, bytes }) => hiddenInText(path, bytes))];
  return [...hidden, ...read.flatMap(({ path, bytes }) => (isPrivatePath(path) ? [] : keysInText(path, bytes)))];
}

// --- internal ---

function problemOf({ file, dir }: Skill, finding: TextFinding): Problem {
  return problemIn(finding.path === '' || dir === null ? file : join(dir, finding.path), finding);
}

function problemIn(file: string, { path, ...finding }: TextFinding): Problem {
  return { severity: 'warning', file, ...finding };
}

/** The maximum size of a SKILL.md. Larger files are never handed out. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_FILES = 512;
const MAX_FOLDERS = 512;

const HIDDEN = 'Hidden characters, which models read and people do not see (Unicode tags or selectors)';
const TURNED = 'Bidi controls, which change the direction of text, so that people and models may read it differently';

/** Empty when the file is not UTF-8 text. */
function hiddenInText(path: string, bytes: Uint8Array): readonly TextFinding[] {
  if (!isUtf8(bytes)) return [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const found = findHiddenText(text);
  if (!found) return [];
  const { hidden, says, turned, firstHidden, firstTurned } = found;
  const findingAt = (offset: number, message: string): TextFinding => {
    const line = text.slice(0, offset).split(/\r\n|\n|\r/).length;
    return { code: 'HIDDEN_CHARACTERS', path, line, message };
  };
  return [
    ...(hidden > 0 ? [findingAt(firstHidden, messageOf(hidden, HIDDEN, says))] : []),
    ...(turned > 0 ? [findingAt(firstTurned, messageOf(turned, TURNED))] : []),
  ];
}

function messageOf(count: number, what: string, spelled = ''): string {
  return `${what}: ${count}${spelled === '' ? '' : `; they spell ${JSON.stringify(oneLine(spelled, 160))}`}. Remove them.`;
}

function keysInText(path: string, bytes: Uint8Array): readonly TextFinding[] {
  if (!isUtf8(bytes)) return [];
  const keys = [...findKeys(Buffer.from(bytes).toString('utf8'))].flatMap((key) => key ?? []);
  const first = new Map(keys.reverse().map((key) => [key.masked, key]));
  return [...first.values()].reverse().map(({ what, masked, line }) => {
    const message = `It contains what looks like ${what}: ${oneLine(masked, 200)}. Have it replaced by a new one, and name the variable or program that holds it.`;
    return { code: 'KEY_OR_TOKEN', path, line, message };
  });
}

function filesBelow(directory: string): readonly string[] {
  const files: string[] = [];
  const folders = [''];
  for (let index = 0; index < folders.length && index < MAX_FOLDERS && files.length < MAX_FILES; index++) {
    const below = folders[index] as string;
    for (const { name, kind } of withFallback(() => listContained(directory, below), [])) {
      const path = below ? `${below}/${name}` : name;
      if (kind === 'file') files.push(path);
      else if (kind === 'directory' && name !== 'node_modules') folders.push(path);
    }
  }
  return files.slice(0, MAX_FILES);
}
