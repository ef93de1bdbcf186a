import type { CachePart } from '../../store/cache.ts';

/**
 * The tables of vectors. Raise the version with anything that changes the texts.
 *
 * A vector belongs to a text (`documentKey` of a skill, `controlKey`) and to a model at an endpoint, so that nothing is ever asked
 * for twice. The triggers remove what somebody has changed by hand, so that it is asked for again. `unrelated` and `threshold` are the model's `Calibration`; `used` is when it was last asked for something.
 */
export const VECTORS: CachePart = {
  name: 'vector',
  version: 4,
  sql: `
CREATE TABLE vector_model (
  model TEXT PRIMARY KEY,
  dimensions INTEGER NOT NULL CHECK (dimensions > 0),
  unrelated REAL CHECK (abs(unrelated) < 2),
  threshold REAL CHECK (abs(threshold) < 2),
  used INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE vector_text (
  model TEXT NOT NULL REFERENCES vector_model ON DELETE CASCADE,
  key TEXT NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (model, key)
) STRICT;
CREATE TRIGGER vector_model_changed AFTER UPDATE OF dimensions ON vector_model
BEGIN DELETE FROM vector_text WHERE model = new.model; DELETE FROM vector_model WHERE model = new.model; END;
CREATE TRIGGER vector_text_changed AFTER UPDATE ON vector_text
BEGIN DELETE FROM vector_text WHERE model = new.model AND key = new.key; END;
`,
};
