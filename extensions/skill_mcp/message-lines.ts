import { isUtf8 } from 'node:buffer';
import { INVALID_REQUEST, PARSE_ERROR, parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { withFallback } from '../../lib/errors/index.ts';

/** A partly read line. Above the limit it keeps only `long`, not the bytes. */
export interface Line {
  bytes: number;
  chunks: Buffer[];
  long?: TopLevel;
}

export function newLine(): Line {
  return { bytes: 0, chunks: [] };
}

export function add(line: Line, chunk: Buffer): void {
  line.bytes += chunk.length;
  line.chunks.push(chunk);
  if (line.bytes <= MAX_MESSAGE_BYTES) return;
  line.long ??= createTopLevel();
  for (const one of line.chunks) line.long.look(one);
  line.chunks = [];
}

export type Message = ReturnType<typeof parseJSONRPCMessage>;
export type Read =
  | { readonly message: Message | undefined }
  | {
      readonly error: { readonly code: number; readonly message: string };
      readonly id: string | number | null;
      readonly isAnswer: boolean;
    };

/** An empty line has no message. */
export function messageOf({ bytes, chunks, long }: Line): Read {
  if (long) {
    const message = `A message may have ${MAX_MESSAGE_BYTES} bytes, this one has ${bytes}. Send a shorter message.`;
    return { error: { code: INVALID_REQUEST, message }, ...long.found() };
  }
  const whole = Buffer.concat(chunks);
  const text = whole.toString('utf8');
  if (text.trim() === '') return { message: undefined };
  const json: unknown = withFallback(() => JSON.parse(text));
  if (json === undefined) {
    const message = 'It is not JSON. Send each message as JSON on one line.';
    return { error: { code: PARSE_ERROR, message }, id: null, isAnswer: false };
  }
  const { id, result, error } = (json ?? {}) as Readonly<Record<string, unknown>>;
  const about = { id: isId(id) ? id : null, isAnswer: result !== undefined || error !== undefined };
  if (!isUtf8(whole)) return { error: { code: PARSE_ERROR, message: 'It is not UTF-8. Send UTF-8.' }, ...about };
  const parsed = withFallback(() => parseJSONRPCMessage(json));
  if (parsed) return { message: parsed };
  const message = 'It is not a JSON-RPC 2.0 message. Send an object with jsonrpc, method and, for a request, id.';
  return { error: { code: INVALID_REQUEST, message }, ...about };
}

// --- internal ---

/** Per line. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isInteger(value);
}

/** Finds the id at the top level of a JSON object that is too large to parse. */
interface TopLevel {
  look(chunk: Buffer): void;
  found(): { readonly id: string | number | null; readonly isAnswer: boolean };
}

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [BRACE, BRACKET, END_BRACE, END_BRACKET] = [0x7b, 0x5b, 0x7d, 0x5d];
/** Longer keys and ids are not found. */
const MAX_TOKEN_BYTES = 256;

function createTopLevel(): TopLevel {
  let depth = 0;
  let [inString, escaped] = [false, false];
  let token: number[] = [];
  let key: unknown;
  const values = new Map<unknown, unknown>();
  const takeToken = (): unknown => {
    const text = Buffer.from(token).toString('utf8');
    token = [];
    return withFallback(() => JSON.parse(text));
  };
  const endValue = (): void => {
    const value = takeToken();
    if (key === 'id' || key === 'result' || key === 'error') values.set(key, value);
    key = undefined;
  };
  const lookAt = (byte: number): void => {
    if (inString) {
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if (byte === BRACE || byte === BRACKET) {
      depth += 1;
      return;
    } else if (byte === END_BRACE || byte === END_BRACKET) {
      if (depth === 1) endValue();
      depth -= 1;
      return;
    } else if (depth === 1 && byte === COLON) {
      key = takeToken();
      return;
    } else if (depth === 1 && byte === COMMA) {
      endValue();
      return;
    }
    if (depth === 1 && token.length <= MAX_TOKEN_BYTES) token.push(byte);
  };
  return {
    look(chunk) {
      for (const byte of chunk) lookAt(byte);
    },
    found() {
      const id = values.get('id');
      return { id: isId(id) ? id : null, isAnswer: values.has('result') || values.has('error') };
    },
  };
}
