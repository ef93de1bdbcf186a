import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { CodedError, TurnContext } from 'skill-registry/kernel';
import { unifiedDiff } from '../../../lib/diff/index.ts';
import { digestOf } from '../../../lib/digest/index.ts';
import { type ChangeContext, withJudgedErrors } from '../history/change-context.ts';
import { putBlob } from '../history/revisions.ts';
import { folderOf } from '../history/skill-location.ts';
import { recordedFiles } from '../history/skill-tree.ts';
import { isPerson } from '../history/writer.ts';
import { runChecks } from '../inspect/checks.ts';
import type { Check } from '../inspect/findings.ts';
import { invalidArgument } from '../skill/errors.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { textProblems } from '../validate/changed-text.ts';
import { proposalDuplicate, proposalLimit, proposalRejected } from './errors.ts';
import { addEvent, insertProposal, type NewProposal, openDuplicate, reportPath, waitingOf } from './proposal-store.ts';
import { rejectedBefore } from './rejected-before.ts';
import { baseOf, type Request, requestOf } from './request.ts';
import { turnOffWarning } from './turned-off.ts';
import type { ProposalInput, ProposalReceipt } from './types.ts';

/** Characters of a justification, and of the reason of a decision. */
export const MAX_REASON = 10_000;
const MAX_EVIDENCE = 20_000;
/** Open proposals in total. */
const MAX_OPEN = 1000;
/** Open and stale proposals of one agent for one skill. */
const MAX_WAITING_OF_AUTHOR = 5;

/** Checks a proposal, stores it and writes its report. @throws as `Proposals.propose`. */
export async function submit(
  context: ChangeContext,
  input: ProposalInput,
  turn: TurnContext | undefined,
): Promise<ProposalReceipt> {
  const { writer } = context;
  checkWords(input);
  for (;;) {
    const request = await withJudgedErrors(context, input.skillId, turn, (quotes) =>
      requestOf(context, input, turn, quotes),
    );
    const checks = [...request.notes.map(asCheck), ...(await checksOf(request))];
    const row: Omit<NewProposal, 'proposed'> = {
      id: proposalId(request.location.skillId, writer.now()),
      state: 'open',
      kind: request.kind,
      skill_id: request.location.skillId,
      place: request.location.key,
      source: request.location.source,
      path: request.path,
      base: request.base,
      diff: diffOf(request),
      justification: input.justification,
      evidence: input.evidence ?? null,
      checks: JSON.stringify(checks),
      author: input.author ?? (turn?.agentId ? `agent:${turn.agentId}` : 'unknown'),
      model: turn?.model ?? null,
      created: writer.now(),
    };
    const isStored = await writer.exclusively((database) => {
      // Somebody may have changed it while the checks ran.
      if (baseOf(context, request) !== request.base) return false;
      const { before, after } = request;
      writer.record(request.location);
      if (before) putBlob(database, before);
      const whole: NewProposal = { ...row, proposed: after === null ? null : digestOf(after) };
      const duplicate = openDuplicate(database, whole);
      if (duplicate !== undefined) throw proposalDuplicate(duplicate);
      if (!isPerson(whole.author)) assertMayPropose(database, whole, after);
      const open = database.prepare("SELECT count(*) AS n FROM proposal WHERE state = 'open'").get() as { n: number };
      if (open.n >= MAX_OPEN)
        throw invalidArgument(
          `${MAX_OPEN} proposals are open, which is the most. Tell the user to approve or reject some of them first.`,
        );
      database.transaction(() => {
        if (after) putBlob(database, after);
        insertProposal(database, whole);
        addEvent(database, whole.id, 'created', { by: whole.author, at: whole.created });
      });
      writer.step('row');
      return true;
    });
    if (!isStored) continue;
    const isSkillFile = request.path === request.location.skillFile;
    const warning = isSkillFile ? turnOffWarning(request.before, request.after) : undefined;
    const file = join(writer.dataDir, reportPath(row));
    return { proposalId: row.id, file, state: row.state, ...(warning === undefined ? {} : { warning }) };
  }
}

/** Computed from the texts; what the author says is not used. */
export async function checksOf({
  location,
  kind,
  path,
  before,
  after,
}: Pick<Request, 'location' | 'kind' | 'path' | 'before' | 'after'>): Promise<readonly Check[]> {
  const files = kind === 'create' ? [] : recordedFiles(folderOf(location)).map((file) => file.path);
  if (kind === 'delete') {
    return [
      {
        kind: 'size',
        level: 'warn',
        text: `The skill goes into the archive with all its files (${files.length}), and can be restored.`,
      },
    ];
  }
  const isSkillFile = path === location.skillFile;
  const decode = (bytes: Buffer | null): string | null => bytes?.toString('utf8') ?? null;
  return runChecks({
    skillId: location.skillId,
    path,
    isSkillFile,
    before: decode(before),
    after: decode(after),
    files,
    problemsOf: (text) => textProblems(text, location.skillId, location.validation),
  });
}

export function diffOf({ kind, path, before, after }: Pick<Request, 'kind' | 'path' | 'before' | 'after'>): string {
  if (kind === 'delete') return '';
  return unifiedDiff(path, before?.toString('utf8') ?? null, after?.toString('utf8') ?? null);
}

/** `<skill id>-<UTC time>-<six hex digits>`: a name of a file, whatever the skill is called. */
export function proposalId(skillId: string, now: string): string {
  const name =
    skillId
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[.-]+/, '')
      .slice(0, 80) || 'skill';
  return `${name}-${now.replace(/[-:]|\.\d+/g, '')}-${randomBytes(3).toString('hex')}`;
}

export function tooLong(field: string, text: string, limit: number): CodedError {
  return invalidArgument(`${field} has ${text.length} characters, more than ${limit}. Shorten it.`);
}

// --- internal ---

/** These limits are for agents; a person has none. @throws PROPOSAL_REJECTED, PROPOSAL_LIMIT. */
function assertMayPropose(database: SqliteDatabase, row: NewProposal, after: Buffer | null): void {
  const rejected = rejectedBefore(database, row, after);
  if (rejected) {
    const { id, decided_by: by, decided_at: at, decision_reason: reason } = rejected;
    throw proposalRejected(id, by ?? 'unknown', at ?? 'an unknown time', reason ?? '');
  }
  const waiting = waitingOf(database, row);
  if (waiting.length >= MAX_WAITING_OF_AUTHOR) throw proposalLimit(row.skill_id, row.author, waiting);
}

/** A diff with wrong line numbers or context may have been applied where its author did not mean it. */
function asCheck(note: string): Check {
  return { kind: 'diff', level: 'warn', text: `The diff was applied, but: ${note}` };
}

function checkWords({ justification, evidence = '' }: ProposalInput): void {
  if (justification.trim() === '') throw invalidArgument('justification is empty: say why the change is needed.');
  if (justification.length > MAX_REASON) throw tooLong('justification', justification, MAX_REASON);
  if (evidence.length > MAX_EVIDENCE) throw tooLong('evidence', evidence, MAX_EVIDENCE);
}
