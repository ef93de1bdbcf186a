import { digestOf } from '../digest/index.ts';
import { withFallback } from '../errors/index.ts';
import { matchesOf } from './line.ts';

export interface FoundKey {
  /** `a GitHub token` */
  readonly what: string;
  /** Enough to find the key and tell it from others, not enough to use it. */
  readonly masked: string;
  /** 1-based. */
  readonly line: number;
}

/** No placeholders, examples of documentation or public keys. Linear time; `undefined` between steps, for a break. */
export function* findKeys(text: string): Generator<FoundKey | undefined> {
  let [line, counted] = [1, 0];
  for (let from = 0; from < text.length; from += STEP) {
    yield undefined;
    // One character more at the start: what stands before a key tells whether it is one.
    const start = Math.max(0, from - 1);
    const part = text.slice(start, from + STEP + MAX_KEY);
    const found = KINDS.flatMap((kind) =>
      matchesOf(part, kind.pattern).map((match) => ({ kind, match, at: start + match.index })),
    );
    for (const { kind, match, at } of found.sort((left, right) => left.at - right.at)) {
      // A later step finds it.
      if (at < from || at >= from + STEP) continue;
      yield undefined;
      const masked = maskedKey(kind, match, part.slice(match.index));
      if (masked === undefined) continue;
      line += text.slice(counted, at).split(/\r\n|\n|\r/).length - 1;
      counted = at;
      yield { what: kind.what, masked, line };
    }
  }
}

/** Placeholders are removed too: more people see a message than the text itself. */
export function withoutKeys(text: string): string {
  return KINDS.reduce((masked, { pattern }) => masked.replace(pattern, shortened), text);
}

// --- internal ---

/** Characters that one step searches, and that a key can have. */
const STEP = 8000;
const MAX_KEY = 8000;

interface KeyKind {
  readonly what: string;
  /** Repetitions are bounded: a search takes linear time. */
  readonly pattern: RegExp;
  /** The secret part; undefined for none. Default: the match, except a placeholder. `rest` begins with the match. */
  readonly secretOf?: (value: string, rest: string) => string | undefined;
  /** Default: the first characters, the length, and a part of the digest. */
  readonly mask?: (match: RegExpExecArray) => string;
}

const KINDS: readonly KeyKind[] = [
  { what: 'an AWS access key id', pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b/g },
  {
    what: 'a private key',
    pattern: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\sA-Za-z0-9+/=\\]{0,5000}/g,
    secretOf: (_value, rest) => unlessPlaceholder(/[A-Za-z0-9+/]{40}/.exec(rest.slice(0, 500))?.[0]),
  },
  { what: 'a GitHub token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})/g },
  { what: 'a GitLab token', pattern: /\bgl(?:pat|dt|rt|ptt|cbt)-[\w-]{20,100}/g },
  {
    what: 'an API key',
    pattern: /\b[sr]k[-_](?:ant|proj|live|test|or|svcacct|admin)?[-_]?[A-Za-z0-9_-]{20,255}/g,
    // Words with hyphens are a name.
    secretOf: (value) => (/(?=[A-Za-z0-9]{0,15}\d)[A-Za-z0-9]{16}/.test(value) ? unlessPlaceholder(value) : undefined),
  },
  { what: 'a Slack token', pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,255}/g },
  { what: 'a Slack webhook', pattern: /hooks\.slack\.com\/services\/[A-Za-z0-9_/]{20,100}/g },
  { what: 'a Google API key', pattern: /\bAIza[\w-]{35}/g },
  { what: 'an npm token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { what: 'a Hugging Face token', pattern: /\bhf_[A-Za-z0-9]{30,100}\b/g },
  { what: 'a PyPI token', pattern: /\bpypi-[\w-]{50,255}/g },
  { what: 'a SendGrid key', pattern: /\bSG\.[\w-]{16,64}\.[\w-]{16,64}/g },
  {
    what: 'a JSON web token',
    pattern: /(?<![\w-])eyJ[\w-]{10,2000}\.eyJ[\w-]{10,2000}\.[\w-]{5,2000}/g,
    secretOf: (value) => (isSecretClaim(value) ? value : undefined),
  },
  {
    what: 'a password in an address',
    pattern: /:\/\/[^\s/:@"'`<>]{0,100}:[^\s/:@"'`<>$*{}]{3,200}@/g,
    secretOf: passwordOf,
    // No digest: a short password could be guessed by it.
    mask: ({ input, index, 0: match }) =>
      `${match.slice(3, 7)}…@${/^[\w.-]{0,100}/.exec(input.slice(index + match.length))?.[0]}`,
  },
];

const PLACEHOLDER =
  /example|your|placeholder|dummy|sample|fake|redacted|replace|insert|change_?me|xxxx|0000|12345678|abcdefgh|abcd1234/i;
/** Different characters of a random value. */
const VARIETY = 8;

function unlessPlaceholder(value: string | undefined): string | undefined {
  return value !== undefined && new Set(value).size >= VARIETY && !PLACEHOLDER.test(value) ? value : undefined;
}

function maskedKey(
  { secretOf = unlessPlaceholder, mask }: KeyKind,
  match: RegExpExecArray,
  rest: string,
): string | undefined {
  const secret = secretOf(match[0], rest);
  if (secret === undefined) return undefined;
  const [digest = ''] = /[0-9a-f]{8}/.exec(digestOf(secret).slice('sha256:'.length)) ?? [];
  return mask?.(match) ?? `${match[0].slice(0, 4)}… (${match[0].length} characters, digest ${digest})`;
}

function shortened(value: string): string {
  return `${value.slice(0, 4)}… (${value.length} characters)`;
}

/** Not `anon`, which is public, and not the example of the documentation. */
function isSecretClaim(token: string): boolean {
  const [header = '', claims = ''] = token.split('.', 2).map((part) => Buffer.from(part, 'base64url').toString('utf8'));
  if (/John Doe|1234567890|example|"role"\s*:\s*"anon"/i.test(claims)) return false;
  return withFallback(() => [header, claims].every((part) => typeof JSON.parse(part) === 'object'), false);
}

/** Placeholders, and hosts and passwords of this machine alone. */
const NO_HOST = /^[^.]*$|example|your|^127\.|^0\.0\.0\.0|\.(?:test|local|invalid|internal)$/i;
const NO_PASSWORD =
  /^(?:my|the|some|db)?[-_]?(?:pass|pw|secret|user|admin|root|postgres|mysql|guest|test|token|key|api)/i;

function passwordOf(value: string, rest: string): string | undefined {
  const [, user, password = ''] = /^:\/\/([^:]*):(.*)@$/s.exec(value) ?? [];
  const [host = ''] = /^[\w.-]{0,100}/.exec(rest.slice(value.length)) ?? [];
  const isWritten = /^[\w.~!%&=,;+-]{6,}$/.test(password) && /\d|[a-z][A-Z]|[A-Z][a-z]/.test(password);
  if (!isWritten || password === user || NO_HOST.test(host) || NO_PASSWORD.test(password)) return undefined;
  return PLACEHOLDER.test(password) ? undefined : password;
}
