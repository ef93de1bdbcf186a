import { randomUUID } from 'node:crypto';
import { CodedError, isCodedError, type Problem, z } from 'skill-registry/kernel';
import { originRefused } from '../../../../../lib/fetch/index.ts';
import { plural } from '../../../../../lib/text/index.ts';
import { settledWithin } from '../../../../../lib/waiting/index.ts';
import { type HubReceipt, hubReceipt, type SentProposal, sentProposal } from '../wire.ts';
import type { OutboxFolder } from './outbox-folder.ts';

/** A proposal that the hub does not have: it waits to be sent, or the hub has refused it. */
export interface Kept {
  readonly proposal: SentProposal;
  /** Why the hub does not take it, ever. */
  readonly refused?: { readonly code: string; readonly message: string } | undefined;
}

/** What waits on disk until the hub has it. Each space has its own; processes share it: with its id twice is once. */
export class Outbox {
  readonly #folder: OutboxFolder;
  /** Of those whose authors wait. */
  readonly #outcomes = new Map<string, HubReceipt | CodedError | undefined>();
  #sending: Promise<void> = Promise.resolve();

  constructor(folder: OutboxFolder) {
    this.#folder = folder;
  }

  /**
   * Keeps it on disk, then sends what waits, the oldest first. Without a receipt that takes longer, and it is sent
   * later. @throws what the hub refuses it with; PROPOSAL_DUPLICATE, PROPOSAL_LIMIT, WRITE_FAILED.
   */
  async post(
    given: Omit<SentProposal, 'id'>,
    waitMs: number,
  ): Promise<{ readonly id: string; readonly receipt: HubReceipt | undefined }> {
    const names = this.#names();
    if (names.length >= MOST) throw outboxFull(names.length);
    const same = this.kept().find(({ proposal, refused }) => !refused && isSame(proposal, given));
    if (same) throw duplicate(same.proposal);
    const id = randomUUID();
    const last = Number(names.at(-1)?.slice(0, DIGITS) ?? 0);
    const file = `${String(Math.max(Date.now(), last + 1)).padStart(DIGITS, '0')}-${id}.json`;
    this.#folder.write(file, { proposal: { ...given, id } });
    this.#outcomes.set(id, undefined);
    await settledWithin(this.send(), waitMs);
    const outcome = this.#outcomes.get(id);
    this.#outcomes.delete(id);
    if (!isCodedError(outcome)) return { id, receipt: outcome };
    // Its author is told now.
    this.#folder.remove(file);
    throw outcome;
  }

  /** Never rejects. */
  send(): Promise<void> {
    this.#sending = this.#sending.then(() => this.#sendAll()).catch(() => undefined);
    return this.#sending;
  }

  /** What waits goes out before the process ends, if the hub takes it soon. */
  async end(limitMs: number): Promise<void> {
    if (this.kept().some(({ refused }) => !refused)) await settledWithin(this.send(), limitMs);
  }

  /** The oldest first. */
  kept(): readonly Kept[] {
    return this.#names().flatMap((file) => this.#read(file) ?? []);
  }

  problems(): readonly Problem[] {
    const all = this.#names().map((file) => this.#read(file));
    const problem = (message: string): Problem => {
      return { code: 'HUB_OUTBOX', severity: 'warning', file: this.#folder.path, message };
    };
    const of = (count: number): string => `${plural(count, 'proposal')} for a hub`;
    const broken = all.filter((one) => !one).length;
    const waiting = all.filter((one) => one && !one.refused).length;
    return [
      ...(broken > 0 ? [problem(`${of(broken)} cannot be read. Look at the files in this folder.`)] : []),
      ...(waiting > 0 ? [problem(`${of(waiting)}: sent as soon as it answers and takes the secret.`)] : []),
      ...all.flatMap((one) => (one?.refused ? [problem(notTaken(one.proposal, one.refused.message))] : [])),
    ];
  }

  #names(): readonly string[] {
    return this.#folder.names(FILE);
  }

  #read(file: string): Kept | undefined {
    return this.#folder.read(file, (value) => {
      const read = kept.parse(value);
      return file.endsWith(`-${read.proposal.id}.json`) ? read : undefined;
    });
  }

  async #sendAll(): Promise<void> {
    for (const file of this.#names()) {
      const kept = this.#read(file);
      if (kept && !kept.refused) await this.#sendOne(file, kept);
    }
  }

  async #sendOne(file: string, { proposal }: Kept): Promise<void> {
    const { id } = proposal;
    const told = (outcome: HubReceipt | CodedError): void => {
      if (this.#outcomes.has(id)) this.#outcomes.set(id, outcome);
    };
    try {
      const receipt = hubReceipt.safeParse(await this.#folder.send('proposals', proposal));
      if (!receipt.success) throw originRefused(this.#folder.addresses, 'its answer is none of a hub.');
      this.#folder.remove(file);
      told(receipt.data);
    } catch (error) {
      if (!isCodedError(error) || error.details.refused !== true) throw error;
      this.#folder.write(file, { proposal, refused: { code: error.code, message: error.message } });
      told(error);
    }
  }
}

// --- internal ---

const DIGITS = 15;
const FILE = /^\d{15}-[0-9a-f-]{36}\.json$/;
/** Anybody who could write into the root may have written it. */
const kept: z.ZodType<Kept> = z.object({
  proposal: sentProposal,
  refused: z.object({ code: z.string(), message: z.string() }).optional(),
});
const MOST = 500;

function outboxFull(count: number): CodedError<'PROPOSAL_LIMIT'> {
  const message = `${count} proposals wait for the hub on this machine, which is the most. Go on without the change, or tell the user.`;
  return new CodedError('PROPOSAL_LIMIT', message, { count });
}

const COMPARED = ['skill_id', 'kind', 'path', 'base', 'content', 'remove', 'agent'] as const;

function isSame(one: SentProposal, other: Omit<SentProposal, 'id'>): boolean {
  return COMPARED.every((field) => one[field] === other[field]);
}

function duplicate({ id }: SentProposal): CodedError<'PROPOSAL_DUPLICATE'> {
  const message = `The proposal ${id} asks for the same change, and waits on this machine until the hub answers.`;
  return new CodedError('PROPOSAL_DUPLICATE', message, { id });
}

function notTaken({ skill_id: id }: SentProposal, why: string): string {
  return `A proposal for ${id} was not taken. ${why} Remove its file from this folder when you have seen it.`;
}
