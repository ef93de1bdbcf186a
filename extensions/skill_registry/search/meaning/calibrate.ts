import type { Skill } from '../../skill/skill.ts';
import { controlKey } from './embedding-run.ts';
import { CONTROL_TEXTS } from './embedding-text.ts';
import type { Neighbour } from './vector-neighbours.ts';
import type { Calibration, VectorStore } from './vector-store.ts';

/** What is near enough comes nearer than all controls but one, by so much of what is left to 1: a skill may be for one of them. */
const MARGIN = 0.05;

/** How near the nearest skill comes to texts that none is for; undefined when the vectors of these are not there. */
export async function calibrationOf(
  skills: readonly Skill[],
  store: VectorStore,
  neighbours: (skills: readonly Skill[], vector: Float32Array) => readonly Neighbour[],
  takeBreak: () => Promise<void>,
): Promise<Calibration | undefined> {
  const best: number[] = [];
  for (const text of CONTROL_TEXTS) {
    await takeBreak();
    const vector = store.vectorOf(controlKey(text));
    const [nearest] = vector ? neighbours(skills, vector) : [];
    if (nearest) best.push(nearest.cosine);
  }
  if (best.length < CONTROL_TEXTS.length) return undefined;
  best.sort((one, other) => one - other);
  const noise = best[best.length >> 1] as number;
  const highest = best.at(-2) as number;
  return { noise, least: highest + MARGIN * (1 - highest) };
}
