import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { withFallback } from '../../../../lib/errors/index.ts';
import { readContained } from '../../../../lib/files/index.ts';
import { type EncodingFault, encodingFault } from '../../core/sources/walk/encoding-fault.ts';
import { isSkillFileName } from '../../core/sources/walk/names.ts';

/** Prefers `SKILL.md`; undefined when neither is a file. */
export function findSkillMd(directory: string): string | undefined {
  return ['SKILL.md', 'skill.md'].map((name) => join(directory, name)).find((path) => isKind(path, 'file'));
}

/** Else a file whose name differs in letter case only, as the loader accepts it. */
export function findAnySkillMd(directory: string): string | undefined {
  const names = withFallback(() => readdirSync(directory), []).filter(isSkillFileName);
  return findSkillMd(directory) ?? names.map((name) => join(directory, name)).find((path) => isKind(path, 'file'));
}

/** Follows links. False also without permission. */
export function isKind(path: string, kind: 'file' | 'directory' | 'anything'): boolean {
  const stats = withFallback(() => statSync(path));
  if (!stats || kind === 'anything') return stats !== undefined;
  return kind === 'file' ? stats.isFile() : stats.isDirectory();
}

/** With the byte order mark. */
export type SkillMdText =
  | {
      readonly text: string;
      /** Undefined for UTF-8 text; else `text` has U+FFFD for invalid bytes. */
      readonly fault: EncodingFault | undefined;
    }
  | { readonly unreadable: string };

/** Reads at most 4 MiB, does not wait for a FIFO, never throws. `file` is absolute; links are followed. */
export function readSkillMd(file: string): SkillMdText {
  try {
    const real = realpathSync(file);
    const bytes = readContained(dirname(real), basename(real), MAX_BYTES);
    return { text: bytes.toString('utf8'), fault: encodingFault(bytes) };
  } catch (error) {
    return { unreadable: isCodedError(error) ? error.message : `SKILL.md cannot be read: ${String(error)}` };
  }
}

// --- internal ---

const MAX_BYTES = 4 * 1024 * 1024;
