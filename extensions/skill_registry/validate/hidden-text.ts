import { isUtf8 } from 'node:buffer';
import { listContained, readContained } from '../../../lib/files/index.ts';
import { findHiddenText, oneLine } from '../../../lib/text/index.ts';

/** Something in a file of a skill, or in its name, that people do not see or see in another order than models read it. */
export interface HiddenFinding {
  /** Of the file, below the skill. */
  readonly path: string;
  /** 1-based; absent when it is in the name. */
  readonly line?: number;
  readonly message: string;
}

/** What is hidden in the text of one file; nothing where it is no text. */
export function hiddenInText(path: string, bytes: Uint8Array): readonly HiddenFinding[] {
  if (!isUtf8(bytes)) return [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const found = findHiddenText(text);
  if (!found) return [];
  const at = (offset: number): number => text.slice(0, offset).split(/\r\n|\n|\r/).length;
  const { hidden, says, turned, firstHidden, firstTurned } = found;
  return [
    ...(hidden > 0 ? [{ path, line: at(firstHidden), message: messageOf(hidden, HIDDEN, says) }] : []),
    ...(turned > 0 ? [{ path, line: at(firstTurned), message: messageOf(turned, TURNED) }] : []),
  ];
}

/** What is hidden in names of files and folders, each told once. @param paths - Below the skill. */
export function hiddenInNames(paths: readonly string[]): readonly HiddenFinding[] {
  const prefixes = paths.flatMap((path) => {
    const names = path.split('/');
    return names.map((_, index) => names.slice(0, index + 1).join('/'));
  });
  return [...new Set(prefixes)].flatMap((path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const found = findHiddenText(name);
    if (!found) return [];
    const message = `The name ${JSON.stringify(oneLine(name, 120))} has characters that cannot be seen, or that turn the direction of text. Rename it.`;
    return [{ path, message }];
  });
}

/** Everything hidden in the files of a skill, SKILL.md included, as far as they are no links and at most 512. @param directory - Real. */
export function hiddenBelow(directory: string): readonly HiddenFinding[] {
  const paths = filesBelow(directory);
  return [...hiddenInNames(paths), ...paths.flatMap((path) => hiddenInText(path, bytesOf(directory, path)))];
}

// --- internal ---

/** As large as a SKILL.md may be; what is larger is handed to nobody. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_FILES = 512;
const MAX_FOLDERS = 512;

const HIDDEN = 'Hidden characters, which models read and people do not see (Unicode tags or selectors)';
const TURNED = 'Bidi controls, which turn the direction of text, so that people and models may read it differently';

function messageOf(count: number, what: string, says = ''): string {
  return `${what}: ${count}${says === '' ? '' : `; they say ${JSON.stringify(oneLine(says, 160))}`}. Remove them.`;
}

function filesBelow(directory: string): readonly string[] {
  const files: string[] = [];
  const folders = [''];
  for (let at = 0; at < folders.length && at < MAX_FOLDERS && files.length < MAX_FILES; at++) {
    const below = folders[at] as string;
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

/** Nothing for what cannot be read: nobody else can read it either. */
function bytesOf(directory: string, path: string): Uint8Array {
  try {
    return readContained(directory, path, MAX_BYTES);
  } catch {
    return new Uint8Array();
  }
}
