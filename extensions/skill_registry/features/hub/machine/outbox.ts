import { createHash, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError, isCodedError, type Problem } from 'skill-registry/kernel';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { originRefused } from '../../../../../lib/fetch/index.ts';
import { futureRealPath, readContained, removeContained, writeContained } from '../../../../../lib/files/index.ts';
import { plural } from '../../../../../lib/text/index.ts';
import { settledWithin } from '../../../core/sources/source.ts';
import { type HubReceipt, hubReceipt, type SentProposal, sentProposal } from '../wire.ts';
import type { Hub } from './hub-address.ts';

/** A proposal that the hub does not have: it waits to be sent, or the hub has refused it. */
export interface Kept {
  readonly proposal: SentProposal;
  /** Why the hub does not take it, ever. */
  readonly refused?: { readonly code: string; readonly message: string };
}

export interface Outbox {
  /**
   * Keeps it on disk, then sends what waits, the oldest first. Undefined when that takes longer, and it is sent later:
   * with its id twice is once. @throws what the hub refuses it with; PROPOSAL_DUPLICATE, PROPOSAL_LIMIT, WRITE_FAILED.
   */
  post(proposal: Omit<SentProposal, 'id'>, id: string, waitMs: number): Promise<HubReceipt | undefined>;
  /** Never rejects. */
  send(): Promise<void>;
  /** The oldest first. */
  kept(): readonly Kept[];
  problems(): readonly Problem[];
}

export function newId(): string {
  return randomUUID();
}

/** @param root - Of the registry. @param hub - Each space has its own outbox. */
export function openOutbox(root: string, hub: Hub, signal: AbortSignal): Outbox {
  const name = createHash('sha256')
    .update(JSON.stringify([hub.addresses[0], hub.space]))
    .digest('hex')
    .slice(0, 16);
  const folder = join(futureRealPath(root), 'data', 'skill_registry', 'outbox', name);
  /** Of those whose authors wait. */
  const outcomes = new Map<string, HubReceipt | CodedError | undefined>();
  const told = (id: string, outcome: HubReceipt | CodedError): void => {
    if (outcomes.has(id)) outcomes.set(id, outcome);
  };
  let sending: Promise<void> = Promise.resolve();
  const names = (): readonly string[] =>
    withFallback(() => readdirSync(folder), [])
      .filter((one) => FILE.test(one))
      .sort();
  const read = (file: string): Kept | undefined =>
    withFallback(() => {
      const { proposal, refused } = JSON.parse(readContained(folder, file, MAX_FILE, OWN).toString('utf8')) as Kept;
      return { proposal: sentProposal.parse(proposal), ...(refused && { refused }) };
    }, undefined);
  const write = (file: string, kept: Kept): void => void writeContained(folder, file, JSON.stringify(kept), OWN);
  const remove = (file: string): void => {
    try {
      removeContained(folder, file, OWN);
    } catch (error) {
      // Another process has sent it, too.
      if (!isCodedError(error, 'RESOURCE_NOT_FOUND')) throw error;
    }
  };
  const sendOne = async (file: string, { proposal }: Kept): Promise<void> => {
    try {
      const receipt = hubReceipt.safeParse(await hub.send('proposals', proposal, signal));
      if (!receipt.success) throw originRefused(hub.addresses.join(', '), 'its answer is none of a hub.');
      remove(file);
      told(proposal.id, receipt.data);
    } catch (error) {
      if (!isCodedError(error) || error.details.refused !== true) throw error;
      write(file, { proposal, refused: { code: error.code, message: error.message } });
      told(proposal.id, error);
    }
  };
  const sendAll = async (): Promise<void> => {
    for (const file of names()) {
      const kept = read(file);
      if (kept && !kept.refused) await sendOne(file, kept);
    }
  };
  const send = (): Promise<void> => {
    sending = sending.then(sendAll).catch(() => undefined);
    return sending;
  };
  return {
    send,
    kept: () => names().flatMap((file) => read(file) ?? []),
    async post(proposal, id, waitMs) {
      const known = names();
      if (known.length >= MOST) throw outboxFull(known.length);
      const same = known.map(read).find((one) => one && !one.refused && isSame(one.proposal, proposal));
      if (same) throw duplicate(same.proposal);
      const last = Number(known.at(-1)?.slice(0, DIGITS) ?? 0);
      const file = `${String(Math.max(Date.now(), last + 1)).padStart(DIGITS, '0')}-${id}.json`;
      write(file, { proposal: { ...proposal, id } });
      outcomes.set(id, undefined);
      await settledWithin(send(), waitMs);
      const outcome = outcomes.get(id);
      outcomes.delete(id);
      if (!isCodedError(outcome)) return outcome;
      // Its author is told now.
      remove(file);
      throw outcome;
    },
    problems: () => problemsOf(folder, names().map(read)),
  };
}

// --- internal ---

const OWN = { own: true } as const;
const DIGITS = 15;
const FILE = /^\d{15}-[0-9a-f-]{36}\.json$/;
const MAX_FILE = 8 * 1024 * 1024;
const MOST = 500;

function outboxFull(count: number): CodedError<'PROPOSAL_LIMIT'> {
  const message = `${count} proposals wait for the hub on this machine, which is the most. Go on without the change, or tell the user.`;
  return new CodedError('PROPOSAL_LIMIT', message, { count });
}

function isSame(one: SentProposal, { skill_id, path, base, content, agent }: Omit<SentProposal, 'id'>): boolean {
  const isOfSame = one.skill_id === skill_id && one.path === path && one.agent === agent;
  return isOfSame && one.base === base && one.content === content;
}

function duplicate({ id }: SentProposal): CodedError<'PROPOSAL_DUPLICATE'> {
  const message = `The proposal ${id} asks for the same change, and waits on this machine until the hub answers.`;
  return new CodedError('PROPOSAL_DUPLICATE', message, { id });
}

function problemsOf(file: string, kept: readonly (Kept | undefined)[]): readonly Problem[] {
  const problem = (message: string): Problem => ({ code: 'HUB_OUTBOX', severity: 'warning', file, message });
  const broken = kept.filter((one) => !one).length;
  const waiting = kept.filter((one) => one && !one.refused).length;
  const refused = kept.flatMap((one) => (one?.refused ? [[one.proposal.skill_id, one.refused.message] as const] : []));
  const of = (count: number): string => plural(count, 'proposal');
  return [
    ...(broken > 0 ? [problem(`${of(broken)} for a hub cannot be read. Look at the files in this folder.`)] : []),
    ...(waiting > 0 ? [problem(`${of(waiting)} for a hub: sent as soon as it answers and takes the secret.`)] : []),
    ...refused.map(([id, why]) =>
      problem(`A proposal for ${id} was not taken. ${why} Remove its file from this folder when you have seen it.`),
    ),
  ];
}
