import type { CachePart } from '../../store/cache.ts';

/**
 * The tables of vectors. Raise the version with anything that changes the texts.
 *
 * A vector belongs to a content under an id (`documentKey`) and to a model at an endpoint, so that nothing is ever asked for
 * twice. `signs` has one bit a number: with them the few are found that are worth comparing exactly.
 */
export const VECTORS: CachePart = {
  name: 'vector',
  version: 2,
  sql: `
CREATE TABLE vector_model (
  model TEXT PRIMARY KEY,
  dimensions INTEGER NOT NULL,
  noise REAL,
  least REAL,
  used INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE vector_sign (
  -- Never used again for another content: other processes remember it.
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  model TEXT NOT NULL REFERENCES vector_model ON DELETE CASCADE,
  key TEXT NOT NULL,
  signs BLOB NOT NULL,
  UNIQUE (model, key)
);
CREATE TABLE vector_exact (
  number INTEGER PRIMARY KEY REFERENCES vector_sign ON DELETE CASCADE,
  vector BLOB NOT NULL
);
`,
};
