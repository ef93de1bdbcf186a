import { onlyIf, type Reader, sectionOf, text, valueThat, wholeFrom } from './readers.ts';

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

/** Search goes by words alone. */
export const NO_EMBEDDINGS: EmbeddingsConfig = { base_url: '', model: '', timeout_ms: 400, batch: 64 };

export const embeddings: Reader<EmbeddingsConfig> = onlyIf(
  sectionOf(
    {
      base_url: valueThat('expected an http(s) address without a password', isEndpoint),
      model: text,
      // A turn has 2 seconds for all of its context.
      timeout_ms: wholeFrom(10, 1500),
      batch: wholeFrom(1, 2048),
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
