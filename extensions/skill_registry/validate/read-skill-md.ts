import { realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { readContained } from '../../../lib/files/index.ts';
import { type EncodingFault, encodingFault } from './encoding.ts';

const MAX_BYTES = 4 * 1024 * 1024;

/** The text of a SKILL.md, a byte order mark included, or why there is none. */
export type SkillMdText =
  | {
      readonly text: string;
      /** The bytes are not all UTF-8 text; `text` shows the odd ones as U+FFFD. */
      readonly fault: EncodingFault | undefined;
    }
  | { readonly unreadable: string };

/** Reads at most 4 MiB, waits for no FIFO and never throws. @param file - Absolute; links are followed. */
export function readSkillMd(file: string): SkillMdText {
  try {
    const real = realpathSync(file);
    const bytes = readContained(dirname(real), basename(real), MAX_BYTES);
    return { text: bytes.toString('utf8'), fault: encodingFault(bytes) };
  } catch (error) {
    return { unreadable: isCodedError(error) ? error.message : `SKILL.md cannot be read: ${String(error)}` };
  }
}
