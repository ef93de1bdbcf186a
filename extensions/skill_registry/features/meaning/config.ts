import type { ConfigPart } from '../../core/config/config-keys.ts';
import { integerFrom, isAddress, objectOf, type Reader, refine, text, valueThat } from '../../core/config/readers.ts';

export interface EmbeddingsConfig {
  /** Address of an OpenAI-compatible API without `/embeddings`; empty: search uses words only. */
  readonly base_url: string;
  readonly model: string;
  /** How long a search or a turn waits for the vector of its query, in milliseconds. */
  readonly timeout_ms: number;
  /** Most texts in one request. */
  readonly batch: number;
}

const NO_EMBEDDINGS: EmbeddingsConfig = { base_url: '', model: '', timeout_ms: 400, batch: 64 };
const embeddings: Reader<EmbeddingsConfig> = refine(
  objectOf(
    {
      base_url: valueThat(
        'expected an http(s) address without a password',
        { type: 'string' },
        (value) => value === '' || isAddress(value),
      ),
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

export const meaningConfig: ConfigPart = {
  keys: { embeddings: { read: embeddings, default: NO_EMBEDDINGS, after: 'tools' } },
};
