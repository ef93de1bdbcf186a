import type { Context } from 'hono';
import { digestOf } from '../../lib/digest/index.ts';
import { invalidArgument, withFallback } from '../../lib/errors/index.ts';
import { bodyOf, type Limits } from './access.ts';
import type { HubPrincipal, HubRole, HubService } from './api.ts';

export interface Asked {
  readonly context: Context;
  readonly principal: HubPrincipal;
  /** As of now. */
  readonly isLetIn: () => Promise<boolean>;
  readonly service: HubService;
  readonly limits: Limits;
  /** Aborts when the hub stops. */
  readonly stopping: AbortSignal;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/v1/spaces/:space`. */
  readonly path: string;
  readonly role: HubRole;
  answer(asked: Asked): Promise<Response>;
}

const MIB = 1024 * 1024;
/** A file of a skill may have 4 MiB; its escapes in JSON need more. */
const MAX_PROPOSAL = 6 * MIB;
const MAX_ARTIFACT = 50 * MIB;
const MAX_DECISION = 64 * 1024;
const MAX_USAGE = 512 * 1024;

/** Every route of a space. What answers is told here who may ask, and nowhere else. */
export const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/changes', role: 'reader', answer: changes },
  { method: 'GET', path: '/artifacts/:digest', role: 'reader', answer: artifact },
  { method: 'GET', path: '/search', role: 'reader', answer: search },
  {
    method: 'GET',
    path: '/.well-known/agent-skills/index.json',
    role: 'reader',
    answer: async ({ service, principal }) => Response.json(await service.index(principal)),
  },
  { method: 'GET', path: '/policy', role: 'reader', answer: policy },
  { method: 'GET', path: '/.well-known/agent-skills/policy.json', role: 'reader', answer: policy },
  { method: 'POST', path: '/proposals', role: 'proposer', answer: propose },
  { method: 'GET', path: '/proposals', role: 'proposer', answer: proposals },
  {
    method: 'GET',
    path: '/proposals/:id',
    role: 'proposer',
    answer: async ({ service, principal, context }) => Response.json(await service.proposal(principal, idOf(context))),
  },
  {
    method: 'POST',
    path: '/proposals/:id/decide',
    role: 'reviewer',
    answer: async ({ service, principal, context }) =>
      Response.json(await service.decide(principal, idOf(context), await jsonOf(context, MAX_DECISION))),
  },
  { method: 'POST', path: '/usage', role: 'reader', answer: addUsage },
  {
    method: 'GET',
    path: '/usage',
    role: 'reviewer',
    answer: async ({ service, principal, context }) =>
      Response.json(await service.usage(principal, numberOf(context, 'days', 30))),
  },
  { method: 'PUT', path: '/skills/:id', role: 'admin', answer: publish },
  {
    method: 'DELETE',
    path: '/skills/:id',
    role: 'admin',
    answer: async ({ service, principal, context }) => Response.json(await service.withdraw(principal, idOf(context))),
  },
  {
    method: 'POST',
    path: '/skills/:id/rollback',
    role: 'reviewer',
    answer: async ({ service, principal, context }) =>
      Response.json(await service.rollback(principal, idOf(context), await jsonOf(context, MAX_DECISION))),
  },
];

// --- internal ---

const MOST_SECONDS = 50;

async function changes({ service, limits, principal, isLetIn, context, stopping }: Asked): Promise<Response> {
  const { req } = context;
  const waitSeconds = Math.min(numberOf(context, 'wait', 0), MOST_SECONDS);
  const signal = AbortSignal.any([stopping, req.raw.signal]);
  const query = { after: numberOf(context, 'after', 0), epoch: req.query('epoch'), waitSeconds, signal };
  const work = () => service.feed(principal, query, isLetIn);
  return Response.json(await (waitSeconds > 0 ? limits.waiting(principal, work) : work()));
}

async function artifact({ service, principal, context }: Asked): Promise<Response> {
  const digest = context.req.param('digest') ?? '';
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw invalidArgument('A digest is sha256: and 64 hexadecimal digits.');
  const { bytes, type } = await service.artifact(principal, digest);
  const headers = { 'content-type': type === 'archive' ? 'application/gzip' : 'text/markdown; charset=utf-8' };
  return new Response(new Uint8Array(bytes), { headers });
}

async function search({ service, principal, context }: Asked): Promise<Response> {
  const query = context.req.query('q')?.trim() ?? '';
  if (query === '' || query.length > 1000) throw invalidArgument('q has 1 to 1,000 characters.');
  return Response.json(await service.search(principal, query, limitOf(context)));
}

async function policy({ service, principal, context }: Asked): Promise<Response> {
  const bytes = await service.policy(principal);
  const etag = `"${digestOf(bytes)}"`;
  if (context.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers: { etag } });
  return new Response(new Uint8Array(bytes), { headers: { 'content-type': 'application/json', etag } });
}

async function propose({ service, principal, context }: Asked): Promise<Response> {
  const { answer, isNew } = await service.propose(principal, await jsonOf(context, MAX_PROPOSAL));
  return Response.json(answer, { status: isNew ? 201 : 200 });
}

async function addUsage({ service, principal, context }: Asked): Promise<Response> {
  const { answer, isNew } = await service.addUsage(principal, await jsonOf(context, MAX_USAGE));
  return Response.json(answer, { status: isNew ? 201 : 200 });
}

async function proposals({ service, principal, context }: Asked): Promise<Response> {
  const { req } = context;
  const filter = { state: req.query('state'), skillId: req.query('skill_id'), limit: limitOf(context) };
  return Response.json(await service.proposals(principal, filter));
}

async function publish({ service, principal, context }: Asked): Promise<Response> {
  const { req } = context;
  const kind = req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  const type = { 'text/markdown': 'skill-md', 'application/gzip': 'archive' }[kind ?? ''];
  if (type !== 'skill-md' && type !== 'archive')
    throw invalidArgument('The content-type is text/markdown for a SKILL.md, or application/gzip for a .tar.gz.');
  const bytes = await bodyOf(req.raw, MAX_ARTIFACT);
  return Response.json(await service.publish(principal, idOf(context), { bytes, type }, req.query('inspected')));
}

function idOf({ req }: Context): string {
  return req.param('id') ?? '';
}

function numberOf({ req }: Context, name: string, otherwise: number): number {
  const text = req.query(name);
  if (text === undefined) return otherwise;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalidArgument(`${name} is a whole number.`);
}

function limitOf(context: Context): number {
  const limit = numberOf(context, 'limit', 50);
  if (limit >= 1 && limit <= 200) return limit;
  throw invalidArgument('limit is 1 to 200.');
}

async function jsonOf({ req }: Context, most: number): Promise<unknown> {
  const bytes = await bodyOf(req.raw, most);
  const value = withFallback((): unknown => JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  if (value === undefined) throw invalidArgument('The body is no JSON.');
  return value;
}
