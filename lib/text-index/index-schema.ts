/**
 * The tables of the full-text index. Raise the version with anything that changes terms or sections.
 *
 * A document is a content under an id, so what is unchanged is never indexed again. A posting row has the occurrences of one
 * term in 512 documents, appended as documents come; `posting-codec.ts` says how. Numbers of documents are handed out first
 * (`next`) and their postings written, in any order between processes; a document is there when its row is, `seq` says in which
 * order they came. Postings of a number that never got its row mean nothing.
 */
export const SEARCH_INDEX: { readonly name: string; readonly version: number; readonly sql: string } = {
  name: 'search',
  version: 3,
  sql: `
CREATE TABLE search_document (
  seq INTEGER PRIMARY KEY,
  number INTEGER NOT NULL,
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
CREATE TABLE search_state (generation INTEGER NOT NULL, since INTEGER NOT NULL, next INTEGER NOT NULL);
INSERT INTO search_state VALUES (0, 0, 0);
`,
};
