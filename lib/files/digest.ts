import { createHash } from 'node:crypto';

/** `sha256:<64 hex>` of a content. */
export function digestOf(bytes: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
