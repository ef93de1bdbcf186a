/** Of hub.db. `space` is in every table that has something of a team. */
export const SCHEMA = `
CREATE TABLE hub (only INTEGER PRIMARY KEY CHECK (only = 1), epoch TEXT NOT NULL, file TEXT NOT NULL);
CREATE TABLE space (name TEXT PRIMARY KEY, head INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE token (
  id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, space TEXT NOT NULL, role TEXT NOT NULL, person TEXT NOT NULL,
  created TEXT NOT NULL, created_by TEXT NOT NULL, expires TEXT, last_use TEXT, revoked TEXT
) WITHOUT ROWID;
CREATE TABLE artifact (digest TEXT PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE skill (
  space TEXT NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, revision INTEGER NOT NULL, digest TEXT, type TEXT,
  size INTEGER NOT NULL, description TEXT NOT NULL, tags TEXT NOT NULL,
  PRIMARY KEY (space, id)
);
CREATE UNIQUE INDEX skill_by_number ON skill (space, seq);
CREATE INDEX skill_by_digest ON skill (digest);
CREATE TABLE revision (
  space TEXT NOT NULL, skill_id TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, digest TEXT, type TEXT,
  at TEXT NOT NULL, by TEXT NOT NULL, reason TEXT, proposal TEXT, persons TEXT NOT NULL,
  PRIMARY KEY (space, skill_id, number)
);
CREATE TABLE proposal (
  seq INTEGER PRIMARY KEY, space TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, kind TEXT NOT NULL,
  skill_id TEXT NOT NULL, place TEXT NOT NULL, source TEXT NOT NULL, path TEXT NOT NULL, base TEXT, proposed TEXT,
  diff TEXT NOT NULL, checks TEXT NOT NULL, justification TEXT NOT NULL, evidence TEXT, author TEXT NOT NULL, model TEXT,
  created TEXT NOT NULL, conflict TEXT, decided_by TEXT, decided_at TEXT, decision_reason TEXT, revision INTEGER,
  person TEXT NOT NULL, sent_id TEXT, sent_digest TEXT, base_bytes BLOB, new_bytes BLOB, editors TEXT NOT NULL,
  edition INTEGER NOT NULL DEFAULT 1,
  UNIQUE (space, id), UNIQUE (space, person, sent_id)
);
CREATE INDEX proposal_of_skill ON proposal (space, skill_id);
CREATE TABLE proposal_event (
  seq INTEGER PRIMARY KEY, space TEXT NOT NULL, proposal TEXT NOT NULL, kind TEXT NOT NULL, at TEXT NOT NULL,
  by TEXT NOT NULL, content TEXT NOT NULL
);
CREATE INDEX event_of_proposal ON proposal_event (space, proposal);
CREATE TABLE audit (
  seq INTEGER PRIMARY KEY, at TEXT NOT NULL, by TEXT NOT NULL, space TEXT NOT NULL, what TEXT NOT NULL,
  subject TEXT NOT NULL, details TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit is only added to'); END;
CREATE TRIGGER audit_is_as_written BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit is only added to'); END;
`;

/** What machines share. */
export const USAGE = `
CREATE TABLE usage_sent (
  space TEXT NOT NULL, person TEXT NOT NULL, id TEXT NOT NULL, day TEXT NOT NULL, PRIMARY KEY (space, person, id)
) WITHOUT ROWID;
CREATE INDEX usage_sent_by_day ON usage_sent (space, day);
CREATE TABLE usage_count (
  space TEXT NOT NULL, day TEXT NOT NULL, skill_id TEXT NOT NULL, agent TEXT NOT NULL, machine TEXT NOT NULL,
  loads INTEGER NOT NULL, refused INTEGER NOT NULL, PRIMARY KEY (space, day, skill_id, agent, machine)
) WITHOUT ROWID;
`;

/** The second step: people without a token, and what reviewers have allowed. */
export const PEOPLE = `
ALTER TABLE skill ADD COLUMN allowed TEXT NOT NULL DEFAULT '[]';
CREATE TABLE person (
  key TEXT NOT NULL, space TEXT NOT NULL, person TEXT NOT NULL, role TEXT, PRIMARY KEY (key, space)
) WITHOUT ROWID;
CREATE TABLE account (account TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, person TEXT NOT NULL) WITHOUT ROWID;
`;
