import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { futureRealPath, readContained, removeContained, writeContained } from '../../../../../lib/files/index.ts';
import type { Hub } from './hub-address.ts';

/** Where this root keeps what one space of a hub does not have yet. Processes share it. */
export class OutboxFolder {
  readonly path: string;
  readonly addresses: string;
  /** As `Hub.send`. */
  readonly send: (path: string, body: object) => Promise<unknown>;

  /** @param ended - Ends what is sent. */
  constructor(root: string, { addresses, space, send }: Hub, ended: AbortSignal) {
    this.addresses = addresses.join(', ');
    this.send = (path, body) => send(path, body, ended);
    const name = createHash('sha256')
      .update(JSON.stringify([addresses[0], space]))
      .digest('hex')
      .slice(0, 16);
    this.path = join(futureRealPath(root), 'data', 'skill_registry', 'outbox', name);
  }

  /** Sorted. */
  names(like: RegExp): readonly string[] {
    const found = withFallback(() => readdirSync(this.path), []);
    return found.filter((one) => like.test(one)).sort();
  }

  /** @param as - May throw. Undefined: it cannot be read, or is gone. */
  read<T>(file: string, as: (value: unknown) => T): T | undefined {
    return withFallback(
      () => as(JSON.parse(readContained(this.path, file, MAX_FILE, OWN).toString('utf8'))),
      undefined,
    );
  }

  /** @throws WRITE_FAILED. */
  write(file: string, value: object): void {
    writeContained(this.path, file, JSON.stringify(value), OWN);
  }

  remove(file: string): void {
    try {
      removeContained(this.path, file, OWN);
    } catch (error) {
      // Another process has sent it, too.
      if (!isCodedError(error, 'RESOURCE_NOT_FOUND')) throw error;
    }
  }
}

// --- internal ---

const OWN = { own: true } as const;
const MAX_FILE = 8 * 1024 * 1024;
