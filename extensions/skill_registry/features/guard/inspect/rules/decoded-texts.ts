import { matchesOf } from '../../../../../../lib/text/index.ts';
import type { ClassifiedFile, Match } from '../rule.ts';

/** Encoded texts that decode to a command. Linear time: decoded text is at most as long as encoded text. */
export function* encodedCommands({ text }: ClassifiedFile): Generator<Match | undefined> {
  let line = 1;
  for (let from = 0; from < text.length; ) {
    yield undefined;
    const end = text.indexOf('\n', from + PART) + 1 || text.length;
    // A very long line is cut: encoded text in it still begins in one of the parts.
    const part = text.slice(from, Math.min(end, from + 2 * PART));
    for (const { written, decoded, at } of encodedIn(part)) {
      const command = commandOf(decoded, 2);
      if (command === undefined) continue;
      const message = `A text that decodes to a command: "${command.slice(0, 160)}"`;
      yield { line: line + part.slice(0, at).split('\n').length - 1, words: written, message };
    }
    line += part.split('\n').length - 1;
    from += part.length;
  }
}

// --- internal ---

const PART = 8000;

/** A whole run, tried where one begins. */
const BASE64 = /(?<![\w+/-])[\w+/-]{20,}={0,2}(?![\w+/=-])/g;
const HEX = /(?<![\w])(?:0x)?(?:[0-9a-fA-F]{2}){12,}(?![\w])/g;
/** Lists of characters by number, with the base of the numbers. */
const ESCAPES: readonly (readonly [RegExp, number])[] = [
  [/(?:\\x[0-9a-fA-F]{2}){8,}/g, 16],
  [/(?:\\u00[0-9a-fA-F]{2}){8,}/g, 16],
  [/(?:\\[0-7]{3}){8,}/g, 8],
  [/(?:%[0-9a-fA-F]{2}){8,}/g, 16],
  [/(?:\b\d{2,3}\b[\s,]{1,3}){11,}\d{2,3}\b/g, 10],
  [/(?:\b0x[0-9a-fA-F]{2}\b[\s,]{1,3}){11,}0x[0-9a-fA-F]{2}\b/g, 16],
];
const QUOTED = /["'][^"'\n]{12,400}["']/g;

/** A whole command, not only a word that is also the name of a program. */
const COMMAND =
  /\b(?:curl|wget|iwr|irm|invoke-webrequest)\s[^\n]{0,200}(?:https?:|ftp:|\d{1,3}\.\d{1,3}\.|\|\s*(?:ba|z)?sh)|\/bin\/(?:ba|z|da)?sh\b|\b(?:ba|z)?sh\s+-[ic]\s|\/dev\/tcp\/|\bpowershell(?:\.exe)?\s+-|\biex[\s(]|\binvoke-expression|\bosascript\s+-e|\bchmod\s\+x|\bnc\s+-\w|\bpython[\d.]*\s+-c\s|\bos\.(?:system|popen)\(|\bsubprocess\.(?:run|call|popen)|\bchild_process\b|\bexec\(|__import__\(|\brm\s+-rf\s|\bdownloadstring\(/i;
/** Hashes and pictures decode to something that people cannot read. */
const READABLE = /^[\t\n\r -~]{8,}$/;

interface Encoded {
  readonly written: string;
  readonly decoded: string;
  readonly at: number;
}

function* encodedIn(part: string): Generator<Encoded> {
  for (const { 0: written, index: at } of matchesOf(part, BASE64)) {
    if (/^[a-zA-Z_-]*$|^[0-9a-f]+$/.test(written)) continue;
    const bytes = Buffer.from(written, 'base64');
    // Commands of PowerShell are encoded as UTF-16.
    yield { written, decoded: bytes.toString(bytes[1] === 0 ? 'utf16le' : 'latin1'), at };
  }
  for (const { 0: written, index: at } of matchesOf(part, HEX)) {
    yield { written, decoded: Buffer.from(written.replace(/^0x/, ''), 'hex').toString('latin1'), at };
  }
  for (const [pattern, base] of ESCAPES) {
    for (const { 0: written, index: at } of matchesOf(part, pattern)) {
      const codes = written.split(/\\x|\\u00|\\|%|[\s,]+/).filter((code) => code !== '');
      const decoded = codes.map((code) => String.fromCharCode(Number.parseInt(code, base))).join('');
      yield { written, decoded, at };
    }
  }
  if (!/hs\/|hsab|lruc|tegw/.test(part)) return;
  for (const { 0: written, index: at } of matchesOf(part, QUOTED)) {
    yield { written, decoded: [...written].reverse().join(''), at };
  }
}

function commandOf(decoded: string, depth: number): string | undefined {
  if (!READABLE.test(decoded.slice(0, 400))) return undefined;
  if (COMMAND.test(decoded)) return decoded;
  if (depth === 0) return undefined;
  for (const inner of encodedIn(decoded)) {
    const command = commandOf(inner.decoded, depth - 1);
    if (command !== undefined) return command;
  }
  return undefined;
}
