import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import { listContained, removeContained } from '../../../lib/files/index.ts';
import { proposalNotFound, proposalNotRejected } from '../history/errors.ts';
import type { Actor } from '../history/types.ts';
import type { Writer } from '../history/writer.ts';
import { addEvent, findRow, type ProposalRow, purgeOf } from '../propose/proposal-store.ts';
import type { PurgedProposal } from '../propose/types.ts';
import { invalidArgument } from '../skill/errors.ts';
import { removeFiles } from '../store/cache.ts';
import { openDatabase, type SqliteDatabase } from '../store/open-database.ts';

/**
 * Takes the texts of rejected proposals out of everything below the data folder, so that their bytes are in no file of it. The
 * rows stay, and say who has done so and when. What was purged before is looked for again.
 *
 * @param caches - Files that may hold them, too, and are made anew.
 * @throws as `Proposals.purge`.
 */
export async function purge(
  writer: Writer,
  ids: readonly string[],
  { by }: Pick<Actor, 'by'>,
  caches: readonly string[],
): Promise<readonly PurgedProposal[]> {
  if (ids.length === 0) throw invalidArgument('Name a proposal to purge.');
  const [first = ''] = ids;
  if (!writer.hasHistory()) throw proposalNotFound(first, []);
  return writer.exclusively((database, dataDir) => {
    const rows = ids.map((id) => findRow(database, id));
    const other = rows.find(({ state }) => state !== 'rejected');
    if (other) throw proposalNotRejected(other.id, other.state);
    const contents = new Map(rows.map((row) => [row.id, contentsOf(database, row)]));
    purgeRows(database, rows, { by, at: writer.now() });
    for (const { id } of rows) removeProposalFiles(dataDir, id);
    for (const backup of backupsIn(dataDir)) purgeBackup(backup, rows, { by, at: writer.now() });
    // Its words were indexed to see what they would do to search; a cache makes itself anew.
    for (const cache of caches) {
      removeFiles(cache);
      if (existsSync(cache)) throw stillThere(cache);
    }
    shrink(database, join(dataDir, 'history.db'));
    return rows.map(({ id, skill_id: skillId }) => ({
      proposalId: id,
      skillId,
      purged: purgeOf(database, id) as NonNullable<ReturnType<typeof purgeOf>>,
      shared: (contents.get(id) ?? []).filter((digest) => isKept(database, digest)).length,
    }));
  });
}

// --- internal ---

type Mark = { readonly by: string; readonly at: string };

function purgeRows(database: SqliteDatabase, rows: readonly Pick<ProposalRow, 'id'>[], mark: Mark): void {
  database.exec('PRAGMA secure_delete = ON');
  database.transaction(() => {
    for (const { id } of rows) {
      database
        .prepare(
          `UPDATE proposal SET diff = '', justification = '', evidence = NULL, checks = '[]', conflict = NULL, base = NULL,
               proposed = NULL, decision_reason = NULL, file_digest = NULL, file_due = 0, version = version + 1 WHERE id = ?`,
        )
        .run(id);
      database.prepare("DELETE FROM proposal_event WHERE proposal = ? AND kind = 'recommended'").run(id);
      database.prepare("UPDATE proposal_event SET content = '{}' WHERE proposal = ?").run(id);
      if (!purgeOf(database, id)) addEvent(database, id, 'purged', mark);
    }
    database.exec(DELETE_UNREFERENCED);
  });
}

/** Contents that no revision, no proposal, none of its events and no change under way has: an edit may have left some as well. */
const DELETE_UNREFERENCED = `
DELETE FROM blob WHERE digest NOT IN (
  SELECT file.value ->> 'digest' FROM revision, json_each(revision.tree) AS file WHERE file.value ->> 'digest' IS NOT NULL
  UNION SELECT base FROM proposal WHERE base IS NOT NULL
  UNION SELECT proposed FROM proposal WHERE proposed IS NOT NULL
  UNION SELECT part.atom FROM proposal_event, json_tree(proposal_event.content) AS part WHERE part.type = 'text'
  UNION SELECT part.atom FROM operation, json_tree(operation.content) AS part WHERE part.type = 'text'
)`;

/** Digests of what the proposal wanted, and of what it was before people edited it. */
function contentsOf(database: SqliteDatabase, { id, proposed }: ProposalRow): readonly string[] {
  const found = database
    .prepare(
      `SELECT DISTINCT part.atom AS digest FROM proposal_event AS event, json_tree(event.content) AS part
       WHERE event.proposal = ? AND part.atom IN (SELECT digest FROM blob)`,
    )
    .all(id) as { digest: string }[];
  return [...new Set([...found.map(({ digest }) => digest), ...(proposed === null ? [] : [proposed])])];
}

function isKept(database: SqliteDatabase, digest: string): boolean {
  return database.prepare('SELECT 1 FROM blob WHERE digest = ?').get(digest) !== undefined;
}

/** Its report, and what editors have left of it. Nothing else has this id in its name. */
function removeProposalFiles(dataDir: string, id: string): void {
  for (const { name, kind } of entriesOf(dataDir)) {
    if (kind === 'file' && name.includes(id)) removeContained(dataDir, `proposals/${name}`, { own: true });
  }
}

function entriesOf(dataDir: string): ReturnType<typeof listContained> {
  try {
    return listContained(dataDir, 'proposals', { own: true });
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_NOT_FOUND')) return [];
    throw error;
  }
}

/** What a migration has kept of the state before it. */
function backupsIn(dataDir: string): readonly string[] {
  return readdirSync(dataDir)
    .filter((name) => /^history\.db\.v\d+\.backup$/.test(name))
    .map((name) => join(dataDir, name));
}

function purgeBackup(file: string, rows: readonly ProposalRow[], mark: Mark): void {
  const database = openDatabase(file);
  try {
    const known = database.prepare('SELECT 1 FROM proposal WHERE id = ?');
    const there = rows.filter(({ id }) => known.get(id) !== undefined);
    if (there.length === 0) return;
    purgeRows(database, there, mark);
    shrink(database, file);
  } finally {
    database.close();
  }
}

/** Writes the database anew, so that no page holds what was deleted, and empties the log of changes before. */
function shrink(database: SqliteDatabase, file: string): void {
  database.exec('VACUUM');
  const { busy } = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
  database.exec('PRAGMA secure_delete = OFF');
  if (busy !== 0) throw stillThere(`${file}-wal`);
}

function stillThere(file: string): CodedError {
  const message = `The texts are purged, but another process holds ${file}, in which they may still be. End it, or wait, and purge once more.`;
  return new CodedError('HISTORY_BUSY', message, { file });
}
