import type { TextIndex } from '../../../../lib/text-index/index.ts';
import type { Skill } from '../skill/skill.ts';
import { documentOf } from './document.ts';

export interface Pool {
  readonly skills: readonly Skill[];
  /** Position in `skills` by document number; -1 for documents of other skills. */
  readonly positions: Int32Array;
  /** Number of terms in the header, and in the whole document, by position. */
  readonly headerLengths: Float64Array;
  readonly totalLengths: Float64Array;
  /** Index in `sectionLengths` of the first section of a position; one entry more than positions. */
  readonly sectionStarts: Uint32Array;
  readonly sectionLengths: Uint16Array;
  /** Never 0. */
  readonly means: { readonly header: number; readonly total: number; readonly section: number };
}

export function makePool(skills: readonly Skill[], index: TextIndex): Pool {
  const positions = new Int32Array(index.size()).fill(-1);
  const headerLengths = new Float64Array(skills.length);
  const totalLengths = new Float64Array(skills.length);
  const sectionStarts = new Uint32Array(skills.length + 1);
  const sections: Uint16Array[] = [];
  let [at, header, total, documents] = [0, 0, 0, 0];
  for (const [position, skill] of skills.entries()) {
    sectionStarts[position] = at;
    const document = documentOf(index, skill);
    // The skill could not be read; it can still be found by name.
    if (document === undefined || document >= positions.length) continue;
    documents++;
    positions[document] = position;
    const lengths = index.lengthsOf(document);
    sections.push(lengths);
    at += lengths.length;
    const terms = lengths.reduce((sum, length) => sum + length, 0);
    headerLengths[position] = lengths[0] ?? 0;
    totalLengths[position] = terms;
    header += lengths[0] ?? 0;
    total += terms;
  }
  sectionStarts[skills.length] = at;
  const sectionLengths = new Uint16Array(at);
  let start = 0;
  for (const lengths of sections) {
    sectionLengths.set(lengths, start);
    start += lengths.length;
  }
  const means = {
    header: Math.max(1, header / Math.max(1, documents)),
    total: Math.max(1, total / Math.max(1, documents)),
    section: Math.max(1, total / Math.max(1, at)),
  };
  return { skills, positions, headerLengths, totalLengths, sectionStarts, sectionLengths, means };
}
