import { isUtf8 } from 'node:buffer';
import { listContained, readContained } from '../../../lib/files/index.ts';
import { findHiddenText, oneLine, shorten, showName } from '../../../lib/text/index.ts';

/** Text in a file of a skill, or in a file name, that people do not see, or see in another order than models do. */
export interface HiddenFinding {
  /** Path of the file, relative to the skill. */
  readonly path: string;
  /** 1-based; absent for a finding in the name. */
  readonly line?: number;
  readonly message: string;
}

/** Finds hidden text in one file; empty when the file is not UTF-8 text. */
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

/** Finds hidden characters in the names of files and folders, each name once. @param paths - Relative to one folder, or absolute. */
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

/** Finds hidden text in the first 512 files of a skill, SKILL.md included. Links are not read. @param directory - Real path. */
export function hiddenBelow(directory: string): readonly HiddenFinding[] {
  const paths = filesBelow(directory);
  return [...hiddenInNames(paths), ...paths.flatMap((path) => hiddenInText(path, bytesOf(directory, path)))];
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

function filesBelow(directory: string): readonly string[] {
  const files: string[] = [];
  const folders = [''];
  for (let index = 0; index < folders.length && index < MAX_FOLDERS && files.length < MAX_FILES; index++) {
    const below = folders[index] as string;
    for (const { name, kind } of entriesOf(directory, below)) {
      const path = below ? `${below}/${name}` : name;
      if (kind === 'file') files.push(path);
      else if (kind === 'directory' && name !== 'node_modules') folders.push(path);
    }
  }
  return files.slice(0, MAX_FILES);
}

function entriesOf(directory: string, below: string): ReturnType<typeof listContained> {
  try {
    return listContained(directory, below);
  } catch {
    return [];
  }
}

/** Empty for a file that cannot be read: no model can read it either. */
function bytesOf(directory: string, path: string): Uint8Array {
  try {
    return readContained(directory, path, MAX_BYTES);
  } catch {
    return new Uint8Array();
  }
}
