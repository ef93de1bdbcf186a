import { takeBreak } from '../../../../lib/breaks/index.ts';
import type { Skill } from '../../skill/skill.ts';
import { documentKey } from '../document.ts';
import { CONTROL_TEXTS, controlKey } from './embedding-text.ts';
import type { Calibration, VectorStore } from './vector-store.ts';

export interface Likeness {
  /** Above 0; 1 for the nearest skill. */
  readonly near: ReadonlyMap<Skill, number>;
  /** Skills that are near enough to be found without a common word. */
  readonly fitting: ReadonlySet<Skill>;
  /** 0 to 1: 0 for the nearness of an unrelated text, 1 for an equal text. */
  readonly confidence: number;
}

/** A skill whose `near` is lower is not found by meaning alone. */
const MIN_FITTING = 0.5;
/** Added to the nearness of unrelated texts: this part of the distance to 1. */
const MARGIN = 0.05;

/** Undefined when no skill is nearer than the threshold: meaning is not used. Leaves out skills without a vector. */
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

/** Undefined without control vectors. A skill may fit one control text by chance: the highest cosine does not count. */
export async function calibrationOf(skills: readonly Skill[], store: VectorStore): Promise<Calibration | undefined> {
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
