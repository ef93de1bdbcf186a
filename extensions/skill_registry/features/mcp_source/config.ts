import { isAddress, isRecord, objectOf, type Reader, readerOf, refine, valueThat } from '../../core/config/readers.ts';

/** An MCP server with the Skills extension (SEP-2640): a program or an address. */
export interface McpServerConfig {
  /** The program, or a list of it and its arguments. It is looked up in PATH, and runs in the root. */
  readonly command?: string | readonly string[] | undefined;
  readonly args?: readonly string[] | undefined;
  /** Added to HOME, LOGNAME, PATH, SHELL, TERM and USER of this process. `${NAME}` is replaced by the secret NAME. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly url?: string | undefined;
  /** Headers of every request. `${NAME}` is replaced by the secret NAME. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const TEXTS = { type: 'array', items: { type: 'string' } };

/** One wrong value refuses the whole server: a command or request without one of its parts would do something else. */
const command = valueThat<string | readonly string[]>(
  'expected a program, or a list of a program and its arguments',
  {
    anyOf: [
      { type: 'string', minLength: 1 },
      { ...TEXTS, minItems: 1 },
    ],
  },
  (value) => isText(value, /^[^\0]+$/) || (isTexts(value) && Boolean(value[0])),
);
const args = valueThat<readonly string[]>('expected a list of texts', TEXTS, isTexts);
const url = valueThat<string>(
  'expected an http(s) address without a password',
  { type: 'string', pattern: '^https?://' },
  isAddress,
);
const env = recordLike('expected names of variables with texts', /^[^\0=]+$/, /^[^\0]*$/);
const headers = recordLike('expected names of headers with one line of text', /^[\w!#$%&'*+.^`|~-]+$/, /^[^\0\r\n]*$/);

const server: Reader<McpServerConfig> = refine(
  objectOf<McpServerConfig>({ command, args, env, url, headers }, {}, []),
  'expected either command, with args and env, or url, with headers',
  (read) =>
    read.url === undefined
      ? read.command !== undefined && read.headers === undefined
      : [read.command, read.args, read.env].every((one) => one === undefined),
);

/** A wrong value is reported by its type alone, because it may hold a secret. */
export const mcpServer: Reader<McpServerConfig> = readerOf(server.schema, (value, at) =>
  server(value, { ...at, isSecret: true }),
);

// --- internal ---

function isText(value: unknown, pattern: RegExp = /^[^\0]*$/): value is string {
  return typeof value === 'string' && pattern.test(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => isText(one));
}

function recordLike(expected: string, key: RegExp, text: RegExp): Reader<Readonly<Record<string, string>>> {
  return valueThat(
    expected,
    { type: 'object', additionalProperties: { type: 'string' } },
    (value) => isRecord(value) && Object.entries(value).every(([name, one]) => key.test(name) && isText(one, text)),
  );
}
