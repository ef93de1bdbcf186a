import { CodedError } from 'skill-registry/kernel';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { showHidden } from '../../../../../lib/text/index.ts';
import { DEFAULT_LIMITS } from '../../../core/config/config-keys.ts';
import { invalidArgument, skillNotFound } from '../../../core/skill/errors.ts';
import { skillExists } from '../../history/errors.ts';
import { isPerson, nameKey } from '../../history/journal/writer.ts';
import { SKILL_NAME } from '../../pages/page-index.ts';
import { contentDigest } from '../../proposals/propose/proposal-store.ts';
import { checkWords, MAX_OPEN, MAX_WAITING_OF_AUTHOR, newProposal } from '../../proposals/propose/propose.ts';
import { changeOf, checkDeletion, noFileYet, type Request } from '../../proposals/propose/request.ts';
import { turnOffWarning } from '../../proposals/propose/turned-off.ts';
import type { ProposalInput } from '../../proposals/propose/types.ts';
import type { HubProposal, NewHubProposal } from '../store/hub-store.ts';
import { fileAt, filesOf, locationOf, presentSkill, type Team } from './team.ts';

export interface HubInput extends ProposalInput {
  /** Digest of the artifact that it was made from. Default: the present one. */
  readonly artifact?: string | undefined;
}

export interface Sender {
  /** `person:<name>`: the owner of the token. */
  readonly person: string;
  readonly author: string;
  readonly model?: string | undefined;
  readonly sentId?: string | undefined;
}

export interface Sent {
  readonly id: string;
  readonly state: HubProposal['state'];
  readonly isNew: boolean;
  readonly warning?: string | undefined;
}

/**
 * @throws as `Proposals.propose`; HUB_ID_TAKEN: this person has sent another text under this id; HUB_NOT_FOUND for an
 *   artifact that was none of this skill.
 */
export async function submit(team: Team, input: HubInput, sender: Sender): Promise<Sent> {
  const { store, space } = team;
  const { person, author, model = null, sentId = null } = sender;
  const sentDigest = digestOf(JSON.stringify([input, author, model]));
  const sentBefore = (same: HubProposal): Sent => {
    if (same.sent_digest === sentDigest) return { id: same.id, state: same.state, isNew: false };
    const message = `The id ${sentId} was sent before, with another text. Nothing was done. Take a new id.`;
    throw new CodedError('HUB_ID_TAKEN', message, { id: sentId });
  };
  const [same] = sentId === null ? [] : await store.proposals(space, { person, sentId });
  if (same) return sentBefore(same);
  checkWords(input);
  const request = await requestOf(team, input);
  const { justification, evidence = null } = input;
  const words = { justification, evidence, author, model };
  const row: NewHubProposal = {
    ...(await newProposal(request, words, new Date().toISOString())),
    ...UNDECIDED,
    person,
    sent_id: sentId,
    sent_digest: sentDigest,
    base_bytes: request.before,
    new_bytes: request.after,
    editors: [],
  };
  const others = await store.proposals(space, { skillId: row.skill_id });
  // Sent at two hubs at once: the store says which one was first.
  const isItself = (one: HubProposal): boolean => sentId !== null && one.sent_id === sentId && one.person === person;
  assertMayWait(
    row,
    request,
    others.filter((one) => !isItself(one)),
  );
  if ((await store.proposals(space, { states: ['open'], limit: MAX_OPEN })).length >= MAX_OPEN)
    throw invalidArgument(`${MAX_OPEN} proposals are open, which is the most. Some have to be decided first.`);
  const first = await store.addProposal(space, row);
  if (first) return sentBefore(first);
  const { before, after, path } = request;
  const warning = path === 'SKILL.md' ? turnOffWarning(row.skill_id, before, after) : undefined;
  return { id: row.id, state: 'open', isNew: true, warning };
}

