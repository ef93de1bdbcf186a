import type { CachePart } from '../../store/cache.ts';

/**
 * The tables of vectors. Raise the version with anything that changes the texts.
 *
 * A vector belongs to a text (`documentKey` of a skill, `controlKey`) and to a model at an endpoint, so that nothing is ever asked
 * for twice. `unrelated` and `threshold` are the model's `Calibration`; `used` is when it was last asked for something.
 */
export const VECTORS: CachePart = {
  name: 'vector',
  version: 3,
  sql: `
CREATE TABLE vector_model (
  model TEXT PRIMARY KEY,
  dimensions INTEGER NOT NULL,
  unrelated REAL,
  threshold REAL,
  used INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE vector_text (
  model TEXT NOT NULL REFERENCES vector_model ON DELETE CASCADE,
  key TEXT NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (model, key)
);
`,
};
