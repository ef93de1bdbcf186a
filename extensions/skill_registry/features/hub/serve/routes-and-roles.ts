import { join } from 'node:path';
import { CodedError, describeError, isCodedError, type z } from 'skill-registry/kernel';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { futureRealPath, readContained } from '../../../../../lib/files/index.ts';
import { oneLine } from '../../../../../lib/text/index.ts';
import type { HubAsked, HubRoute } from '../../../../skill_hub/api.ts';
import type { SkillRegistry } from '../../../core/api.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { INDEX_SCHEMA, MAX_ENTRIES, SKILL_NAME } from '../../pages/page-index.ts';
import { versionOf } from '../../proposals/propose/proposal-store.ts';
import type { HubProposal } from '../store/hub-store.ts';
import { approve, proposalNamed, reject } from '../team/decide.ts';
import { submit } from '../team/propose.ts';
import { publish, rollback, withdraw } from '../team/publish.ts';
import { filesOf, skillsOf, type Team } from '../team/team.ts';
import {
  type HubFeed,
  type HubHits,
  type HubReceipt,
  sentDecision,
  sentProposal,
  sentRollback,
  sentUsage,
} from '../wire.ts';
import { waitForFeed } from './poll.ts';
import { presentProposals, withPresentState } from './shown-proposals.ts';
import { type UsageTaker, usageOf } from './usage.ts';

/** What answers, in the space of who asks. */
export interface Served {
  readonly team: Team;
  readonly usage: UsageTaker;
  /** It takes minutes to open with 50,000 skills. */
  openRegistry(): Promise<SkillRegistry>;
}

export interface ServedRoute extends Omit<HubRoute, 'answer'> {
  answer(asked: HubAsked, served: Served): Promise<object>;
}

const MIB = 1024 * 1024;
/** A file of a skill may have 4 MiB; its escapes in JSON need more. */
const PROPOSAL = 6 * MIB;
const ARTIFACT = 50 * MIB;
const DECISION = 64 * 1024;
const USAGE = 512 * 1024;

/** Every route of a space: who may ask it is said here, and nowhere else. */
export const ROUTES: readonly ServedRoute[] = [
  { method: 'GET', path: '/changes', role: 'reader', answer: changes },
  { method: 'GET', path: '/artifacts/:digest', role: 'reader', answer: artifact },
  { method: 'GET', path: '/search', role: 'reader', answer: search },
  { method: 'GET', path: '/.well-known/agent-skills/index.json', role: 'reader', answer: index },
  { method: 'GET', path: '/policy', role: 'reader', answer: policy },
  { method: 'GET', path: '/.well-known/agent-skills/policy.json', role: 'reader', answer: policy },
  { method: 'POST', path: '/proposals', role: 'proposer', mostBytes: PROPOSAL, answer: propose },
  { method: 'GET', path: '/proposals', role: 'proposer', answer: proposals },
  { method: 'GET', path: '/proposals/:id', role: 'proposer', answer: proposal },
  { method: 'POST', path: '/proposals/:id/decide', role: 'reviewer', mostBytes: DECISION, answer: decide },
  { method: 'POST', path: '/usage', role: 'reader', mostBytes: USAGE, answer: addUsage },
  { method: 'GET', path: '/usage', role: 'reviewer', answer: usage },
  { method: 'PUT', path: '/skills/:id', role: 'admin', mostBytes: ARTIFACT, answer: publishSkill },
  { method: 'DELETE', path: '/skills/:id', role: 'admin', answer: withdrawSkill },
  { method: 'POST', path: '/skills/:id/rollback', role: 'reviewer', mostBytes: DECISION, answer: rollBack },
];

// --- internal ---

const MOST_SECONDS = 50;
const STATES = ['open', 'stale', 'approved', 'rejected', 'all'] as const;

