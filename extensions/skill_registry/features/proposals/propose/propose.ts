import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { CodedError, type TurnContext } from 'skill-registry/kernel';
import { unifiedDiff } from '../../../../../lib/diff/index.ts';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { showHidden } from '../../../../../lib/text/index.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import type { SqliteDatabase } from '../../../core/store/open-database.ts';
import { recordedFiles } from '../../guard/recorded-files.ts';
import { type ChangeContext, type ConflictProposals, withJudgedErrors } from '../../history/change-context.ts';
import { textProblems } from '../../history/changed-text.ts';
import { isPerson, nameKey } from '../../history/journal/writer.ts';
import { putBlob } from '../../history/revisions.ts';
import { folderOf } from '../../history/skill-location.ts';
import type { Check } from '../checks/checks.ts';
import { runChecks } from '../checks/run-checks.ts';
import type { NewProposal } from './proposal-store.ts';
import * as store from './proposal-store.ts';
import { baseOf, type Request, requestOf } from './request.ts';
import { turnOffWarning } from './turned-off.ts';
import type { ProposalInput, ProposalReceipt } from './types.ts';

/** Characters. */
export const MAX_REASON = 10_000;
const MAX_EVIDENCE = 20_000;
/** In total. */
export const MAX_OPEN = 1000;
/** Of one agent for one skill, open and stale. */
export const MAX_WAITING_OF_AUTHOR = 5;

export async function submit(
  context: ChangeContext,
  input: ProposalInput,
  turn: TurnContext | undefined,
): Promise<ProposalReceipt> {
  const { writer } = context;
  const { justification, evidence = null } = input;
  checkWords(input);
  const author = input.author ?? (turn?.agentId ? `agent:${turn.agentId}` : 'unknown');
  const words = { justification, evidence, author, model: turn?.model ?? null };
  for (;;) {
    const request = await withJudgedErrors(context, input.skillId, turn, (quotes) =>
      requestOf(context, input, turn, quotes),
    );
    const { location, kind, path, before, after } = request;
    const row = await newProposal(request, words, writer.now());
    const isStored = await writer.exclusively((database) => {
      const file = writer.record(location).find((recorded) => kind === 'update' && recorded.path === path);
      // Somebody may have changed it while the checks ran.
      if ((file?.kept ? file.digest : baseOf(context, request)) !== request.base) return false;
      store.assertNoDuplicate(database, row);
      if (!isPerson(author)) assertMayPropose(database, row, after);
      const open = database.prepare<{ n: number }>("SELECT count(*) AS n FROM proposal WHERE state = 'open'").get();
      if ((open?.n ?? 0) >= MAX_OPEN)
        throw invalidArgument(
          `${MAX_OPEN} proposals are open, which is the most. Tell the user to approve or reject some of them first.`,
        );
      database.transaction(() => storeProposal(database, request, row));
      writer.step('row');
      return true;
    });
    if (!isStored) continue;
    const warning = path === location.skillFile ? turnOffWarning(location.skillId, before, after) : undefined;
    const file = join(writer.dataDir, store.reportPath(row));
    return { proposalId: row.id, file, state: row.state, ...(warning === undefined ? {} : { warning }) };
  }
}

export async function newProposal(
  request: Request,
  words: Pick<NewProposal, 'justification' | 'evidence' | 'author' | 'model'>,
  created: string,
): Promise<NewProposal> {
  const { location, kind, path, after, base, notes } = request;
  // A diff with wrong line numbers or context may have been applied in the wrong place.
  const ofDiff = notes.map(
    (note): Check => ({ kind: 'diff', level: 'warn', text: `The diff was applied, but: ${note}` }),
  );
  const checks = [...ofDiff, ...(await checksOf(request))];
  return {
    id: proposalId(location.skillId, created),
    state: 'open',
    kind,
    skill_id: location.skillId,
    place: location.key,
    source: location.source,
    path,
    base,
    proposed: after && digestOf(after),
    diff: diffOf(request),
    checks: JSON.stringify(checks),
    created,
    ...words,
  };
}

/** Call it in a transaction. */
export function storeProposal(database: SqliteDatabase, { before, after }: Request, row: NewProposal): void {
  for (const bytes of [before, after]) if (bytes) putBlob(database, bytes);
  store.insertProposal(database, row);
  store.addEvent(database, row.id, 'created', { by: row.author, at: row.created });
}

