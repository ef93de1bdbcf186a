import type { Evaluation, OverlapReport } from './types.ts';

declare module '../../core/api.ts' {
  interface SkillRegistryAdmin extends Evaluation {
    /** Competing skills, and trigger queries (`evals/trigger-eval.json`, `trigger_keywords`) that find another one. */
    overlap(): Promise<OverlapReport>;
  }
}
