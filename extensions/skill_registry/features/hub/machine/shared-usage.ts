import { randomUUID } from 'node:crypto';
import { isCodedError, type Problem, z } from 'skill-registry/kernel';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { settledWithin } from '../../../../../lib/waiting/index.ts';
import { MOST_COUNTS, type SentUsage, sentUsage, type UsageCount } from '../wire.ts';
import type { OutboxFolder } from './outbox-folder.ts';

/** Counts for a hub. They are kept on disk before they are sent: with its id a batch counts once. */
export class SharedUsage {
  readonly #folder: OutboxFolder;
  readonly #timer: NodeJS.Timeout;
  readonly #counts = new Map<string, UsageCount>();
  #sending: Promise<void> = Promise.resolve();

  constructor(folder: OutboxFolder) {
    this.#folder = folder;
    this.#timer = setInterval(() => void this.#send(), EVERY_MS).unref();
  }

  add(skillId: string, agent: string | undefined, what: 'loads' | 'refused'): void {
    const day = new Date().toISOString().slice(0, 10);
    const key = JSON.stringify([day, skillId, agent]);
    const before = this.#counts.get(key) ?? { day, skill_id: skillId, agent, loads: 0, refused: 0 };
    if (before.loads + before.refused > 0 || this.#counts.size < MOST_COUNTS)
      this.#counts.set(key, { ...before, [what]: before[what] + 1 });
  }

  /** What was counted is kept, and goes out before the process ends if the hub takes it soon. */
  async end(limitMs: number): Promise<void> {
    clearInterval(this.#timer);
    withFallback(() => this.#keep(), undefined);
    if (this.#names().length > 0) await settledWithin(this.#send(), limitMs);
  }

  problems(): readonly Problem[] {
    if (this.#names().length < MOST_BATCHES) return [];
    const message = `${MOST_BATCHES} batches of usage wait for a hub, which is the most: what is counted now is not kept.`;
    return [{ code: 'HUB_OUTBOX', severity: 'warning', file: this.#folder.path, message }];
  }

  #names(): readonly string[] {
    return this.#folder.names(FILE);
  }

  /** Never rejects. While the hub is away, counts are added to those that wait in memory. */
  #send(): Promise<void> {
    const work = async (): Promise<void> => {
      await this.#sendKept();
      this.#keep();
      await this.#sendKept();
    };
    this.#sending = this.#sending.then(work).catch(() => undefined);
    return this.#sending;
  }

  #keep(): void {
    const counts = [...this.#counts.values()];
    this.#counts.clear();
    if (counts.length === 0 || this.#names().length >= MOST_BATCHES) return;
    const id = randomUUID();
    const batch: SentUsage = { id, machine: this.#machine(), counts };
    this.#folder.write(`usage-${id}.json`, batch);
  }

  /** Of this root, for this space alone. */
  #machine(): string {
    const known = (): string | undefined => this.#folder.read(MACHINE, (value) => machineFile.parse(value).id);
    if (known() === undefined) this.#folder.write(MACHINE, { id: randomUUID() });
    return known() ?? '';
  }

  async #sendKept(): Promise<void> {
    for (const file of this.#names()) {
      const batch = this.#folder.read(file, (value) => sentUsage.parse(value));
      try {
        if (batch) await this.#folder.send('usage', batch);
      } catch (error) {
        // What a hub never takes would stand before all that follows.
        if (!isCodedError(error) || error.details.refused !== true) throw error;
      }
      this.#folder.remove(file);
    }
  }
}

// --- internal ---

const EVERY_MS = 5 * 60_000;
const FILE = /^usage-[0-9a-f-]{36}\.json$/;
const MACHINE = 'machine.json';
const machineFile = z.object({ id: z.uuid() });
const MOST_BATCHES = 500;
