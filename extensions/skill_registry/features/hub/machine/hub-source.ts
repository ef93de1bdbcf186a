import { CodedError, isCodedError, type Problem } from 'skill-registry/kernel';
import { download, downloadIfChanged, type OriginHeaders } from '../../../../../lib/fetch/index.ts';
import type { Finding } from '../../../core/skill/guard.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import type { SkillSource } from '../../../core/sources/source.ts';
import type { SourceHost } from '../../../core/sources/source-kind.ts';
import type { SecretHeaders } from '../../install/secret-headers.ts';
import type { PageCopy } from '../../pages/well-known-copy.ts';
import { createWellKnownSource } from '../../pages/well-known-source.ts';
import type { TakenProposal } from '../../proposals/propose/types.ts';
import { areAllowed, hubHits, type SentProposal } from '../wire.ts';
import { feedOf } from './feed.ts';
import { createHub, type Hub, readAnswer, spaceOf, toldBy } from './hub-address.ts';
import { type Kept, Outbox } from './outbox.ts';
import { OutboxFolder } from './outbox-folder.ts';
import { readTaken } from './sent-proposals.ts';
import { SharedUsage } from './shared-usage.ts';

export interface HubSourceOptions extends Pick<SourceHost, 'mayName' | 'options' | 'root'> {
  readonly id: string;
  readonly addresses: readonly string[];
  readonly space: string;
  readonly secret: SecretHeaders;
  readonly headersOf: (address: string) => OriginHeaders;
  readonly only: readonly string[] | undefined;
  /** What reviewers of the hub allowed in an artifact is let in here, too. */
  readonly allowances: boolean;
  /** How often agents here were given its skills is told to the hub. */
  readonly shares: boolean;
}

/**
 * A space of a hub. It is a copy as of a page, whose entries follow the feed and whose bodies come when they are read;
 * whatever the hub allowed, they are inspected here. Problems: those of a page, and HUB_OUTBOX.
 */
export function createHubSource(options: HubSourceOptions): SkillSource {
  const { addresses, headersOf, id, only, root, secret, space } = options;
  const [first = ''] = addresses;
  const hub = createHub(options);
  const closing = new AbortController();
  const folder = new OutboxFolder(root, hub, closing.signal);
  const outbox = new Outbox(folder);
  const usage = options.shares ? new SharedUsage(folder) : undefined;
  const { fetchCopy, fetchSkill } = feedOf(hub, (name) => only === undefined || only.includes(name));
  const page = createWellKnownSource({
    ...options.options,
    id,
    kind: 'hub',
    url: spaceOf(first, space),
    intervalMs: ASK_AGAIN_MS,
    maxMs: MAX_RETRY_MS,
    copyOf: { addresses, only, secret },
    moreProblems: (copy) => [...outbox.problems(), ...(usage?.problems() ?? []), ...onlyProblems(options, copy)],
    // Each address has its own.
    secret: { names: secret, fill: () => addresses.map(headersOf)[0] as OriginHeaders },
    fetching: async () => ({
      fetchSkill,
      fetchCopy(request) {
        // Beside it: a poll is answered as late as 25 s after the hub is back.
        void outbox.send();
        return fetchCopy(request);
      },
    }),
  });
  return {
    ...page,
    key: first,
    search: (query, signal) => searchHub(hub, id, query, signal),
    async propose({ kind, skillId, skill, path, content, justification, evidence, agent, model }) {
      if (only && !only.includes(skillId)) throw notListed(skillId, first);
      const base = skill && page.artifactOf(skill);
      const words = { justification, evidence, agent: agent && nameOf(agent), model: model?.slice(0, MAX_MODEL) };
      const of = { skill_id: skillId, base, ...words };
      if (kind === 'delete') return posted(outbox, first, { ...of, kind });
      const change = content === null ? { remove: true as const } : { content };
      return posted(outbox, first, { ...of, ...(kind === 'create' && { kind }), path, ...change });
    },
    async taken(agentId, skillId) {
      const agent = agentId && nameOf(agentId);
      const isOf = ({ proposal }: Kept): boolean =>
        (agent ?? proposal.agent) === proposal.agent && (skillId ?? proposal.skill_id) === proposal.skill_id;
      const kept = outbox.kept().filter(isOf).toReversed();
      const own = await Promise.all(kept.map((one) => keptProposal(one, hub)));
      try {
        const all = await readTaken(hub, skillId, closing.signal);
        const shown = agent === undefined ? all : all.filter(({ author }) => author.startsWith(`agent:${agent} of `));
        const waiting = own.filter(({ id }) => !all.some(({ sentId }) => sentId === id));
        return { proposals: [...waiting, ...shown], isAway: false };
      } catch (error) {
        if (!isCodedError(error)) throw error;
        // A reader has none there.
        return { proposals: own, isAway: error.details.status !== 403 };
      }
    },
    ...(options.allowances && {
      allows: (skill: Skill, findings: readonly Finding[]) => areAllowed(findings, page.entryOf(skill)?.allowed),
    }),
    used(skill, agent, what) {
      const id = page.entryOf(skill)?.name;
      if (id !== undefined) usage?.add(id, agent ? nameOf(agent) : undefined, what);
    },
    policy: (etag, ended) =>
      hub.use(READ_MS, ended, ({ base, ...how }) => downloadIfChanged(`${base}/policy`, MAX_POLICY, { ...how, etag })),
    async close() {
      await Promise.all([outbox.end(END_MS), usage?.end(END_MS)]);
      closing.abort();
      await page.close?.();
    },
  };
}

