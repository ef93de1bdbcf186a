import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from 'skill-registry/kernel';
import { listContained, removeContained } from '../../../../../lib/files/index.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { removeFiles } from '../../../core/store/cache.ts';
import { openDatabase, type SqliteDatabase } from '../../../core/store/open-database.ts';
import type { Writer } from '../../history/journal/writer.ts';
import { getBlob } from '../../history/revisions.ts';
import type { Actor } from '../../history/types.ts';
import type { ProposalRow } from '../propose/proposal-store.ts';
import * as store from '../propose/proposal-store.ts';
import type { PurgedProposal } from '../propose/types.ts';

/** The rows stay, with digests of the contents. @param caches - Removed, because they may have the texts. */
export async function purge(
  writer: Writer,
  ids: readonly string[],
  { by }: Pick<Actor, 'by'>,
  caches: readonly string[],
): Promise<readonly PurgedProposal[]> {
  if (ids.length === 0) throw invalidArgument('Name a proposal to purge.');
  const [first = ''] = ids;
  store.historyFor(first, writer);
  return writer.exclusively((database, dataDir) => {
    const rows = ids.map((id) => store.rowOf(database, id));
    const notRejected = rows.find(({ state }) => state !== 'rejected');
    if (notRejected) {
      const { id, state } = notRejected;
      const approved = 'its text is part of the history of the skill, from which no command removes it.';
      const why =
        state === 'approved' ? approved : `reject it first (\`skill-registry proposals reject ${id} --reason TEXT\`).`;
      const message = `The proposal ${id} is ${state}, and only rejected proposals can be purged: ${why}`;
      throw new CodedError('PROPOSAL_NOT_REJECTED', message, { id, state });
    }
    const contents = rows.map((row) => contentsOf(database, row));
    const mark = { by, at: writer.now() };
    purgeRows(database, ids, mark);
    for (const id of ids) removeProposalFiles(dataDir, id);
    for (const name of readdirSync(dataDir))
      if (/^history\.db\.v\d+\.backup$/.test(name)) purgeBackup(join(dataDir, name), ids, mark);
    // The search effect was computed with an index of the proposal's words.
    for (const cache of caches) {
      removeFiles(cache);
      if (existsSync(cache)) throw stillThere(cache);
    }
    shrink(database, join(dataDir, 'history.db'));
    return rows.map(({ id, skill_id: skillId }, at) => ({
      proposalId: id,
      skillId,
      purged: store.purgeOf(database, id) as NonNullable<ReturnType<typeof store.purgeOf>>,
      shared: contents[at]?.filter((digest) => isKept(database, digest)).length ?? 0,
    }));
  });
}

// --- internal ---

type Mark = { readonly by: string; readonly at: string };

function purgeRows(database: SqliteDatabase, ids: readonly string[], mark: Mark): void {
  database.exec('PRAGMA secure_delete = ON');
  database.transaction(() => {
    for (const id of ids) {
      const row = store.rowOf(database, id);
      const [reason, marks] = [reasonToKeep(database, row), store.contentDigestsOf(database, row)];
      database
        .prepare(
          `UPDATE proposal SET diff = '', justification = '', evidence = NULL, checks = '[]', conflict = NULL, base = NULL,
               proposed = NULL, decision_reason = ?, file_digest = NULL, file_due = 0, version = version + 1 WHERE id = ?`,
        )
        .run(reason, id);
      database.prepare("DELETE FROM proposal_event WHERE proposal = ? AND kind = 'recommended'").run(id);
      database.prepare("UPDATE proposal_event SET content = '{}' WHERE proposal = ? AND kind <> 'purged'").run(id);
      if (!store.purgeOf(database, id)) store.addEvent(database, id, 'purged', mark, { marks });
    }
    database.exec(DELETE_UNREFERENCED);
  });
}

/** A word of the reason is removed if it shares so many characters in a row with a purged text. */
const QUOTED_CHARACTERS = 8;

