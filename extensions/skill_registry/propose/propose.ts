import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type CodedError, describeError, isCodedError, type TurnContext } from 'skill-registry/kernel';
import { applyDiff, unifiedDiff } from '../../../lib/diff/index.ts';
import { digestOf } from '../../../lib/digest/index.ts';
import {
  type ChangeContext,
  findLocation,
  newLocation,
  type Quotes,
  withJudgedErrors,
} from '../history/change-context.ts';
import { noChange, writeDenied } from '../history/errors.ts';
import { putBlob } from '../history/revisions.ts';
import {
  assertRemovable,
  bytesAfter,
  bytesAt,
  checkNewName,
  checkSize,
  checkValid,
  decodeText,
  filePath,
  folderOf,
  type SkillLocation,
} from '../history/skill-location.ts';
import { readFolderTree, recordedFiles, treeDigest } from '../history/skill-tree.ts';
import { isPerson } from '../history/writer.ts';
import { runChecks } from '../inspect/checks.ts';
import type { Check } from '../inspect/findings.ts';
import type { RetrievalChange } from '../search/overlap/trigger-queries.ts';
import { invalidArgument } from '../skill/errors.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { textProblems } from '../validate/changed-text.ts';
import { diffFailed, proposalDuplicate, proposalLimit, proposalRejected } from './errors.ts';
import { addEvent, insertProposal, type NewProposal, openDuplicate, reportPath, waitingOf } from './proposal-store.ts';
import { rejectedBefore } from './rejected-before.ts';
import { replaceText } from './skill-text.ts';
import { skillTurnedOffBy, turnOffWarning, turnsOn } from './turned-off.ts';
import type { ProposalInput, ProposalReceipt } from './types.ts';

/** Characters of a justification, and of the reason of a decision. */
export const MAX_REASON = 10_000;
const MAX_EVIDENCE = 20_000;
/** Open proposals in total. */
const MAX_OPEN = 1000;
/** Open and stale proposals of one agent for one skill. */
const MAX_WAITING_OF_AUTHOR = 5;

/** A proposed change, compared with the present content. */
export interface Request {
  readonly location: SkillLocation;
  readonly kind: NewProposal['kind'];
  readonly path: string;
  readonly before: Buffer | null;
  readonly after: Buffer | null;
  /** Digest of the file that is changed; for a deletion of the whole skill; null for a new file. */
  readonly base: string | null;
  /** What is wrong with the diff, though it could be applied. */
  readonly notes: readonly string[];
}

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
    const checks = [...request.notes.map(asCheck), ...(await checksOf(context, request))];
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

/**
 * Compares the proposal with the present content. Refuses a change that can never be applied. Of a skill that the agent has turned off
 * itself it may only propose to turn it on again; whatever else it asks is answered as for a skill that is not there.
 */
function requestOf(
  context: ChangeContext,
  input: ProposalInput,
  turn: TurnContext | undefined,
  quotes: Quotes,
): Request {
  const { kind = 'update' } = input;
  // Without a turn the caller is a program of the owner, for which `writes` is no limit.
  if (turn && context.writes[kind] === 'deny') throw writeDenied(kind);
  const own = turn && kind === 'update' ? skillTurnedOffBy(context, input.skillId, turn) : undefined;
  if (own) {
    try {
      const request = compared(context, { ...input, skillId: own.qualifiedId }, undefined, () => undefined);
      if (request.path === request.location.skillFile && turnsOn(request.before, request.after)) return request;
    } catch {
      // The message could have lines of the text.
    }
  }
  return compared(context, input, turn, quotes);
}

