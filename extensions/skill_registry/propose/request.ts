import { describeError, isCodedError, type TurnContext } from 'skill-registry/kernel';
import { applyDiff } from '../../../lib/diff/index.ts';
import { digestOf } from '../../../lib/digest/index.ts';
import { type ChangeContext, findLocation, newLocation, type Quotes } from '../history/change-context.ts';
import { noChange, writeDenied } from '../history/errors.ts';
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
import { readFolderTree, treeDigest } from '../history/skill-tree.ts';
import { invalidArgument } from '../skill/errors.ts';
import { diffFailed } from './errors.ts';
import type { NewProposal } from './proposal-store.ts';
import { replaceText } from './skill-text.ts';
import { skillTurnedOffBy, turnsOn } from './turned-off.ts';
import type { ProposalInput } from './types.ts';

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

/**
 * Compares the proposal with the present content. Refuses a change that can never be applied. Of a skill that the agent has turned off
 * itself it may only propose to turn it on again; whatever else it asks is answered as for a skill that is not there.
 *
 * @param quotes - As of `withJudgedErrors`.
 */
export function requestOf(
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

/** The digest of what the proposal is about, as it is now. As `Request.base`. */
export function baseOf(context: ChangeContext, { location, kind, path }: Request): string | null {
  try {
    return baseAt(context, location, kind, path);
  } catch (error) {
    throw isCodedError(error) ? error : invalidArgument(`The skill cannot be read any more: ${describeError(error)}`);
  }
}

// --- internal ---

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

function baseAt(context: ChangeContext, location: SkillLocation, kind: Request['kind'], path: string): string | null {
  if (kind === 'create') return null;
  if (kind === 'delete') return treeDigest(readFolderTree(folderOf(location), context.limits.file_bytes).files);
  const bytes = bytesAt(location, path, context.limits);
  return bytes && digestOf(bytes);
}
