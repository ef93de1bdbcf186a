import { matchesOf } from '../../../../../../lib/text/index.ts';
import type { ClassifiedFile, Match } from '../rule.ts';

/**
 * Encoded texts that decode to a command, or to nothing but an address or a store of secrets. Linear time: decoded text
 * is at most as long as encoded text.
 */
export function* encodedCommands({ text }: ClassifiedFile): Generator<Match | undefined> {
  let line = 1;
  for (let from = 0; from < text.length; ) {
    yield undefined;
    const end = text.indexOf('\n', from + PART) + 1 || text.length;
    // A very long line is cut: encoded text in it still begins in one of the parts.
    const part = text.slice(from, Math.min(end, from + 2 * PART));
    for (const { written, decoded, at } of encodedIn(part)) {
      const command = commandOf(decoded, 2);
      const [hidden = command] = command === undefined ? (HIDDEN.exec(decoded) ?? []) : [];
      if (hidden === undefined) continue;
      const stance = command === undefined ? 'apart' : undefined;
      const message = `A text that decodes to ${stance ? 'an address' : 'a command'}: "${hidden.slice(0, 160)}"`;
      yield { line: line + part.slice(0, at).split('\n').length - 1, words: written, message, stance };
    }
    line += part.split('\n').length - 1;
    from += part.length;
  }
}

// --- internal ---

const PART = 8000;

/** Base64, in the alphabet of addresses as well. */
const IN_RUN = Uint8Array.from({ length: 128 }, (_, code) => Number(/[\w+/-]/.test(String.fromCharCode(code))));
const LEAST = 20;
const HEX = /(?<![\w])(?:0x)?(?:[0-9a-fA-F]{2}){12,}(?![\w])/g;
/** Lists of characters by number, with the base of the numbers. A list has its mark. */
const ESCAPES: readonly { readonly mark: string; readonly pattern: RegExp; readonly base: number }[] = [
  { mark: '\\x', pattern: /(?:\\x[0-9a-fA-F]{2}){8,}/g, base: 16 },
  { mark: '\\u00', pattern: /(?:\\u00[0-9a-fA-F]{2}){8,}/g, base: 16 },
  { mark: '\\', pattern: /(?:\\[0-7]{3}){8,}/g, base: 8 },
  { mark: '%', pattern: /(?:%[0-9a-fA-F]{2}){8,}/g, base: 16 },
  { mark: '', pattern: /(?:\b\d{2,3}\b[\s,]{1,3}){11,}\d{2,3}\b/g, base: 10 },
  { mark: '0x', pattern: /(?:\b0x[0-9a-fA-F]{2}\b[\s,]{1,3}){11,}0x[0-9a-fA-F]{2}\b/g, base: 16 },
];
const QUOTED = /["'][^"'\n]{12,400}["']/g;

/** A whole command, not only a word that is also the name of a program. */
const COMMAND =
  /\b(?:curl|wget|iwr|irm|invoke-webrequest)\s[^\n]{0,200}(?:https?:|ftp:|\d{1,3}\.\d{1,3}\.|\|\s*(?:ba|z)?sh)|\/bin\/(?:ba|z|da)?sh\b|\b(?:ba|z)?sh\s+-[ic]\s|\/dev\/tcp\/|\bpowershell(?:\.exe)?\s+-|\biex[\s(]|\binvoke-expression|\bosascript\s+-e|\bchmod\s\+x|\bnc\s+-\w|\bpython[\d.]*\s+-c\s|\bos\.(?:system|popen)\(|\bsubprocess\.(?:run|call|popen)|\bchild_process\b|\bexec\(|__import__\(|\brm\s+-rf\s|\bdownloadstring\(/i;
const HIDDEN =
  /^\s?(?:(?:https?|wss?):\/\/[^\s"'<>]{4,}|[~\w./-]*\.(?:ssh|aws|npmrc|netrc|gnupg|kube|docker)\b[\w./-]*)\s?$/i;
/** Hashes and pictures decode to something that people cannot read. */
const READABLE = /^[\t\n\r -~]{8,}$/;

interface Encoded {
  readonly written: string;
  readonly decoded: string;
  readonly at: number;
}

function* encodedIn(part: string): Generator<Encoded> {
  const runs = [...longRuns(part)];
  for (const { run, at } of runs) {
    const [marks = ''] = /^={0,3}/.exec(part.slice(at + run.length, at + run.length + 3)) ?? [];
    if (marks.length === 3 || /^[a-zA-Z_-]*$|^[0-9a-f]+$/.test(run + marks)) continue;
    const bytes = Buffer.from(run, 'base64');
    // Commands of PowerShell are encoded as UTF-16.
    yield { written: run + marks, decoded: bytes.toString(bytes[1] === 0 ? 'utf16le' : 'latin1'), at };
  }
  for (const { run, at: start } of runs) {
    for (const { 0: written, index } of matchesOf(run, HEX)) {
      const decoded = Buffer.from(written.replace(/^0x/, ''), 'hex').toString('latin1');
      yield { written, decoded, at: start + index };
    }
  }
  for (const { mark, pattern, base } of ESCAPES) {
    if (!part.includes(mark)) continue;
    for (const { 0: written, index: at } of matchesOf(part, pattern)) {
      const codes = written.split(/\\x|\\u00|\\|%|[\s,]+/).filter((code) => code !== '');
      const decoded = codes.map((code) => String.fromCharCode(Number.parseInt(code, base))).join('');
      yield { written, decoded, at };
    }
  }
  if (!['hs/', 'hsab', 'lruc', 'tegw'].some((word) => part.includes(word))) return;
  for (const { 0: written, index: at } of matchesOf(part, QUOTED)) {
    yield { written, decoded: [...written].reverse().join(''), at };
  }
}

/** Whole runs of at least 20 characters of base64, in which those of HEX are, too. */
function* longRuns(text: string): Generator<{ readonly run: string; readonly at: number }> {
  for (let end = LEAST; end <= text.length; ) {
    let at = end;
    while (at > end - LEAST && IN_RUN[text.charCodeAt(at - 1)] === 1) at--;
    if (at > end - LEAST) {
      end = at + LEAST;
      continue;
    }
    while (IN_RUN[text.charCodeAt(end)] === 1) end++;
    yield { run: text.slice(at, end), at };
    end += LEAST;
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
