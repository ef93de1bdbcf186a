import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** Content by path; `{ link }` makes a symbolic link, `{ content, mode }` a file with a mode. */
export type Tree = Readonly<
  Record<string, string | Uint8Array | { readonly link: string } | { readonly content: string; readonly mode: number }>
>;

/** Has `tidy` called when what a helper has made is no longer needed; what was handed over last, first. */
export type AtEnd = (tidy: () => void | Promise<void>) => void;

/** For what all tests of a `describe` share because they only read it. Call it in the block, and make it in `beforeAll`. */
export function atEndOfSuite(): AtEnd {
  const all: Parameters<AtEnd>[0][] = [];
  afterAll(async () => {
    for (const tidy of all.reverse()) await tidy();
  });
  return (tidy) => void all.push(tidy);
}

/** A real temporary folder (its path holds no links), removed when the test has finished, unless told otherwise. */
export function tempFolder(tree: Tree = {}, atEnd: AtEnd = onTestFinished): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'skill-registry-')));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  writeTree(dir, tree);
  return dir;
}

/** Writes files and links below `dir`, in the order given. */
export function writeTree(dir: string, tree: Tree): void {
  for (const [path, node] of Object.entries(tree)) {
    const file = join(dir, path);
    mkdirSync(dirname(file), { recursive: true });
    if (typeof node === 'string' || node instanceof Uint8Array) writeFileSync(file, node);
    else if ('link' in node) symlinkSync(node.link, file);
    else {
      writeFileSync(file, node.content);
      chmodSync(file, node.mode);
    }
  }
}

/** The text of a SKILL.md. `fields` are written as `key: value` lines, as they stand. */
export function skillMd(fields: Readonly<Record<string, string>>, body = 'Do it well.'): string {
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${value}`);
  return `---\n${lines.join('\n')}\n---\n\n${body}\n`;
}
