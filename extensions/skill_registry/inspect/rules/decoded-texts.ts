import { matchesOf } from '../../../../lib/text/index.ts';
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
      yield { line: line + newlines(part.slice(0, at)), words: written, message };
    }
    line += newlines(part);
    from += part.length;
  }
}

// --- internal ---

const PART = 8000;

/** A whole run; tried where one begins. */
const BASE64 = /[A-Za-z0-9+/_-]{20,}={0,2}(?![\w+/=-])/y;
const HEX = /(?<![\w])(?:0x)?(?:[0-9a-fA-F]{2}){12,}(?![\w])/g;
const BASE64_RUN = 20;
const HEX_RUN = 24;
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
  for (const at of runsIn(part, BASE64_RUN, isOfBase64)) {
    BASE64.lastIndex = at;
    const [written = ''] = BASE64.exec(part) ?? [];
    if (/^[a-zA-Z_-]*$|^[0-9a-f]+$/.test(written)) continue;
    const bytes = Buffer.from(written, 'base64');
    // Commands of PowerShell are encoded as UTF-16.
    yield { written, decoded: bytes.toString(bytes[1] === 0 ? 'utf16le' : 'latin1'), at };
  }
  for (const { 0: written, index: at } of runsIn(part, HEX_RUN, isHex).next().done ? [] : matchesOf(part, HEX)) {
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

/** Starts of runs of at least `length` such characters. Reads only one in `length` characters where there are none. */
function* runsIn(text: string, length: number, isMember: (code: number) => boolean): Generator<number> {
  for (let at = length - 1; at < text.length; at += length) {
    if (!isMember(text.charCodeAt(at))) continue;
    let [from, to] = [at, at + 1];
    while (isMember(text.charCodeAt(from - 1))) from--;
    while (isMember(text.charCodeAt(to))) to++;
    if (to - from >= length) yield from;
    at = Math.max(at, to - length);
  }
}

function isHex(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
}

function isOfBase64(code: number): boolean {
  const letter = code | 32;
  return (code >= 47 && code <= 57) || (letter >= 97 && letter <= 122) || code === 43 || code === 45 || code === 95;
}

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
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
