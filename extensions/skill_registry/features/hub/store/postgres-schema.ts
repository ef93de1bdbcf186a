/** Each makes the next version of the tables. What was released is not changed: a later release adds one. */
const STEPS: readonly string[] = [
  `CREATE SCHEMA skill_hub;
CREATE TABLE skill_hub.hub (
  id integer PRIMARY KEY CHECK (id = 1), version integer NOT NULL, epoch text NOT NULL, place text NOT NULL
);
INSERT INTO skill_hub.hub VALUES (1, 0, '', '');
CREATE TABLE skill_hub.space (name text PRIMARY KEY, head integer NOT NULL, moved integer NOT NULL);
CREATE TABLE skill_hub.token (
  id text PRIMARY KEY, hash text NOT NULL UNIQUE, space text NOT NULL, role text NOT NULL, person text NOT NULL,
  created text NOT NULL, created_by text NOT NULL, expires text, last_use text, revoked text
);
CREATE TABLE skill_hub.person (
  key text NOT NULL, space text NOT NULL, person text NOT NULL, role text, PRIMARY KEY (key, space)
);
CREATE TABLE skill_hub.account (account text PRIMARY KEY, key text NOT NULL UNIQUE, person text NOT NULL);
CREATE TABLE skill_hub.artifact (digest text PRIMARY KEY, bytes bytea NOT NULL);
CREATE TABLE skill_hub.skill (
  space text NOT NULL, id text NOT NULL, seq integer NOT NULL, revision integer NOT NULL, digest text, type text,
  size integer NOT NULL, description text NOT NULL, tags text NOT NULL, allowed text NOT NULL,
  PRIMARY KEY (space, id), UNIQUE (space, seq)
);
CREATE INDEX skill_by_digest ON skill_hub.skill (digest);
CREATE TABLE skill_hub.revision (
  space text NOT NULL, skill_id text NOT NULL, number integer NOT NULL, kind text NOT NULL, digest text, type text,
  at text NOT NULL, by text NOT NULL, reason text, proposal text, persons text NOT NULL,
  PRIMARY KEY (space, skill_id, number)
);
CREATE TABLE skill_hub.proposal (
  seq integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, space text NOT NULL, id text NOT NULL, state text NOT NULL,
  kind text NOT NULL, skill_id text NOT NULL, place text NOT NULL, source text NOT NULL, path text NOT NULL, base text,
  proposed text, diff text NOT NULL, checks text NOT NULL, justification text NOT NULL, evidence text,
  author text NOT NULL, model text, created text NOT NULL, conflict text, decided_by text, decided_at text,
  decision_reason text, revision integer, person text NOT NULL, sent_id text, sent_digest text, base_bytes bytea,
  new_bytes bytea, editors text NOT NULL, edition integer NOT NULL DEFAULT 1,
  UNIQUE (space, id), UNIQUE (space, person, sent_id)
);
CREATE INDEX proposal_of_skill ON skill_hub.proposal (space, skill_id);
CREATE TABLE skill_hub.proposal_event (
  seq integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, space text NOT NULL, proposal text NOT NULL, kind text NOT NULL,
  at text NOT NULL, by text NOT NULL, content text NOT NULL
);
CREATE INDEX event_of_proposal ON skill_hub.proposal_event (space, proposal);
CREATE TABLE skill_hub.audit (
  seq integer PRIMARY KEY, at text NOT NULL, by text NOT NULL, space text NOT NULL, what text NOT NULL,
  subject text NOT NULL, details text NOT NULL, hash text NOT NULL
);`,
  `CREATE TABLE skill_hub.usage_sent (
  space text NOT NULL, person text NOT NULL, id text NOT NULL, day text NOT NULL, PRIMARY KEY (space, person, id)
);
CREATE INDEX usage_sent_by_day ON skill_hub.usage_sent (space, day);
CREATE TABLE skill_hub.usage_count (
  space text NOT NULL, day text NOT NULL, skill_id text NOT NULL, agent text NOT NULL, machine text NOT NULL,
  loads bigint NOT NULL, refused bigint NOT NULL, PRIMARY KEY (space, day, skill_id, agent, machine)
);`,
];

export const VERSION: number = STEPS.length;

/** What a hub may also take out of, what it may change, and what it may only add to. */
const TAKEN_FROM = ['person', 'account', 'usage_sent', 'usage_count'];
const CHANGED = ['hub', 'space', 'token', 'skill', 'proposal'];
const ADDED_TO = ['artifact', 'revision', 'proposal_event', 'audit'];

/** @param from - The version that is there; 0: none. @param role - That of the hubs: `[a-z_][a-z0-9_]*`. */
export function migrationFrom(from: number, role: string | undefined): string {
  const steps = STEPS.slice(from);
  const namesOf = (tables: readonly string[]): string => tables.map((table) => `skill_hub.${table}`).join(', ');
  const grants = [
    `GRANT USAGE ON SCHEMA skill_hub TO "${role}";`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ${namesOf(TAKEN_FROM)} TO "${role}";`,
    `GRANT SELECT, INSERT, UPDATE ON ${namesOf(CHANGED)} TO "${role}";`,
    `GRANT SELECT, INSERT ON ${namesOf(ADDED_TO)} TO "${role}";`,
  ];
  const made = steps.length > 0 ? [...steps, `UPDATE skill_hub.hub SET version = ${VERSION};`] : [];
  return [...made, ...(role === undefined ? [] : grants)].join('\n');
}

/** Another one after a restore, and where a copy of the database has taken over. */
export const PLACE = `concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
  left(pg_walfile_name(pg_current_wal_lsn()), 8), (SELECT oid FROM pg_database WHERE datname = current_database()),
  'skill_hub.hub'::regclass::oid)`;

/** Every role that the session has or may take, with what a hub must not be able to do. */
export const RIGHTS = `SELECT rolname AS name,
    rolsuper OR rolcreaterole OR rolname IN ('pg_execute_server_program', 'pg_write_server_files') AS above,
    EXISTS (SELECT FROM pg_class WHERE relnamespace = 'skill_hub'::regnamespace AND relowner = role.oid)
      OR EXISTS (SELECT FROM pg_namespace WHERE nspname = 'skill_hub' AND nspowner = role.oid)
      OR EXISTS (SELECT FROM pg_database WHERE datname = current_database() AND datdba = role.oid) AS owner,
    has_table_privilege(role.oid, 'skill_hub.audit', 'UPDATE, DELETE, TRUNCATE, TRIGGER')
      OR has_any_column_privilege(role.oid, 'skill_hub.audit', 'UPDATE') AS changes
  FROM pg_roles AS role WHERE pg_has_role(session_user, role.oid, 'MEMBER')`;