// --- internal ---

/** Without a poll, a scan asks when the last answer is older. */
const ASK_AGAIN_MS = 1_000;
const MAX_RETRY_MS = 15_000;
/** How long an agent waits before its proposal is one that is sent later. */
const POST_MS = 5_000;
/** How long the end of a process waits for a hub that is to have what waits. */
const END_MS = 2_000;
/** For the policy. */
const READ_MS = 10_000;
const MAX_POLICY = 4 * 1024 * 1024;
const MAX_HITS = 100;
const MAX_SEARCH_ANSWER = 256 * 1024;
/** Characters. */
const MAX_MODEL = 200;

function onlyProblems({ addresses, only = [], space }: HubSourceOptions, copy?: PageCopy): readonly Problem[] {
  const listed = new Set((copy?.entries ?? []).map(({ name }) => name));
  const missing = copy ? only.filter((name) => !listed.has(name)) : [];
  if (missing.length === 0) return [];
  const message = `only names skills that the space ${space} of the hub does not have: ${missing.join(', ')}.`;
  return [{ code: 'CONFIG_KEY_INVALID', severity: 'warning', file: addresses.join(', '), message }];
}

/** Of an agent, as a hub takes it. */
function nameOf(agent: string): string {
  return agent.replace(/[^A-Za-z0-9._@/-]/g, '-').slice(0, 150);
}

async function searchHub(
  hub: Hub,
  source: string,
  query: string,
  ended: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const { hits } = await hub.use(POST_MS, ended, async ({ base, headers, signal }) => {
    const url = `${base}/search?q=${encodeURIComponent(query)}&limit=${MAX_HITS}`;
    return readAnswer(await download(url, MAX_SEARCH_ANSWER, { headers, signal }), `${base}/search`, hubHits);
  });
  return new Map(hits.flatMap(({ id, score }) => (score > 0 ? [[`${source}:${id}`, score]] : [])));
}

async function posted(outbox: Outbox, where: string, proposal: Omit<SentProposal, 'id'>): Promise<TakenProposal> {
  const { id, receipt } = await outbox.post(proposal, POST_MS);
  const of = { skillId: proposal.skill_id, where };
  if (receipt) {
    const message = `It is at the hub ${where}, where a person decides. Nothing changes before.`;
    return { ...of, id: receipt.proposal_id, state: receipt.state, message };
  }
  const message = `The hub ${where} does not answer now. The proposal is kept on this machine and sent when it does; then a person decides there.`;
  return { ...of, id, state: 'waiting', message };
}

/** What a file of the root says is inspected as the words of a hub are. */
async function keptProposal({ proposal, refused }: Kept, hub: Hub): Promise<TakenProposal> {
  const { id, skill_id, justification } = proposal;
  const [skillId = '', reason = null] = await Promise.all([toldBy(hub, skill_id), toldBy(hub, refused?.message)]);
  const of = { id, skillId, where: hub.addresses[0] ?? '', justification };
  if (!refused) return { ...of, state: 'waiting', message: 'The hub does not have it yet.' };
  return { ...of, state: 'rejected', decidedBy: null, reason };
}

/** Nobody would see here what becomes of it. */
function notListed(id: string, where: string): CodedError<'SOURCE_NOT_WRITABLE'> {
  const message = `This machine lists only some skills of the hub ${where}, and "${id}" is none of them (only, in its entry of \`sources\`). Tell the user.`;
  return new CodedError('SOURCE_NOT_WRITABLE', message, { skill_id: id });
}