async function changes({ query, isLetIn, request, stopping, waiting }: HubAsked, { team }: Served): Promise<HubFeed> {
  const waitSeconds = Math.min(numberIn(query, 'wait', 0), MOST_SECONDS);
  const from = { after: numberIn(query, 'after', 0), epoch: query.get('epoch') ?? undefined };
  const signal = AbortSignal.any([stopping, request.signal]);
  const work = () => waitForFeed(team, { ...from, waitSeconds, signal, isLetIn });
  return waitSeconds > 0 ? waiting(work) : work();
}

async function artifact({ id: digest }: HubAsked, { team }: Served): Promise<Response> {
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw invalidArgument('A digest is sha256: and 64 hexadecimal digits.');
  const found = await team.store.artifact(team.space, digest, 'present');
  if (!found)
    throw new CodedError('HUB_NOT_FOUND', 'No skill of this space has this artifact now. Ask for the changes again.');
  const type = found.type === 'archive' ? 'application/gzip' : 'text/markdown; charset=utf-8';
  return new Response(new Uint8Array(found.bytes), { headers: { 'content-type': type } });
}

async function search({ query: asked }: HubAsked, { openRegistry }: Served): Promise<HubHits> {
  const query = asked.get('q')?.trim() ?? '';
  if (query === '' || query.length > 1000) throw invalidArgument('q has 1 to 1,000 characters.');
  const limit = limitIn(asked);
  const registry = await openRegistry();
  await registry.admin.prepareQuery(query, {});
  const { skills, provisional = false } = registry.list({ query, limit });
  return { hits: skills.map(({ skillId: id, score = 0 }) => ({ id, score })), provisional };
}

async function index(_asked: HubAsked, { team }: Served): Promise<object> {
  const entries = await skillsOf(team.store, team.space);
  if (entries.length > MAX_ENTRIES) {
    const message = `The space has more skills than an index: ${MAX_ENTRIES}. Follow its changes.`;
    throw new CodedError('HUB_TOO_LARGE', message);
  }
  const skills = entries.map(({ id: name, type, description, digest }) => {
    return { name, type, description, digest, url: `../../artifacts/${digest}` };
  });
  return { $schema: INDEX_SCHEMA, skills };
}

async function policy({ request }: HubAsked, { team }: Served): Promise<Response> {
  const bytes = policyOf(team);
  const etag = `"${digestOf(bytes)}"`;
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers: { etag } });
  return new Response(new Uint8Array(bytes), { headers: { 'content-type': 'application/json', etag } });
}

async function propose({ principal, body }: HubAsked, { team }: Served): Promise<Response> {
  const { id: sentId, agent, model, base, old_string, new_string, skill_id, ...sent } = sentAs(sentProposal, body);
  const { person } = principal;
  const author = agent === undefined ? person : `agent:${agent} of ${person}`;
  const input = { skillId: skill_id, artifact: base, ...sent, oldString: old_string, newString: new_string };
  const { id, state, isNew, warning } = await submit(team, input, { person, author, model, sentId });
  const answer: HubReceipt = { proposal_id: id, state, ...(warning !== undefined && { warning }) };
  return Response.json(answer, { status: isNew ? 201 : 200 });
}

async function proposals(asked: HubAsked, { team }: Served): Promise<object> {
  const { principal, query } = asked;
  const state = STATES.find((one) => one === (query.get('state') ?? 'all'));
  if (!state) throw invalidArgument(`state is one of ${STATES.join(', ')}.`);
  const person = isReviewer(asked) ? undefined : principal.person;
  const filter = { person, skillId: query.get('skill_id') ?? undefined, limit: limitIn(query) };
  return { proposals: (await presentProposals(team, state, filter)).map(proposalOnWire) };
}

async function proposal(asked: HubAsked, { team }: Served): Promise<object> {
  const row = await proposalNamed(team, asked.id, isReviewer(asked) ? undefined : asked.principal.person);
  const [shown = row] = await withPresentState(team, [row]);
  return proposalOnWire(shown);
}

