import { CodedError, describeError, isCodedError, type TurnContext } from 'skill-registry/kernel';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { type ChangeContext, findLocation, newLocation, type Quotes } from '../../history/change-context.ts';
import { writeDenied } from '../../history/errors.ts';
import {
  assertRemovable,
  bytesAfter,
  bytesAt,
  checkChange,
  checkNewName,
  decodeText,
  filePath,
  folderOf,
  type SkillLocation,
} from '../../history/skill-location.ts';
import { readFolderTree, treeDigest } from '../../history/skill-tree.ts';
import { applyDiff } from '../diff/apply-diff.ts';
import type { NewProposal } from './proposal-store.ts';
import { replaceText } from './replace-text.ts';
import { skillTurnedOffBy, turnsOn } from './turned-off.ts';
import type { ProposalInput } from './types.ts';

export interface Request {
  readonly location: SkillLocation;
  readonly kind: NewProposal['kind'];
  readonly path: string;
  readonly before: Buffer | null;
  readonly after: Buffer | null;
  /** Digest of the changed file or the deleted skill; null for a new file. */
  readonly base: string | null;
  /** Faults of a diff that could be applied. */
  readonly notes: readonly string[];
  /** Paths in the skill. Default: those in its folder. */
  readonly files?: readonly string[];
}

/** An agent that turned the skill off may only propose to turn it on; else it gets the answer for a missing skill. */
export function requestOf(
  context: ChangeContext,
  input: ProposalInput,
  turn: TurnContext | undefined,
  quotes: Quotes,
): Request {
  const { kind = 'update' } = input;
  // Without a turn the owner's own program calls; `writes` does not limit it.
  if (turn && context.writes[kind] === 'deny') throw writeDenied(kind);
  const own = turn && kind === 'update' ? skillTurnedOffBy(context, input.skillId, turn) : undefined;
  if (own) {
    try {
      const request = compared(context, { ...input, skillId: own.qualifiedId }, undefined, () => undefined);
      if (request.path === request.location.skillFile && turnsOn(own.id, request.before, request.after)) return request;
    } catch {
      // The message could contain lines of the text.
    }
  }
  return compared(context, input, turn, quotes);
}

/** As `Request.base`, computed from the present files. */
export function baseOf({ limits }: ChangeContext, { location, kind, path }: Request): string | null {
  if (kind === 'create') return null;
  try {
    if (kind === 'delete') return treeDigest(readFolderTree(folderOf(location), limits.file_bytes).files);
    const bytes = bytesAt(location, path, limits);
    return bytes && digestOf(bytes);
  } catch (error) {
    throw isCodedError(error) ? error : invalidArgument(`The skill cannot be read any more: ${describeError(error)}`);
  }
}

export function resultOf(
  { diff, content, oldString, newString, remove }: ProposalInput,
  before: Buffer | null,
  path: string,
  location: SkillLocation,
): Pick<Request, 'after' | 'notes'> {
  if (remove) {
    if (path === location.skillFile) throw invalidArgument('SKILL.md cannot be removed alone; delete the skill.');
    return { after: null, notes: [] };
  }
  if (content !== undefined) return { after: bytesAfter(before, content, path), notes: [] };
  const current = before === null ? '' : decodeText(before, path);
  if (diff !== undefined) {
    const outcome = applyDiff(current, diff, path, location.skillId);
    if (!outcome.applied) throw new CodedError('PROPOSAL_DIFF_FAILED', `The diff does not apply. ${outcome.reason}`);
    return { after: Buffer.from(outcome.text), notes: outcome.notes };
  }
  if (oldString === undefined || newString === undefined)
    throw invalidArgument('old_string and new_string go together; an empty new_string removes old_string.');
  if (before === null)
    throw invalidArgument(`There is no file "${path}", so it has no old_string. Give its whole text as content.`);
  return { after: Buffer.from(replaceText(current, oldString, newString, path)), notes: [] };
}

/** @throws INVALID_ARGUMENT. */
export function checkDeletion(input: ProposalInput): void {
  if (givenIn(input) !== 0) throw invalidArgument('A deletion takes no diff and no content.');
}

/** The file of a new skill, for `changeOf`. @throws INVALID_ARGUMENT. */
export function noFileYet(path: string): null {
  if (path !== 'SKILL.md') throw invalidArgument('A new skill begins with its SKILL.md.');
  return null;
}

/** The change of one file. @throws as `Proposals.propose`. */
export function changeOf(
  input: ProposalInput,
  location: SkillLocation,
  readFile: (path: string) => Buffer | null,
  limits: ChangeContext['limits'],
  quotes: Quotes,
): Pick<Request, 'path' | 'before' | 'after' | 'notes'> {
  if (givenIn(input) !== 1) throw invalidArgument('Give exactly one of diff, content, and old_string with new_string.');
  const path = filePath(input.path ?? 'SKILL.md', location);
  const before = readFile(path);
  quotes(path, before);
  if (before === null) checkNewName(path);
  const { after, notes } = resultOf(input, before, path, location);
  checkChange(location, path, { before, after }, limits);
  return { path, before, after, notes };
}

// --- internal ---

function compared(
  context: ChangeContext,
  input: ProposalInput,
  turn: TurnContext | undefined,
  quotes: Quotes,
): Request {
  const { kind = 'update', skillId } = input;
  if (kind === 'delete') {
    checkDeletion(input);
    const location = findLocation(context, skillId, turn);
    assertRemovable(location);
    const request = { location, kind, path: location.skillFile, before: null, after: null, base: null, notes: [] };
    return { ...request, base: baseOf(context, request) };
  }
  const isNew = kind === 'create';
  const location = isNew ? newLocation(context, skillId) : findLocation(context, skillId, turn);
  const readFile = (path: string) => (isNew ? noFileYet(path) : bytesAt(location, path, context.limits));
  const { path, before, after, notes } = changeOf(input, location, readFile, context.limits, quotes);
  return { location, kind, path, before, after, base: before && digestOf(before), notes };
}

function givenIn({ diff, content, oldString, newString, remove }: ProposalInput): number {
  return [diff, content, remove, oldString ?? newString].filter((value) => value !== undefined).length;
}
