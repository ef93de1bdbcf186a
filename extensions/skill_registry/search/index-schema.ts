/**
 * The tables of the full-text index. Change the number in the first line with anything that changes terms or sections: it is
 * part of the cache's version, and a cache of another version is made anew.
 *
 * A document is a content under an id, so what is unchanged is never indexed again. A posting row has the occurrences of one
 * term in 512 documents, appended as documents come; `posting-codec.ts` says how.
 */
export const INDEX_SCHEMA: string = `
-- search index 1
CREATE TABLE search_document (
  number INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  lengths BLOB NOT NULL
);
CREATE TABLE search_posting (
  term TEXT NOT NULL,
  chunk INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (term, chunk)
) WITHOUT ROWID;
CREATE TABLE search_word (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE search_state (generation INTEGER NOT NULL, since INTEGER NOT NULL);
INSERT INTO search_state VALUES (0, 0);
`;
