import { z } from 'skill-registry/kernel';

/** The endpoint that search by meaning asks for vectors. */
export interface EmbeddingsConfig {
  /** Of an OpenAI-compatible API, `/embeddings` left out; empty: search goes by words alone. */
  readonly base_url: string;
  readonly model: string;
  /** How long a search or a turn waits for the vector of its query. */
  readonly timeout_ms: number;
  /** The most texts of one request. */
  readonly batch: number;
}

export const embeddings: z.ZodType<EmbeddingsConfig, unknown> = z
  .strictObject({
    base_url: z.string().refine(isEndpoint, 'expected an http(s) address without a password').default(''),
    model: z.string().default(''),
    // A turn has 2 seconds for all of its context.
    timeout_ms: z.int().min(10).max(1500).default(400),
    batch: z.int().min(1).max(2048).default(64),
  })
  .refine(({ base_url, model }) => (base_url === '') === (model === ''), 'expected both base_url and model, or neither')
  .prefault({});

// --- internal ---

function isEndpoint(text: string): boolean {
  if (text === '') return true;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
