import type { Skill } from '../../skill/skill.ts';
import type { Neighbour } from './vector-neighbours.ts';
import type { Calibration } from './vector-store.ts';

/** How near skills come to a query by meaning, as far as that is more than chance. */
export interface Likeness {
  /** Above 0 to 1, which the nearest has. */
  readonly near: ReadonlyMap<Skill, number>;
  /** Those of them that are near enough to be found without a word in common. */
  readonly fitting: ReadonlySet<Skill>;
  /** 0 to 1: where the nearest stands between chance and the same text. */
  readonly confidence: number;
}

/** A skill that comes less than so near as the nearest does not come in by meaning alone. */
const TAIL = 0.5;

/** Undefined when no skill comes nearer than one does by chance: then there is nothing to say. @param neighbours - Best first. */
export function likenessOf(neighbours: readonly Neighbour[], { noise, least }: Calibration): Likeness | undefined {
  const best = neighbours[0]?.cosine ?? -1;
  if (best < least) return undefined;
  const near = new Map<Skill, number>();
  const fitting = new Set<Skill>();
  for (const { skill, cosine } of neighbours) {
    const part = (cosine - noise) / (best - noise);
    if (part <= 0) break;
    near.set(skill, part);
    if (cosine >= least && part >= TAIL) fitting.add(skill);
  }
  return { near, fitting, confidence: Math.min(1, (best - noise) / (1 - noise)) };
}