/** @throws PROPOSAL_DUPLICATE for one that is open; for all but persons PROPOSAL_REJECTED, PROPOSAL_LIMIT. */
export function assertMayWait(
  row: Pick<NewHubProposal, 'id' | 'path' | 'kind' | 'proposed' | 'base' | 'author'>,
  { after }: Pick<Request, 'after'>,
  others: readonly HubProposal[],
): void {
  const ofFile = others.filter(({ id, path, kind }) => id !== row.id && path === row.path && kind === row.kind);
  const same = ofFile.find(({ state, proposed }) => state === 'open' && proposed === row.proposed);
  if (same) {
    const message = `The open proposal ${same.id} proposes the same change. Wait until it is decided, or propose another change.`;
    throw new CodedError('PROPOSAL_DUPLICATE', message, { id: same.id });
  }
  if (isPerson(row.author)) return;
  const wanted = after && contentDigest(after);
  const rejected = ofFile.find(
    ({ state, new_bytes: bytes, base }) =>
      state === 'rejected' && (bytes ? contentDigest(Buffer.from(bytes)) === wanted : !wanted && base === row.base),
  );
  if (rejected) {
    const { id, decided_by: by, decided_at: at, decision_reason: reason } = rejected;
    const message = `The proposal ${id} had the same content, and ${showHidden(by ?? 'unknown')} rejected it at ${at}: ${showHidden(reason ?? '')} Do not propose this content again: propose a change that meets the reason, or tell the user why it is needed all the same.`;
    throw new CodedError('PROPOSAL_REJECTED', message, { id, by, at, reason });
  }
  const waiting = others.filter(
    ({ state, author }) => (state === 'open' || state === 'stale') && nameKey(author) === nameKey(row.author),
  );
  if (waiting.length < MAX_WAITING_OF_AUTHOR) return;
  const ids = waiting.map(({ id }) => id);
  const message = `${ids.length} proposals of ${showHidden(row.author)} for this skill wait for a decision, which is the most: ${ids.join(', ')}. Go on without the change until one of them is decided.`;
  throw new CodedError('PROPOSAL_LIMIT', message, { ids });
}

// --- internal ---

const UNDECIDED = {
  conflict: null,
  decided_by: null,
  decided_at: null,
  decision_reason: null,
  revision: null,
} as const;

async function requestOf(team: Team, input: HubInput): Promise<Request> {
  const { kind = 'update', skillId } = input;
  const location = locationOf(team, skillId);
  if (kind === 'create') {
    if (!SKILL_NAME.test(skillId))
      throw invalidArgument('A skill has 1-64 lower-case letters, digits and single hyphens between them as its id.');
    if (await presentSkill(team, skillId)) throw skillExists(skillId, 'this space', 'Change it instead.');
    return change(input, { location, kind, files: [] }, noFileYet);
  }
  const { digest, files } = await madeFrom(team, skillId, input.artifact);
  const skill = { location, kind, files: files.map(({ path }) => path) };
  if (kind === 'update') return change(input, skill, (path) => fileAt(files, path));
  checkDeletion(input);
  return { ...skill, path: 'SKILL.md', before: null, after: null, base: digest, notes: [] };
}

function change(
  input: HubInput,
  skill: Pick<Request, 'location' | 'kind' | 'files'>,
  readFile: (path: string) => Buffer | null,
): Request {
  const changed = changeOf(input, skill.location, readFile, DEFAULT_LIMITS, () => undefined);
  return { ...skill, ...changed, base: changed.before && digestOf(changed.before) };
}

async function madeFrom(team: Team, skillId: string, artifact: string | undefined) {
  const { store, space } = team;
  const entry = (await store.skill(space, skillId))?.entry;
  if (!entry) throw skillNotFound(skillId);
  const digest = artifact ?? entry.digest;
  const found = await store.artifact(space, digest, { skillId });
  if (found) return { digest, files: await filesOf(found) };
  const message = `${digest} was never an artifact of "${skillId}" here. Read the skill again, then propose the change.`;
  throw new CodedError('HUB_NOT_FOUND', message);
}