type Change = Pick<Request, 'location' | 'kind' | 'path' | 'before' | 'after' | 'files'>;

/** Uses only the texts, nothing that the author says. */
export async function checksOf({
  location,
  kind,
  path,
  before,
  after,
  files: known,
}: Change): Promise<readonly Check[]> {
  const { skillId, skillFile, profile } = location;
  const files = known ?? (kind === 'create' ? [] : recordedFiles(folderOf(location)).map((file) => file.path));
  if (kind === 'delete') {
    const text = `The skill goes into the archive with all its files (${files.length}), and can be restored.`;
    return [{ kind: 'size', level: 'warn', text }];
  }
  return runChecks({
    skillId,
    path,
    isSkillFile: path === skillFile,
    before: before?.toString('utf8') ?? null,
    after: after?.toString('utf8') ?? null,
    files,
    problemsOf: (text) => textProblems(text, skillId, profile),
  });
}

export function diffOf({ kind, path, before, after }: Omit<Change, 'location'>): string {
  if (kind === 'delete') return '';
  return unifiedDiff(path, before?.toString('utf8') ?? null, after?.toString('utf8') ?? null);
}

export function checkLength(field: string, text: string, limit: number = MAX_REASON): void {
  if (text.length <= limit) return;
  throw invalidArgument(`${field} has ${text.length} characters, more than ${limit}. Shorten it.`);
}

/** @throws INVALID_ARGUMENT. */
export function checkWords({ justification, evidence = '' }: ProposalInput): void {
  if (justification.trim() === '') throw invalidArgument('justification is empty: say why the change is needed.');
  checkLength('justification', justification);
  checkLength('evidence', evidence, MAX_EVIDENCE);
}

/** Stale from the start; `proposals edit` shows both sides. */
export function conflictProposals({ writer }: Pick<ChangeContext, 'writer'>): ConflictProposals {
  return {
    waiting({ skillId, key }) {
      if (!writer.hasHistory()) return [];
      const rows = store.proposalRows(writer.database(), undefined, { author: UPDATE_AUTHOR, skillId });
      return rows.filter(({ place }) => place === key).map(({ id }) => id);
    },
    async prepare(location, { path, base: before, theirs: after }, justification) {
      const base = before && digestOf(before);
      const request = { location, kind: 'update', path, before, after, base, notes: [] } as const;
      const words = { justification, evidence: null, author: UPDATE_AUTHOR, model: null };
      const row = await newProposal(request, words, writer.now());
      return { id: row.id, store: (database) => storeProposal(database, request, row) };
    },
  };
}

// --- internal ---

/** The author of proposals for files that an update could not merge. */
const UPDATE_AUTHOR = 'origin:update';

/** `<skill id>-<UTC time>-<six hex digits>`, always a valid file name. */
function proposalId(skillId: string, now: string): string {
  const name = skillId.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[.-]+/, '');
  return `${name.slice(0, 80) || 'skill'}-${now.replace(/[-:]|\.\d+/g, '')}-${randomBytes(3).toString('hex')}`;
}

/** Limits for agents; a person has none. @throws PROPOSAL_REJECTED, PROPOSAL_LIMIT. */
function assertMayPropose(database: SqliteDatabase, row: NewProposal, after: Buffer | null): void {
  const rejected = store.rejectedBefore(database, row, after);
  if (rejected) {
    const { id, decided_by: by, decided_at: at, decision_reason: reason } = rejected;
    const told = showHidden((reason ?? '').trim().replace(/[.!?]?$/, '.'));
    const message = `The proposal ${id} had the same content, and ${showHidden(by ?? 'unknown')} rejected it at ${at}: ${told} Do not propose this content again: propose a change that meets the reason, or tell the user why it is needed all the same.`;
    throw new CodedError('PROPOSAL_REJECTED', message, { id, by, at, reason });
  }
  const waiting = store.rowsWhere(database, "state IN ('open', 'stale') AND place = ? ORDER BY seq", row.place);
  const ids = waiting.filter(({ author }) => nameKey(author) === nameKey(row.author)).map(({ id }) => id);
  if (ids.length < MAX_WAITING_OF_AUTHOR) return;
  const message = `${ids.length} proposals of ${showHidden(row.author)} for "${row.skill_id}" wait for a decision, which is the most: ${ids.join(', ')}. Go on without the change until one of them is decided, or tell the user that they wait.`;
  throw new CodedError('PROPOSAL_LIMIT', message, { skill_id: row.skill_id, ids });
}
