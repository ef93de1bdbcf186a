import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFallback } from '../../../../lib/errors/index.ts';
import { futureRealPath, makePrivateFolder, readContained } from '../../../../lib/files/index.ts';
import { whyNotTrusted } from '../../../../lib/trust/index.ts';
import { policyFolder } from './kept-policy.ts';

/** Where this user has fetched contents from: a lock lies in the root, and anybody may have written it. */
export interface Origins {
  /** @param digest - Of all files of a skill. */
  of(digest: string | undefined): readonly string[];
  note(digest: string, source: string): void;
  renew(): void;
}

const FILE = 'origins.jsonl';
const MAX_ORIGINS = 64 * 1024 * 1024;

export function createOrigins(): Origins {
  let known = new Map<string, Set<string>>();
  let size = -1;
  const add = (digest: string, source: string): void => {
    known.set(digest, (known.get(digest) ?? new Set()).add(source));
  };
  return {
    of: (digest) => [...(known.get(digest ?? '') ?? [])],
    note(digest, source) {
      if (known.get(digest)?.has(source)) return;
      add(digest, source);
      withFallback(() => {
        makePrivateFolder(policyFolder());
        appendFileSync(join(policyFolder(), FILE), `${JSON.stringify([digest, source])}\n`, { mode: 0o600 });
      });
    },
    renew() {
      if (withFallback(() => whyNotTrusted(join(policyFolder(), FILE)), 'unknown') !== undefined) return;
      const bytes = withFallback(() => readContained(futureRealPath(policyFolder()), FILE, MAX_ORIGINS, { own: true }));
      if (!bytes || bytes.length === size) return;
      size = bytes.length;
      known = new Map();
      for (const line of bytes.toString('utf8').split('\n')) {
        const read = withFallback((): unknown => JSON.parse(line));
        if (Array.isArray(read) && read.every((one) => typeof one === 'string')) add(read[0] ?? '', read[1] ?? '');
      }
    },
  };
}
