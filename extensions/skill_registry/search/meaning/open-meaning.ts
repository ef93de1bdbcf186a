import { createBreaks } from '../../../../lib/breaks/index.ts';
import type { EmbeddingsConfig } from '../../config/embeddings.ts';
import type { Skill } from '../../skill/skill.ts';
import type { SqliteDatabase } from '../../store/open-database.ts';
import { createMeaning, type Meaning } from './meaning.ts';

export interface OpenMeaningOptions {
  readonly config: EmbeddingsConfig;
  /** Opens the cache's database, with the tables of `VECTORS`; `close` closes it. */
  readonly database: () => SqliteDatabase;
  /** Named in problems. */
  readonly configFile: string;
  /** The bytes of SKILL.md; may throw. */
  readonly readSkill: (skill: Skill) => Buffer;
  /** `EMBEDDINGS_API_KEY`, `MODEL_API_KEY`, `MODEL_BASE_URL`. */
  readonly getSecret: (name: string) => string | undefined;
  readonly onProgress: (line: string) => void;
  readonly onProblems: () => void;
}

/** Search by meaning through the endpoint that the config names. */
export function openMeaning({ config, database, getSecret, readSkill, ...rest }: OpenMeaningOptions): Meaning {
  const { base_url: baseUrl, model, timeout_ms: timeoutMs, batch } = config;
  const readText = (skill: Skill): string | undefined => {
    try {
      return readSkill(skill).toString('utf8');
    } catch {
      // Gone since the snapshot; the next one will not have it.
      return undefined;
    }
  };
  const endpoint = { baseUrl, model, key: keyFor(baseUrl, getSecret) };
  let opened: SqliteDatabase | undefined;
  const open = (): SqliteDatabase => {
    opened = database();
    return opened;
  };
  const meaning = createMeaning({ endpoint, timeoutMs, batch, database: open, readText, createBreaks, ...rest });
  return {
    ...meaning,
    close() {
      meaning.close();
      opened?.close();
    },
  };
}

// --- internal ---

/** The key of the model goes nowhere but to the model's own endpoint. */
function keyFor(baseUrl: string, getSecret: (name: string) => string | undefined): string | undefined {
  const modelUrl = getSecret('MODEL_BASE_URL')?.replace(/\/+$/, '');
  const shared = modelUrl === baseUrl.replace(/\/+$/, '') ? getSecret('MODEL_API_KEY') : undefined;
  return getSecret('EMBEDDINGS_API_KEY') ?? shared;
}
