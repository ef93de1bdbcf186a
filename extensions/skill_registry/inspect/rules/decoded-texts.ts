import { matchesOf } from '../../../../lib/text/index.ts';
import type { Match, ReadFile } from '../rule.ts';
import { rawLines } from '../scanned-line.ts';

/** Encoded texts of a file that say a command. Linear time: what is decoded is at most as long as what is written. */
export function* encodedCommands({ text }: ReadFile): Generator<Match | undefined> {
  for (const { raw, line } of rawLines(text)) {
    for (let from = 0; from < raw.length; from += MAX_LINE) {
      const part = raw.slice(from, from + MAX_LINE);
      if (part.length < MIN_ENCODED) continue;
      yield undefined;
      for (const words of encodedIn(part)) {
        const decoded = commandOf(words.decoded, 2);
        if (decoded === undefined) continue;
        yield { line, words: words.written, message: `A text that decodes to a command: "${decoded.slice(0, 160)}"` };
      }
    }
  }
}

// --- internal ---

const MIN_ENCODED = 20;
const MAX_LINE = 16_000;

const BASE64 = /(?<![\w+/-])[A-Za-z0-9+/_-]{20,}={0,2}(?![\w+/=-])/g;
const HEX = /(?<![\w])(?:0x)?(?:[0-9a-fA-F]{2}){12,}(?![\w])/g;
const ESCAPED = /(?:\\x[0-9a-fA-F]{2}){8,}/g;
const UNICODE = /(?:\\u00[0-9a-fA-F]{2}){8,}/g;
const OCTAL = /(?:\\[0-7]{3}){8,}/g;
const PERCENT = /(?:%[0-9a-fA-F]{2}){8,}/g;
const NUMBERS = /(?:\b(?:0x[0-9a-fA-F]{2}|\d{2,3})\b[\s,]{1,3}){11,}\d{2,3}\b/g;
const REVERSED = /["'][^"'\n]{12,400}["']/g;

/** What a person would call a command, not just a word that is also the name of a program. */
const COMMAND =
  /\b(?:curl|wget|iwr|irm|invoke-webrequest)\s[^\n]{0,200}(?:https?:|ftp:|\d{1,3}\.\d{1,3}\.|\|\s*(?:ba|z)?sh)|\/bin\/(?:ba|z|da)?sh\b|\b(?:ba|z)?sh\s+-[ic]\s|\/dev\/tcp\/|\bpowershell(?:\.exe)?\s+-|\biex[\s(]|\binvoke-expression|\bosascript\s+-e|\bchmod\s\+x|\bnc\s+-\w|\bpython[\d.]*\s+-c\s|\bos\.(?:system|popen)\(|\bsubprocess\.(?:run|call|popen)|\bchild_process\b|\bexec\(|__import__\(|\brm\s+-rf\s|\bdownloadstring\(/i;
/** Text that people can read: hashes and pictures decode to something else. */
const READABLE = /^[\t\n\r -~]{8,}$/;

interface Encoded {
  readonly written: string;
  readonly decoded: string;
}

function* encodedIn(part: string): Generator<Encoded> {
  for (const [written] of matchesOf(part, BASE64)) {
    if (/^[a-zA-Z_-]+$|^[0-9a-f]+$/.test(written)) continue;
    const bytes = Buffer.from(written, 'base64');
    yield { written, decoded: bytes.toString('latin1') };
    // Commands of PowerShell are encoded as UTF-16.
    if (bytes[1] === 0) yield { written, decoded: bytes.toString('utf16le') };
  }
  for (const [written] of matchesOf(part, HEX))
    yield { written, decoded: Buffer.from(written.replace(/^0x/, ''), 'hex').toString('latin1') };
  for (const [pattern, base] of [
    [ESCAPED, 16],
    [UNICODE, 16],
    [OCTAL, 8],
    [PERCENT, 16],
  ] as const) {
    for (const [written] of matchesOf(part, pattern)) {
      const codes = written.split(/\\x|\\u00|\\|%/).filter((code) => code !== '');
      yield { written, decoded: codes.map((code) => String.fromCharCode(Number.parseInt(code, base))).join('') };
    }
  }
  for (const [written] of matchesOf(part, NUMBERS))
    yield {
      written,
      decoded: written
        .split(/[\s,]+/)
        .map((code) => String.fromCharCode(Number(code)))
        .join(''),
    };
  if (/(?:hs\/|hsab|lruc|tegw)/.test(part)) {
    for (const [written] of matchesOf(part, REVERSED)) yield { written, decoded: [...written].reverse().join('') };
  }
}

/** The command in a decoded text, also when that is encoded once more. */
function commandOf(decoded: string, depth: number): string | undefined {
  if (!READABLE.test(decoded.slice(0, 400))) return undefined;
  if (COMMAND.test(decoded)) return decoded;
  if (depth === 0) return undefined;
  for (const inner of encodedIn(decoded.slice(0, MAX_LINE))) {
    const command = commandOf(inner.decoded, depth - 1);
    if (command !== undefined) return command;
  }
  return undefined;
}
