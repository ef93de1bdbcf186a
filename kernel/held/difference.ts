import type { createTwoFilesPatch } from 'diff';
import { plural, printable } from '../../lib/text/index.ts';
import type { HeldExtension, HeldFile } from './held-extensions.ts';

/** All that a person must see: authors, a replaced extension, every changed line. Safe for a terminal. */
export async function describeHeld(held: HeldExtension, ownIds: readonly string[]): Promise<string> {
  const [{ createTwoFilesPatch }, { parseManifest }] = await Promise.all([
    import('diff'),
    import('../boot/manifest.ts'),
  ]);
  const text = held.files.find(({ path }) => path === 'manifest.yaml')?.after.toString('utf8');
  const id = text === undefined ? undefined : parseManifest(text, '').manifest?.id;
  return [
    `extensions/${held.name}: ${plural(held.files.length, 'file')} written by ${held.by.join(', ')}`,
    ...(id !== undefined && ownIds.includes(id) ? [`It replaces "${id}", which comes with the package.`] : []),
    ...held.files
      .filter((file) => file.changedSince)
      .map(({ path }) => `${escapedPath(path)} was changed by somebody else meanwhile.`),
    `digest ${held.digest}`,
    ...held.files.map((file) => differenceOf(file, createTwoFilesPatch)),
  ]
    .map(printableCode)
    .join('\n');
}

export function escapedPath(path: string): string {
  return JSON.stringify(path).slice(1, -1);
}

/** As `printable`, but also shows invisible characters that texts need, such as joiners: code can hide in them. */
export function printableCode(text: string): string {
  return printable(text).replace(/[\p{Cf}\p{Zl}\p{Zp}]|\p{Default_Ignorable_Code_Point}/gu, (char) => {
    return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

// --- internal ---

/** Texts that differ in more lines are shown whole: first the old, then the new one. */
const MAX_EDITS = 2_000;

function differenceOf({ path, before, after }: HeldFile, makePatch: typeof createTwoFilesPatch): string {
  const [old, next] = [utf8TextOf(before ?? Buffer.alloc(0)), utf8TextOf(after)];
  const from = old === undefined ? `: ${before?.length} bytes that are not UTF-8 text, not shown` : '';
  const to = next === undefined ? `: ${after.length} bytes that are not UTF-8 text, in hexadecimal` : '';
  const names = [
    `--- ${before === null ? '/dev/null' : `a/${escapedPath(path)}`}${from}`,
    `+++ b/${escapedPath(path)}${to}`,
  ];
  const lines = old === undefined || next === undefined ? undefined : hunksOf(old, next, makePatch);
  const hex = after.toString('hex').replace(/.{64}(?=.)/g, '$&\n');
  return [...names, ...(lines ?? [...linesOf('-', old ?? ''), ...linesOf('+', next ?? hex)])].join('\n').trimEnd();
}

function hunksOf(old: string, next: string, makePatch: typeof createTwoFilesPatch): readonly string[] | undefined {
  const patch = makePatch('', '', old, next, '', '', { context: 3, maxEditLength: MAX_EDITS });
  return patch?.match(/@@[\s\S]*/) ?? (patch === undefined ? undefined : []);
}

function linesOf(mark: string, text: string): readonly string[] {
  return text === '' ? [] : text.split('\n').map((line) => mark + line);
}

function utf8TextOf(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : undefined;
}
