import { matchesOf } from '../../../lib/text/index.ts';

/** What a secret looks like. Each is bounded, so that no text takes more than linear time. */
const SECRET_VALUES: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: 'an AWS access key id', pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b/g },
  { what: 'a private key', pattern: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\sA-Za-z0-9+/=]{0,5000}/g },
  { what: 'a GitHub token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})/g },
  { what: 'a GitLab token', pattern: /\bgl(?:pat|dt|rt|ptt|cbt)-[\w-]{20,100}/g },
  { what: 'an API key', pattern: /\b[sr]k[-_](?:ant|proj|live|test|or|svcacct|admin)?[-_]?[A-Za-z0-9_-]{20,255}/g },
  { what: 'a Slack token', pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,255}/g },
  { what: 'a Slack webhook', pattern: /hooks\.slack\.com\/services\/[A-Za-z0-9_/]{20,100}/g },
  { what: 'a Google API key', pattern: /\bAIza[\w-]{35}/g },
  { what: 'an npm token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { what: 'a Hugging Face token', pattern: /\bhf_[A-Za-z0-9]{30,100}\b/g },
  { what: 'a PyPI token', pattern: /\bpypi-[\w-]{50,255}/g },
  { what: 'a SendGrid key', pattern: /\bSG\.[\w-]{16,64}\.[\w-]{16,64}/g },
  { what: 'a JSON web token', pattern: /(?<![\w-])eyJ[\w-]{10,2000}\.eyJ[\w-]{10,2000}\.[\w-]{5,2000}/g },
  { what: 'a password in an address', pattern: /:\/\/[^\s/:@"'`<>]{0,100}:[^\s/:@"'`<>$*{}]{3,200}@/g },
];

/** What in a text looks like a secret. */
export function* secretValues(text: string): Generator<{ readonly what: string; readonly value: string }> {
  for (const { what, pattern } of SECRET_VALUES) {
    for (const [value] of matchesOf(text, pattern)) yield { what, value };
  }
}

/** The beginning of a secret and its length: enough to find it, too little to use it. */
export function maskSecret(value: string): string {
  return `${value.slice(0, 4)}… (${value.length} characters)`;
}

/** A check is shown in more places than the text it speaks of. */
export function withoutSecrets(text: string): string {
  return SECRET_VALUES.reduce((masked, { pattern }) => masked.replace(pattern, maskSecret), text);
}