/** The reason without words quoted from the purged texts, unless the skill had them before. */
function reasonToKeep(database: SqliteDatabase, row: ProposalRow): string | null {
  const { diff, justification, evidence, conflict, recommendations } = store.proposalOf(database, row, '');
  const contents = contentsOf(database, row).map((digest) => getBlob(database, digest).toString('utf8'));
  const texts = [diff, justification, evidence, conflict, ...recommendations.map(({ reason }) => reason), ...contents];
  const before = row.base !== null && isKept(database, row.base) ? getBlob(database, row.base).toString('utf8') : '';
  const purged = texts.join('\n');
  const isQuoted = (word: string): boolean => {
    for (let at = 0; at <= word.length - QUOTED_CHARACTERS; at++) {
      const part = word.slice(at, at + QUOTED_CHARACTERS);
      if (purged.includes(part) && !before.includes(part)) return true;
    }
    return false;
  };
  return row.decision_reason?.replace(/\S+/g, (word) => (isQuoted(word) ? '[purged]' : word)) ?? null;
}

/** Contents that no revision, proposal, event or unfinished change names. */
const DELETE_UNREFERENCED = `
DELETE FROM blob WHERE digest NOT IN (
  SELECT file.value ->> 'digest' FROM revision, json_each(revision.tree) AS file WHERE file.value ->> 'digest' IS NOT NULL
  UNION SELECT base FROM proposal WHERE base IS NOT NULL
  UNION SELECT proposed FROM proposal WHERE proposed IS NOT NULL
  UNION SELECT part.atom FROM proposal_event, json_tree(proposal_event.content) AS part WHERE part.type = 'text'
  UNION SELECT part.atom FROM operation, json_tree(operation.content) AS part WHERE part.type = 'text'
)`;

/** Also of its earlier versions. */
function contentsOf(database: SqliteDatabase, { id, proposed }: ProposalRow): readonly string[] {
  const sql = `SELECT DISTINCT part.atom AS digest FROM proposal_event AS event, json_tree(event.content) AS part
    WHERE event.proposal = ? AND part.atom IN (SELECT digest FROM blob)`;
  const found = database.prepare<{ digest: string }>(sql).all(id);
  return [...new Set([...found.map(({ digest }) => digest), ...(proposed === null ? [] : [proposed])])];
}

function isKept(database: SqliteDatabase, digest: string): boolean {
  return database.prepare('SELECT 1 FROM blob WHERE digest = ?').get(digest) !== undefined;
}

/** The report, its copies and files of editors: only they have the id in their name. */
function removeProposalFiles(dataDir: string, id: string): void {
  if (!existsSync(join(dataDir, 'proposals'))) return;
  for (const { name, kind } of listContained(dataDir, 'proposals', { own: true })) {
    if (kind === 'file' && name.includes(id)) removeContained(dataDir, `proposals/${name}`, { own: true });
  }
}

function purgeBackup(file: string, ids: readonly string[], mark: Mark): void {
  const database = openDatabase(file);
  try {
    const select = database.prepare('SELECT 1 FROM proposal WHERE id = ?');
    const present = ids.filter((id) => select.get(id) !== undefined);
    if (present.length === 0) return;
    purgeRows(database, present, mark);
    shrink(database, file);
  } finally {
    database.close();
  }
}

/** Afterwards no page has deleted texts, and the write-ahead log is empty. */
function shrink(database: SqliteDatabase, file: string): void {
  database.exec('VACUUM');
  const { busy } = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
  database.exec('PRAGMA secure_delete = OFF');
  if (busy !== 0) throw stillThere(`${file}-wal`);
}

function stillThere(file: string): CodedError {
  const message = `The texts are purged, but another process has ${file} open, which may still have them. End that process or wait until it has ended, then purge again.`;
  return new CodedError('HISTORY_BUSY', message, { file });
}
