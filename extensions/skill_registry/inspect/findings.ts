import type { Problem } from 'skill-registry/kernel';
import { matchesOf, oneLine } from '../../../lib/text/index.ts';

/** One computed fact about a proposed change. */
export interface Check {
  readonly kind:
    | 'tokens'
    | 'validation'
    | 'identity'
    | 'visibility'
    | 'permissions'
    | 'references'
    | 'shell'
    | 'network'
    | 'secrets'
    | 'characters'
    | 'retrieval'
    | 'size'
    | 'diff';
  /** `warning`: a reviewer should look at it. */
  readonly level: 'info' | 'warning';
  /** One line without control or invisible characters (they are shown as U+XXXX). */
  readonly text: string;
  /** 1-based line in the new text. */
  readonly line?: number;
}

export interface CheckInput {
  readonly skillId: string;
  /** Relative to the skill. */
  readonly path: string;
  /** Whether `path` is the skill's SKILL.md. */
  readonly isSkillFile: boolean;
  /** null: the file (or skill) is new. */
  readonly before: string | null;
  /** null: it is to be removed. */
  readonly after: string | null;
  /** Files the skill has, relative paths; for newly referenced files that do not exist. */
  readonly files: readonly string[];
  /** Problems of a text under the source's profile; asked for SKILL.md only. */
  readonly problemsOf: (text: string) => readonly Problem[];
  /** Which trigger queries change their top hit; absent while there is no search. */
  readonly retrieval?: (after: string) => Promise<readonly string[]>;
}

/** Something a text does, names or holds. */
export interface Finding {
  /** Two findings of one kind with the same key are the same thing. */
  readonly key: string;
  readonly level: Check['level'];
  /** In our words; quotes nothing that is not escaped. */
  readonly what: string;
  /** In the author's words; escaped, shortened and freed of secrets when it is shown. */
  readonly quoted?: string;
  /** 1-based, in the new text; absent for what is no longer there. */
  readonly line?: number;
}

/** As many checks of one kind are listed. */
export const MAX_LISTED = 20;

/** The checks of one kind: warnings first, in order of lines; of what is too much only the number. */
export function listChecks(kind: Check['kind'], findings: readonly Finding[]): readonly Check[] {
  const sorted = [...findings].sort((left, right) => placeOf(left) - placeOf(right));
  const ordered = [...sorted.filter(isWarning), ...sorted.filter((one) => !isWarning(one))];
  const listed = ordered.slice(0, MAX_LISTED).map(({ level, what, quoted, line }) => {
    const text = quoted === undefined ? what : `${what}: ${quote(quoted)}`;
    return { kind, level, text, ...(line === undefined ? {} : { line }) };
  });
  const [first, ...rest] = ordered.slice(MAX_LISTED);
  if (first === undefined) return listed;
  return [...listed, { kind, level: first.level, text: `and ${rest.length + 1} more` }];
}

/** What a stranger wrote, for a check: one line in quotes, what looks like a secret left out. */
export function quote(text: string, limit = 120): string {
  // Cut before it is searched; a secret at the cut is left out with its rest.
  return `"${oneLine(withoutSecrets(text.slice(0, limit * 4)), limit)}"`;
}

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

// --- internal ---

/** What is no longer there comes last. */
function placeOf({ line }: Finding): number {
  return line ?? Number.MAX_SAFE_INTEGER;
}

function isWarning({ level }: Finding): boolean {
  return level === 'warning';
}
