import type { CachePart } from '../../core/store/cache.ts';

/**
 * A vector belongs to a text (`documentKey`, `controlKey`) and to a model at an endpoint: no text is embedded twice.
 * Raise the version when the texts change. `signs` (a bit for each number) have a table without the numbers, because
 * a query reads all signs. The triggers remove what was changed by hand, so that it is requested again.
 */
export const VECTORS: CachePart = {
  name: 'vector',
  version: 5,
  sql: `
CREATE TABLE vector_model (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL UNIQUE,
  dimensions INTEGER NOT NULL CHECK (dimensions > 0),
  unrelated REAL CHECK (abs(unrelated) < 2),
  threshold REAL CHECK (abs(threshold) < 2),
  used INTEGER NOT NULL
) STRICT;
CREATE TABLE vector_text (
  model INTEGER NOT NULL REFERENCES vector_model ON DELETE CASCADE,
  key TEXT NOT NULL,
  vector INTEGER NOT NULL,
  signs BLOB NOT NULL,
  PRIMARY KEY (model, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX vector_text_vector ON vector_text (vector);
CREATE TABLE vector_numbers (
  id INTEGER PRIMARY KEY,
  numbers BLOB NOT NULL
) STRICT;
CREATE TRIGGER vector_text_gone AFTER DELETE ON vector_text
BEGIN DELETE FROM vector_numbers WHERE id = old.vector; END;
CREATE TRIGGER vector_model_changed AFTER UPDATE OF id, model, dimensions ON vector_model
BEGIN DELETE FROM vector_text WHERE model IN (old.id, new.id); DELETE FROM vector_model WHERE id = new.id; END;
CREATE TRIGGER vector_text_changed AFTER UPDATE ON vector_text
BEGIN DELETE FROM vector_text WHERE model = new.model AND key = new.key; END;
CREATE TRIGGER vector_numbers_changed AFTER UPDATE ON vector_numbers
BEGIN DELETE FROM vector_text WHERE vector = old.id; END;
CREATE TRIGGER vector_numbers_gone AFTER DELETE ON vector_numbers
BEGIN DELETE FROM vector_text WHERE vector = old.id; END;
`,
};