async function decide({ principal, id, body }: HubAsked, { team }: Served): Promise<object> {
  const { decision, version, reason, inspected } = sentAs(sentDecision, body);
  const actor = { by: principal.person, version, ...(reason !== undefined && { reason }) };
  const { proposalId, state, skillId, revision, merged } =
    decision === 'approve'
      ? await approve(team, id, { ...actor, inspected })
      : await reject(team, id, { ...actor, reason: reason ?? '' });
  return { proposal_id: proposalId, state, skill_id: skillId, revision, merged };
}

async function addUsage({ principal, body }: HubAsked, served: Served): Promise<Response> {
  const { answer, isNew } = await served.usage.take(principal, sentAs(sentUsage, body));
  return Response.json(answer, { status: isNew ? 201 : 200 });
}

function usage({ query }: HubAsked, { team }: Served): Promise<object> {
  return usageOf(team.store, team.space, numberIn(query, 'days', 30));
}

async function publishSkill({ principal, id, query, request, body }: HubAsked, { team }: Served): Promise<object> {
  const kind = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  const type = ({ 'text/markdown': 'skill-md', 'application/gzip': 'archive' } as const)[kind ?? ''];
  if (!type)
    throw invalidArgument('The content-type is text/markdown for a SKILL.md, or application/gzip for a .tar.gz.');
  if (!SKILL_NAME.test(id)) throw invalidArgument('This is no id of a skill.');
  const actor = { by: principal.person, inspected: query.get('inspected') ?? undefined };
  return { skill_id: id, revision: await publish(team, id, await filesOf({ bytes: Buffer.from(body), type }), actor) };
}

async function withdrawSkill({ principal, id }: HubAsked, { team }: Served): Promise<object> {
  return { skill_id: id, revision: await withdraw(team, id, { by: principal.person }) };
}

async function rollBack({ principal, id, body }: HubAsked, { team }: Served): Promise<object> {
  const { revision, ...sent } = sentAs(sentRollback, body);
  const { number } = await rollback(team, id, revision, { by: principal.person, ...sent });
  return { skill_id: id, revision: number };
}

function isReviewer({ principal }: HubAsked): boolean {
  return principal.may.includes('reviewer');
}

/** @throws INVALID_ARGUMENT. */
function sentAs<T>(type: z.ZodType<T>, body: Uint8Array): T {
  const sent = withFallback((): unknown => JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)));
  if (sent === undefined) throw invalidArgument('The body is no JSON.');
  const { data, error } = type.safeParse(sent);
  if (data !== undefined) return data;
  throw invalidArgument(oneLine(describeError(error), 500));
}

function numberIn(query: URLSearchParams, name: string, otherwise: number): number {
  const text = query.get(name);
  if (text === null) return otherwise;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalidArgument(`${name} is a whole number.`);
}

function limitIn(query: URLSearchParams): number {
  const limit = numberIn(query, 'limit', 50);
  if (limit >= 1 && limit <= 200) return limit;
  throw invalidArgument('limit is 1 to 200.');
}

const MAX_POLICY = 4 * MIB;

/** What an admin has written into the folder of the hub: for this space alone, else for all. @throws HUB_NOT_FOUND. */
function policyOf({ root, space }: Team): Buffer {
  const folder = futureRealPath(join(root, 'config'));
  const own = `policy.${space}.json`;
  for (const name of [own, 'policy.json']) {
    try {
      return readContained(folder, name, MAX_POLICY);
    } catch (error) {
      if (!isCodedError(error, 'RESOURCE_NOT_FOUND')) throw error;
    }
  }
  throw new CodedError('HUB_NOT_FOUND', 'This space has no policy.');
}

function proposalOnWire(row: HubProposal) {
  const { id, sent_id, state, kind, skill_id, path, author, created, diff, justification, evidence, conflict } = row;
  const { decided_by, decided_at, decision_reason: reason, revision } = row;
  const checks: unknown = JSON.parse(row.checks);
  const version = versionOf(row);
  const texts = { author, created, diff, justification, evidence, checks, conflict };
  const decision = { decided_by, decided_at, reason, revision };
  return { proposal_id: id, sent_id, state, kind, skill_id, path, version, ...texts, ...decision };
}
