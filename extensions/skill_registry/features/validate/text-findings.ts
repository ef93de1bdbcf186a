import { isUtf8 } from 'node:buffer';
import { withFallback } from '../../../../lib/errors/index.ts';
import { isPrivatePath, listContained, readContained } from '../../../../lib/files/index.ts';
import { findHiddenText, findKeys, oneLine, shorten, showName } from '../../../../lib/text/index.ts';

/** Text in a file or a file name that people do not see, or see in another order than models. */
export interface HiddenFinding {
  /** Relative to the skill. */
  readonly path: string;
  /** 1-based; undefined for a finding in the name. */
  readonly line?: number;
  readonly message: string;
}

/** Empty when the file is not UTF-8 text. */
export function hiddenInText(path: string, bytes: Uint8Array): readonly HiddenFinding[] {
  if (!isUtf8(bytes)) return [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const found = findHiddenText(text);
  if (!found) return [];
  const lineAt = (offset: number): number => text.slice(0, offset).split(/\r\n|\n|\r/).length;
  const { hidden, says, turned, firstHidden, firstTurned } = found;
  return [
    ...(hidden > 0 ? [{ path, line: lineAt(firstHidden), message: messageOf(hidden, HIDDEN, says) }] : []),
    ...(turned > 0 ? [{ path, line: lineAt(firstTurned), message: messageOf(turned, TURNED) }] : []),
  ];
}

/** Each name of a file or folder once. Paths are relative to one folder, or absolute. */
export function hiddenInNames(paths: readonly string[]): readonly HiddenFinding[] {
  const prefixes = paths.flatMap((path) => {
    const names = path.split('/');
    return names.map((_, index) => names.slice(0, index + 1).join('/'));
  });
  return [...new Set(prefixes)].flatMap((path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (showName(name) === name) return [];
    const message = `The name ${JSON.stringify(shorten(showName(name), 120))} has characters that are invisible or change the direction of text. Rename it.`;
    return [{ path, message }];
  });
}

export interface TextFinding extends HiddenFinding {
  readonly code: 'HIDDEN_CHARACTERS' | 'KEY_OR_TOKEN';
}

/** Of the first 512 files, with SKILL.md. Links are not read. `directory` is a real path. */
export function textFindingsBelow(directory: string): readonly TextFinding[] {
  const paths = filesBelow(directory);
  // A file that cannot be read is empty: no model can read it either.
  const bytesOf = (path: string) => withFallback(() => readContained(directory, path, MAX_BYTES), new Uint8Array());
  const read = paths.map((path) => ({ path, bytes: bytesOf(path) }));
  const hidden = [...hiddenInNames(paths), ...read.flatMap(({ path, bytes }) => hiddenInText(path, bytes))];
  const keys = read.flatMap(({ path, bytes }) => (isPrivatePath(path) ? [] : keysInText(path, bytes)));
  return [
    ...hidden.map((finding) => ({ ...finding, code: 'HIDDEN_CHARACTERS' as const })),
    ...keys.map((finding) => ({ ...finding, code: 'KEY_OR_TOKEN' as const })),
  ];
}

// --- internal ---

/** The maximum size of a SKILL.md. Larger files are never handed out. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_FILES = 512;
const MAX_FOLDERS = 512;

const HIDDEN = 'Hidden characters, which models read and people do not see (Unicode tags or selectors)';
const TURNED = 'Bidi controls, which change the direction of text, so that people and models may read it differently';

function messageOf(count: number, what: string, spelled = ''): string {
  return `${what}: ${count}${spelled === '' ? '' : `; they spell ${JSON.stringify(oneLine(spelled, 160))}`}. Remove them.`;
}

function keysInText(path: string, bytes: Uint8Array): readonly HiddenFinding[] {
  if (!isUtf8(bytes)) return [];
  const keys = [...findKeys(Buffer.from(bytes).toString('utf8'))].flatMap((key) => key ?? []);
  const first = new Map(keys.reverse().map((key) => [key.masked, key]));
  return [...first.values()].reverse().map(({ what, masked, line }) => {
    const message = `It contains what looks like ${what}: ${oneLine(masked, 200)}. Have it replaced by a new one, and name the variable or program that holds it.`;
    return { path, line, message };
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
