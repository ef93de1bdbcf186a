import type { Skill } from '../api.ts';
import { controlKey } from './embedding-run.ts';
import { CONTROL_TEXTS } from './embedding-text.ts';
import type { Neighbour } from './vector-neighbours.ts';
import type { Calibration, VectorStore } from './vector-store.ts';

/** So many standard deviations over what control texts reach by chance, and so much of what is left to 1 at least. */
const DEVIATIONS = 2;
const MARGIN = 0.05;

/** How near the nearest skill comes to texts that none is for; undefined when the vectors of these are not there. */
export async function calibrationOf(
  skills: readonly Skill[],
  store: VectorStore,
  neighbours: (skills: readonly Skill[], vector: Float32Array) => readonly Neighbour[],
  pace: () => Promise<void>,
): Promise<Calibration | undefined> {
  const best: number[] = [];
  for (const text of CONTROL_TEXTS) {
    await pace();
    const vector = store.vectorOf(controlKey(text));
    const [nearest] = vector ? neighbours(skills, vector) : [];
    if (nearest) best.push(nearest.cosine);
  }
  if (best.length < CONTROL_TEXTS.length) return undefined;
  const noise = best.reduce((sum, one) => sum + one, 0) / best.length;
  const deviation = Math.sqrt(best.reduce((sum, one) => sum + (one - noise) ** 2, 0) / best.length);
  return { noise, least: noise + Math.max(DEVIATIONS * deviation, MARGIN * (1 - noise)) };
}
