import type { Skill } from './api.ts';
import { createPace } from './catalog/pace.ts';
import type { EmbeddingsConfig } from './config-embeddings.ts';
import type { SqliteDatabase } from './open-database.ts';
import { createMeaning, type Meaning } from './search/meaning.ts';

export interface OpenMeaningOptions {
  readonly config: EmbeddingsConfig;
  readonly database: SqliteDatabase;
  /** Named in problems. */
  readonly configFile: string;
  /** The bytes of SKILL.md; may throw. */
  readonly readSkill: (skill: Skill) => Buffer;
  /** `EMBEDDINGS_API_KEY`, `MODEL_API_KEY`, `MODEL_BASE_URL`. */
  readonly getSecret: (name: string) => string | undefined;
  readonly onProgress: (line: string) => void;
  readonly onProblems: () => void;
}

/** Search by meaning, as the config wants it; undefined when it names no endpoint. */
export function openMeaning({ config, getSecret, readSkill, ...rest }: OpenMeaningOptions): Meaning | undefined {
  const { base_url: baseUrl, model, timeout_ms: timeoutMs, batch } = config;
  if (baseUrl === '') return undefined;
  const readText = (skill: Skill): string | undefined => {
    try {
      return readSkill(skill).toString('utf8');
    } catch {
      // Gone since the snapshot; the next one will not have it.
      return undefined;
    }
  };
  const endpoint = { baseUrl, model, key: keyFor(baseUrl, getSecret) };
  return createMeaning({ endpoint, timeoutMs, batch, readText, pace: createPace, ...rest });
}

// --- internal ---

/** The key of the model goes nowhere but to the model's own endpoint. */
function keyFor(baseUrl: string, getSecret: (name: string) => string | undefined): string | undefined {
  const modelUrl = getSecret('MODEL_BASE_URL')?.replace(/\/+$/, '');
  const shared = modelUrl === baseUrl.replace(/\/+$/, '') ? getSecret('MODEL_API_KEY') : undefined;
  return getSecret('EMBEDDINGS_API_KEY') ?? shared;
}
