import { matchesOf } from '../../../../../lib/text/index.ts';
import type { Fact } from './checks.ts';
import type { ScannedLine } from './scanned-line.ts';

export function* secretFacts({ text }: ScannedLine): Generator<Fact> {
  const variables = matchesOf(text, VARIABLE).map(([, name = '']) => name);
  for (const quoted of [...matchesOf(text, UPPER_CASE).map(([name]) => name), ...variables]) {
    if (isCredential(quoted)) yield { what: 'Names a credential', quoted };
  }
  for (const [quoted] of SECRET_STORES.flatMap((pattern) => matchesOf(text, pattern))) {
    yield { key: `store ${quoted.toLowerCase()}`, what: 'Names something that holds secrets', quoted };
  }
}

// --- internal ---

const UPPER_CASE = /(?<![A-Za-z0-9_])[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8}(?![A-Za-z0-9_])/g;
const VARIABLE =
  /(?:\$\{?(?:env:)?|\bprocess\.env(?:\.|\[["'])|\benviron(?:\[|\.get\()["']|\bgetenv\(["']|\bENV\[["']|\bexport |\bprintenv )([A-Za-z_][A-Za-z0-9_]{0,80})/gi;
const CREDENTIAL =
  /(?:^|_)(?:TOKEN|KEY|APIKEY|SECRET|SECRETS|PASSWORD|PASSWORDS|PASSWD|PASS|PWD|PASSPHRASE|CREDENTIAL|CREDENTIALS|CREDS|PAT|AUTH|COOKIE|DSN)(?:_|\d|$)|(?:TOKEN|APIKEY|SECRET|PASSWORD)$/;
/** Numbers and public values are not secret. */
const NO_CREDENTIAL =
  /(?:^|_)(?:MAX|MIN|NUM|COUNT|LIMIT|BUDGET|PUBLIC|PRIMARY|FOREIGN|SORT|CACHE|PARTITION)(?:_|$)|^(?:OLD)?PWD$/;

const SECRET_STORES: readonly RegExp[] = [
  /(?:~|\$\{?HOME\}?|\/root|\/(?:home|Users)\/[\w.-]{1,60})?\/\.(?:ssh|aws|azure|gnupg|kube|docker|netrc|npmrc|pypirc|pgpass|git-credentials|config\/(?:gcloud|gh|op)|claude|codex|bash_history|zsh_history|mozilla|password-store)\b(?:\/[\w.-]{1,60}){0,4}/gi,
  /(?<![\w.])\.env(?:\.(?!example\b|sample\b|template\b)[a-z]\w{0,20})?(?![\w(.=])/g,
  /\bid_(?:rsa|dsa|ecdsa|ed25519)\b(?!\.pub)/gi,
  /(?<![\w.-])\/etc\/(?:passwd|shadow|sudoers)\b|\/proc\/(?:self|\d{1,7})\/environ\b/gi,
  /\bsecurity (?:find|dump|add)-[\w-]{3,30}|\bkeychains?\b|\bsecret-tool\b|\bkeyring\b|\bcredential manager\b/gi,
  /\b(?:credentials|service[-_]account|client_secret)[\w-]{0,30}\.json\b|\b[\w-]{1,60}\.(?:pem|p12|pfx|kdbx)\b/gi,
  /\blogin data\b|\bcookies\.sqlite\b|\bwallet\.dat\b|\blocal state\b(?=.{0,40}\bchrome\b)/gi,
  /169\.254\.169\.254|\bmetadata\.google\.internal\b/gi,
  /(?<![\w-])(?:printenv(?![\w ])|env ?\| ?\w{1,20}|export -p|op read|gh auth token|vault (?:read|kv get)|aws configure get)\b/gi,
];

function isCredential(name: string): boolean {
  const upper = name.toUpperCase();
  return CREDENTIAL.test(upper) && !NO_CREDENTIAL.test(upper);
}
