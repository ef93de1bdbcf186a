import { digestOf } from '../../../../lib/digest/index.ts';
import { HEAD_NAME, INDEX_SCHEMA, type IndexEntry, MAX_ENTRIES, MAX_INDEX } from '../well-known/page-index.ts';
import { partAddress, partOf } from '../well-known/page-parts.ts';

/** What one index may have. */
export interface IndexLimits {
  readonly bytes: number;
  readonly entries: number;
}

/** What readers of the format, ours among them, take. */
export const INDEX_LIMITS: IndexLimits = { bytes: MAX_INDEX, entries: MAX_ENTRIES };

/** What a page has beside its artifacts. */
export interface PageDocuments {
  readonly index: string;
  /** How many skills the index names. */
  readonly inIndex: number;
  /** Names the parts; absent when the index names all skills. */
  readonly head?: string;
  /** Addresses are relative to the index. */
  readonly parts: readonly { readonly address: string; readonly bytes: Buffer }[];
}

/** The index of these skills. With more than it may have it names the first of them, and all are in parts. @param entries - By name. */
export function pageDocuments(entries: readonly IndexEntry[], limits: IndexLimits): PageDocuments {
  const whole = documentOf({ $schema: INDEX_SCHEMA, skills: entries });
  if (entries.length <= limits.entries && Buffer.byteLength(whole) <= limits.bytes)
    return { index: whole, inIndex: entries.length, parts: [] };
  const shown = entries.slice(0, countThatFits(entries, limits));
  const byPart = new Map<number, IndexEntry[]>();
  for (const entry of entries) {
    const number = partOf(entry.name);
    const part = byPart.get(number) ?? [];
    part.push(entry);
    byPart.set(number, part);
  }
  const parts = [...byPart]
    .sort(([one], [other]) => one - other)
    .map(([, skills]) => {
      const bytes = Buffer.from(documentOf({ $schema: INDEX_SCHEMA, skills }));
      return { bytes, skills: skills.length, digest: digestOf(bytes) };
    });
  return {
    index: documentOf({ $schema: INDEX_SCHEMA, parts: HEAD_NAME, skills: shown }),
    inIndex: shown.length,
    head: documentOf({ parts: parts.map(({ digest, skills }) => ({ digest, skills })) }),
    parts: parts.map(({ digest, bytes }) => ({ address: partAddress({ digest }), bytes })),
  };
}

// --- internal ---

function documentOf(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Bytes of what is not an entry, and of the indentation of one. */
const AROUND = 256;
const INDENTATION = 64;

function countThatFits(entries: readonly IndexEntry[], limits: IndexLimits): number {
  let left = limits.bytes - AROUND;
  const first = entries.findIndex((entry) => {
    left -= Buffer.byteLength(JSON.stringify(entry, null, 2)) + INDENTATION;
    return left < 0;
  });
  return Math.min(limits.entries, first === -1 ? entries.length : first);
}
