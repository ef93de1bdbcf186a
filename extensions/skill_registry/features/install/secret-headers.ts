import { CodedError } from 'skill-registry/kernel';
import type { OriginHeaders } from '../../../../lib/fetch/index.ts';
import { fillSecrets } from '../../../../lib/secrets/index.ts';
import { openTrust } from '../../../../lib/trust/index.ts';
import { isRecord, type Reader, readerOf, valueThat } from '../../core/config/readers.ts';

/** Headers as a config and a lock have them: each with one `${NAME}`, and no secret itself. */
export type SecretHeaders = Readonly<Record<string, string>>;

export const HEADERS_EXPECTED = `expected at most 10 names of headers, each with \${NAME} of a secret, after one word at most ("Bearer \${NAME}"); a secret itself is never written down`;

export function areSecretHeaders(value: unknown): value is SecretHeaders {
  if (!isRecord(value)) return false;
  const headers = Object.entries(value);
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const isRight = ([name, text]: readonly [string, unknown]): boolean =>
    HEADER.test(name) && !OF_HTTP.test(name) && typeof text === 'string' && TEMPLATE.test(text);
  return headers.length > 0 && headers.length <= 10 && names.size === headers.length && headers.every(isRight);
}

const schema = { type: 'object', additionalProperties: { type: 'string' } };
const plain = valueThat<SecretHeaders>(HEADERS_EXPECTED, schema, areSecretHeaders);
/** A wrong value is reported by its type alone: somebody may have written the secret itself. */
export const secretHeaders: Reader<SecretHeaders> = readerOf(schema, (value, at) =>
  plain(value, { ...at, isSecret: true }),
);

/** Where secrets go, as decisions name it: `https://host#authorization=NAME`, without quotes for a shell. */
export function secretKeys(url: string, headers: SecretHeaders): readonly string[] {
  const { origin } = new URL(url);
  return Object.entries(headers).map(
    ([header, text]) => `${origin}#${header.toLowerCase()}=${text.slice(text.indexOf('{') + 1, -1)}`,
  );
}

/** As `secretKeys` gives it; undefined when the text is none. An address of git has a path before its `#`. */
export function secretKeyOf(text: string): string | undefined {
  const [, origin = '', header = '', name] = /^(https?:\/\/[^/?#@]+)#([^=]+)=(\w+)$/.exec(text) ?? [];
  return name !== undefined && URL.canParse(origin) && HEADER.test(header)
    ? secretKeys(origin, { [header]: `\${${name}}` })[0]
    : undefined;
}

export interface HeadersOfPage {
  readonly url: string;
  readonly headers: SecretHeaders;
  readonly getSecret: (name: string) => string | undefined;
  /**
   * `all`: the caller decides, as a program does; `named`: a person names them now, so only a revoked one is refused;
   * `decided`: they come from a file, which may have changed.
   */
  readonly allows: 'all' | 'named' | 'decided';
}

/** Asked before each use: a decision counts at once. @throws SECRET_NOT_APPROVED, SECRET_MISSING. */
export function headersWithSecrets({ url, headers, getSecret, allows }: HeadersOfPage): OriginHeaders {
  const { origin } = new URL(url);
  const decisions = allows === 'all' ? [] : openTrust().decisions();
  for (const key of secretKeys(url, headers)) {
    const action = decisions.findLast(({ kind, path }) => kind === 'secret' && path === key)?.action;
    if (allows === 'all' || action === 'allow' || (allows === 'named' && action === undefined)) continue;
    const who = action === undefined ? 'nobody has approved' : 'somebody has revoked';
    const message = `Nothing is asked of ${url}: ${who} that a secret goes there in a header (${key}). If it is meant: skill-registry approvals allow "${key}"`;
    throw new CodedError('SECRET_NOT_APPROVED', message, { source: url, key });
  }
  const { filled, missing, secrets } = fillSecrets(headers, (name) => {
    const secret = getSecret(name);
    return secret !== undefined && SENDABLE.test(secret) ? secret : undefined;
  });
  const [unset] = missing;
  if (unset === undefined) return { origin, values: filled, secrets };
  const message = `Nothing is asked of ${url}: the secret ${unset}, which its headers name, is not set, or is no line that a header can have. Set it in the environment or in the .env file of the root; a program gives it with getSecret.`;
  throw new CodedError('SECRET_MISSING', message, { source: url, secret: unset });
}

// --- internal ---

const HEADER = /^[A-Za-z][A-Za-z0-9-]{0,63}$/;
/** What the connection itself sends. */
const OF_HTTP =
  /^(?:accept-encoding|connection|content-.*|expect|host|if-.*|keep-alive|proxy-.*|range|te|trailer|transfer-encoding|upgrade)$/i;
const TEMPLATE = /^(?:[A-Za-z-]{1,20}[ =])?\$\{\w{1,100}\}$/;
const SENDABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
