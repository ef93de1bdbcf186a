import type { KeptQueries } from '../../core/events.ts';
import type { Evaluation, OverlapReport } from './types.ts';

declare module '../../core/api.ts' {
  interface SkillRegistryAdmin extends Evaluation {
    /** Competing skills, and trigger queries (`evals/trigger-eval.json`, `trigger_keywords`) that find another one. */
    overlap(): Promise<OverlapReport>;
    /** What was asked where a skill was missed, for a person at this machine only; undefined where it is not kept. */
    keptQueries(): KeptQueries | undefined;
  }
}
