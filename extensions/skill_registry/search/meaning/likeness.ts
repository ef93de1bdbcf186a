import { createBreaks } from '../../../../lib/breaks/index.ts';
import type { Skill } from '../../skill/skill.ts';
import { documentKey } from '../document.ts';
import { CONTROL_TEXTS, controlKey } from './embedding-text.ts';
import type { Calibration, VectorStore } from './vector-store.ts';

/** How near skills come to a query by meaning, as far as that is more than chance. */
export interface Likeness {
  /** Above 0 to 1, which the nearest has. */
  readonly near: ReadonlyMap<Skill, number>;
  /** Those of them that are near enough to be found without a word in common. */
  readonly fitting: ReadonlySet<Skill>;
  /** 0 to 1: where the nearest stands between an unrelated text and the same text. */
  readonly confidence: number;
}

/** A skill whose `near` is below this is not found by meaning alone. */
const MIN_FITTING = 0.5;
/** The threshold is so much above what unrelated texts reach, as a part of what is left to 1. */
const MARGIN = 0.05;

/** Undefined when no skill is nearer than the threshold: then meaning tells nothing. What has no vector yet is passed over. */
export function likenessOf(
  skills: readonly Skill[],
  vector: Float32Array,
  store: VectorStore,
  { unrelated, threshold }: Calibration,
): Likeness | undefined {
  const nearest = store.nearest(skills.map(documentKey), vector);
  const best = nearest[0]?.cosine ?? -1;
  if (best < threshold) return undefined;
  const near = new Map<Skill, number>();
  const fitting = new Set<Skill>();
  for (const { position, cosine } of nearest) {
    const skill = skills[position] as Skill;
    const part = (cosine - unrelated) / (best - unrelated);
    if (part <= 0) break;
    near.set(skill, part);
    if (cosine >= threshold && part >= MIN_FITTING) fitting.add(skill);
  }
  return { near, fitting, confidence: Math.min(1, (best - unrelated) / (1 - unrelated)) };
}

/**
 * How near the nearest skill comes to texts that no skill is for; undefined when the vectors of these are not there. A skill may
 * be for one of them all the same, so the threshold stands above all but the highest.
 */
export async function calibrationOf(skills: readonly Skill[], store: VectorStore): Promise<Calibration | undefined> {
  const takeBreak = createBreaks();
  const keys = skills.map(documentKey);
  const cosines: number[] = [];
  for (const text of CONTROL_TEXTS) {
    await takeBreak();
    const vector = store.vectorOf(controlKey(text));
    const [nearest] = vector ? store.nearest(keys, vector) : [];
    if (nearest) cosines.push(nearest.cosine);
  }
  if (cosines.length < CONTROL_TEXTS.length) return undefined;
  cosines.sort((one, other) => one - other);
  const secondHighest = cosines.at(-2) as number;
  return {
    unrelated: cosines[cosines.length >> 1] as number,
    threshold: secondHighest + MARGIN * (1 - secondHighest),
  };
}