function compared(
  context: ChangeContext,
  input: ProposalInput,
  turn: TurnContext | undefined,
  quotes: Quotes,
): Request {
  const { kind = 'update', skillId, path = 'SKILL.md' } = input;
  const replaced = input.oldString ?? input.newString;
  const given = [input.diff, input.content, input.remove, replaced].filter((value) => value !== undefined).length;
  if (given !== (kind === 'delete' ? 0 : 1)) {
    throw invalidArgument(
      kind === 'delete'
        ? 'A deletion takes no diff and no content.'
        : 'Give exactly one of diff, content, and old_string with new_string.',
    );
  }
  if (kind === 'delete') {
    const location = findLocation(context, skillId, turn);
    assertRemovable(location);
    return {
      location,
      kind,
      path: location.skillFile,
      before: null,
      after: null,
      base: baseAt(context, location, kind, ''),
      notes: [],
    };
  }
  const location = kind === 'create' ? newLocation(context, skillId) : findLocation(context, skillId, turn);
  const target = filePath(path, location);
  if (kind === 'create' && target !== location.skillFile)
    throw invalidArgument('A new skill begins with its SKILL.md.');
  const before = kind === 'create' ? null : bytesAt(location, target, context.limits);
  quotes(target, before);
  if (before === null) checkNewName(target);
  const { after, notes } = resultOf(input, before, target, location);
  const request: Request = { location, kind, path: target, before, after, base: before && digestOf(before), notes };
  if (after === null ? before === null : before?.equals(after)) throw noChange(target);
  if (after) {
    checkSize(location, target, after, context.limits);
    checkValid(location, target, before, after);
  }
  return request;
}

/** Computed from the texts; what the author says is not used. */
export async function checksOf(
  context: ChangeContext,
  { location, kind, path, before, after }: Pick<Request, 'location' | 'kind' | 'path' | 'before' | 'after'>,
): Promise<readonly Check[]> {
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
    ...(isSkillFile
      ? { retrieval: async (text) => (await context.retrievalEffect(location.skillId, text)).map(describeChange) }
      : {}),
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

function describeChange({ query, skillId, before, after }: RetrievalChange): string {
  return `"${query}", a query of ${skillId}, would find ${after ?? 'nothing'} instead of ${before ?? 'nothing'}`;
}

function checkWords({ justification, evidence = '' }: ProposalInput): void {
  if (justification.trim() === '') throw invalidArgument('justification is empty: say why the change is needed.');
  if (justification.length > MAX_REASON) throw tooLong('justification', justification, MAX_REASON);
  if (evidence.length > MAX_EVIDENCE) throw tooLong('evidence', evidence, MAX_EVIDENCE);
}

function resultOf(
  { diff, content, oldString, newString, remove }: ProposalInput,
  before: Buffer | null,
  path: string,
  location: SkillLocation,
): { readonly after: Buffer | null; readonly notes: readonly string[] } {
  if (remove) {
    if (path === location.skillFile) throw invalidArgument('SKILL.md cannot be removed alone; delete the skill.');
    return { after: null, notes: [] };
  }
  if (content !== undefined) return { after: bytesAfter(before, content, path), notes: [] };
  const current = before === null ? '' : decodeText(before, path);
  if (diff === undefined) {
    if (oldString === undefined || newString === undefined)
      throw invalidArgument('old_string and new_string go together; an empty new_string removes old_string.');
    if (before === null)
      throw invalidArgument(`There is no file "${path}", so it has no old_string. Give its whole text as content.`);
    return { after: Buffer.from(replaceText(current, oldString, newString, path)), notes: [] };
  }
  const outcome = applyDiff(current, diff, path, location.skillId);
  if (!outcome.applied) throw diffFailed(outcome.reason);
  return { after: Buffer.from(outcome.text), notes: outcome.notes };
}

function baseOf(context: ChangeContext, { location, kind, path }: Request): string | null {
  try {
    return baseAt(context, location, kind, path);
  } catch (error) {
    throw isCodedError(error) ? error : invalidArgument(`The skill cannot be read any more: ${describeError(error)}`);
  }
}

function baseAt(context: ChangeContext, location: SkillLocation, kind: Request['kind'], path: string): string | null {
  if (kind === 'create') return null;
  if (kind === 'delete') return treeDigest(readFolderTree(folderOf(location), context.limits.file_bytes).files);
  const bytes = bytesAt(location, path, context.limits);
  return bytes && digestOf(bytes);
}
