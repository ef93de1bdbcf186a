import { integerFrom, type Reader, refine, sectionOf, text, valueThat } from './readers.ts';

/** The endpoint that search by meaning asks for vectors. */
export interface EmbeddingsConfig {
  /** Address of an OpenAI-compatible API without `/embeddings`; empty: search uses words only. */
  readonly base_url: string;
  readonly model: string;
  /** How long a search or a turn waits for the vector of its query, in milliseconds. */
  readonly timeout_ms: number;
  /** At most this many texts in one request. */
  readonly batch: number;
}

export const NO_EMBEDDINGS: EmbeddingsConfig = { base_url: '', model: '', timeout_ms: 400, batch: 64 };

export const embeddings: Reader<EmbeddingsConfig> = refine(
  sectionOf(
    {
      base_url: valueThat('expected an http(s) address without a password', { type: 'string' }, isEndpoint),
      model: text,
      // All context of a turn must be ready after 2 seconds.
      timeout_ms: integerFrom(10, 1500),
      batch: integerFrom(1, 2048),
    },
    NO_EMBEDDINGS,
  ),
  'expected both base_url and model, or neither',
  ({ base_url, model }) => (base_url === '') === (model === ''),
);

// --- internal ---

function isEndpoint(text: unknown): boolean {
  if (typeof text !== 'string' || text === '') return text === '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
