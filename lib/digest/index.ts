import { createHash } from 'node:crypto';

/** @returns `sha256:<64 hex>`; a text counts as its UTF-8 bytes. */
export function digestOf(content: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** In any order, each with a line feed. */
export function digestOfLines(lines: readonly string[]): string {
  return digestOf(
    lines
      .toSorted()
      .map((line) => `${line}\n`)
      .join(''),
  );
}
