import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { expect, onTestFinished } from 'vitest';
import { digestOf } from '../../lib/digest/index.ts';
import { sentId, skillText } from './hub.ts';
import { hubMachine } from './hub-machine.ts';
import { asOwner, type HubDatabase } from './postgres.ts';
import { type RunningCommand, runCommand, startCommand } from './run-command.ts';
import { tempFolder } from './temp-folder.ts';
import { waitFor } from './wait-for.ts';

export interface FleetAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at what it expects.
  readonly json: any;
}

export interface Follower {
  /** Of each change that was seen since the last epoch. */
  readonly numbers: number[];
  readonly ids: string[];
  readonly epochs: string[];
}

/** Two hubs as processes on one database, and who uses them. Everything ends with the test. */
export class HubFleet {
  readonly urls: string[] = [];
  readonly hubs: RunningCommand[] = [];
  readonly followers: Follower[] = [];
  readonly machines: SkillRegistry[] = [];
  /** Skills that a hub has answered as published or approved. */
  readonly answered: string[] = [];
  /** What nobody may have seen. */
  readonly faults: string[] = [];
  database: HubDatabase;
  admin = '';
  readonly #running: Promise<void>[] = [];
  readonly #clients: Promise<void>[] = [];
  #hasClients = true;
  #isOver = false;

  private constructor(database: HubDatabase) {
    this.database = database;
  }

  /** There is one skill, `first`, which all have seen. */
  static async start(
    database: HubDatabase,
    { followers, machines }: { readonly followers: number; readonly machines: number },
  ): Promise<HubFleet> {
    const fleet = new HubFleet(database);
    onTestFinished(async () => {
      fleet.#isOver = true;
      fleet.#hasClients = false;
      for (const { child } of fleet.hubs) child.kill('SIGKILL');
      await Promise.all([...fleet.#running, ...fleet.#clients]);
    });
    await Promise.all([fleet.startHub(0), fleet.startHub(1)]);
    fleet.admin = await fleet.token('admin', 'ada');
    expect((await fleet.publish(0, 'first', 'It is always there.')).status).toBe(200);
    fleet.answered.push('first');
    for (let at = 0; at < followers; at++)
      fleet.#running.push(fleet.#follow(at, await fleet.token('reader', `reader-${at}`)));
    for (let at = 0; at < machines; at++) {
      const secret = await fleet.token('reader', `machine-${at}`);
      const entry = { hub: at % 2 ? fleet.urls.toReversed() : fleet.urls };
      const { registry } = await hubMachine(
        { url: '' },
        { entry, secret, watches: true, config: { watch: { mode: 'off' } } },
      );
      fleet.machines.push(registry);
    }
    await fleet.untilAllHave(['first']);
    const looking = setInterval(() => {
      if (fleet.machines.some((one) => !one.snapshot().byId.has('first'))) fleet.faults.push('a machine is empty');
    }, 5);
    onTestFinished(() => clearInterval(looking));
    return fleet;
  }

  /** Again at the same address. */
  async startHub(at: number): Promise<void> {
    const port = this.urls[at] ? new URL(this.urls[at]).port : '0';
    // The folder is not there yet.
    const args = ['serve', '--data', join(tempFolder(), 'data'), '--port', port, '--store', '$' + '{STORE}'];
    const hub = startCommand(args, { environment: { STORE: this.database.address } });
    this.hubs[at] = hub;
    await hub.until('http://', 90_000);
    this.urls[at] = hub.stdout().trim();
  }

  async token(role: string, person: string): Promise<string> {
    const args = ['token', 'add', '--space', 'team', '--role', role, '--person', person, '--store', '$' + '{STORE}'];
    return (await runCommand(['hub', ...args], { environment: { STORE: this.database.address } })).stdout.trim();
  }

  /** @param path - Below the space, unless it begins with `//`. @param limitMs - Default: 60 s. */
  async ask(
    at: number,
    method: string,
    path: string,
    body?: unknown,
    more: { token?: string; limitMs?: number } = {},
  ): Promise<FleetAnswer> {
    const { token = this.admin, limitMs = 60_000 } = more;
    const type = typeof body === 'string' ? 'text/markdown' : 'application/json';
    const response = await fetch(this.urls[at] + (path.startsWith('//') ? path.slice(1) : `/v1/spaces/team${path}`), {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      signal: AbortSignal.timeout(limitMs),
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, json: isJson ? JSON.parse(text) : text };
  }

  publish(at: number, id: string, line: string): Promise<FleetAnswer> {
    return this.ask(at, 'PUT', `/skills/${id}`, skillText(id, 'How to do it.', [line]));
  }

  /** One who publishes and one who proposes and approves, at each hub, and one who reads all; each goes on at the other. */
  async startClients(): Promise<void> {
    for (const at of [0, 1]) {
      const [publisher, proposer] = [
        await this.token('admin', `publisher-${at}`),
        await this.token('proposer', `p-${at}`),
      ];
      this.#clients.push(
        this.#loop(async (step) => {
          const id = `put-${at}-${step}`;
          const text = skillText(id, 'How to do it.', [`Step ${step}.`]);
          await this.#sure(at, publisher, 'PUT', `/skills/${id}`, text, 'PROPOSAL_NO_CHANGE');
          this.answered.push(id);
        }),
        this.#loop(async (step) => {
          const id = `new-${at}-${step}`;
          const content = skillText(id, 'How to do it.', ['1. Do it.']);
          const sent = {
            id: sentId(),
            skill_id: id,
            kind: 'create',
            content,
            justification: 'It is needed.',
            agent: id,
          };
          const { proposal_id: proposal } = await this.#sure(at, proposer, 'POST', '/proposals', sent);
          const { version } = await this.#sure(at, proposer, 'GET', `/proposals/${proposal}`);
          const decision = { decision: 'approve', version };
          await this.#sure(at, publisher, 'POST', `/proposals/${proposal}/decide`, decision, 'PROPOSAL_DECIDED');
          this.answered.push(id);
        }),
        this.#loop(async () => {
          const { changes } = await this.#sure(at, this.admin, 'GET', '/changes');
          const { digest } = changes[0].entry;
          const text = await this.#sure(at, this.admin, 'GET', `/artifacts/${digest}`);
          if (changes[0].id !== 'first' || digestOf(String(text)) !== digest) this.faults.push('a reader saw another');
        }),
      );
    }
  }

  /** Waits until so many more are answered. */
  async untilMore(count: number): Promise<void> {
    const before = this.answered.length;
    await waitFor(`${count} answers more`, () => this.answered.length >= before + count, 60_000);
  }

  /** Waits until all have seen these, and nothing else. */
  async untilAllHave(ids: readonly string[], deadlineMs = 30_000): Promise<void> {
    const wanted = [...ids].sort().join();
    const late = () => [
      ...this.followers.flatMap((one, at) => (one.ids.toSorted().join() === wanted ? [] : [`follower ${at}`])),
      ...this.machines.flatMap((one, at) => (idsOf(one).join() === wanted ? [] : [`machine ${at}`])),
    ];
    await waitFor(
      () => `${late()}, of ${ids.length} skills`,
      () => late().length === 0,
      deadlineMs,
    );
  }

  /** Ends the clients. What was answered is there, once, and whole; every number was seen, once and in order. */
  async check(): Promise<void> {
    this.#hasClients = false;
    await Promise.all(this.#clients);
    expect(this.faults).toEqual([]);
    await this.untilAllHave(this.answered);
    const [kept] = await asOwner(
      this.database.owner,
      (sql) => sql`SELECT (SELECT head FROM skill_hub.space WHERE name = 'team') AS head,
        (SELECT count(*)::int FROM skill_hub.revision) AS revisions,
        (SELECT count(*)::int FROM skill_hub.proposal WHERE state <> 'approved') AS undecided,
        (SELECT count(*)::int FROM skill_hub.proposal) AS proposals`,
    );
    const count = this.answered.length;
    const proposals = this.answered.filter((id) => id.startsWith('new-')).length;
    expect(kept).toEqual({ head: count, revisions: count, undecided: 0, proposals });
    const numbers = Array.from({ length: count }, (_, at) => at + 1);
    for (const one of this.followers) expect([one.epochs.length, one.numbers]).toEqual([1, numbers]);
    for (const [at, id] of this.answered.slice(-20).entries()) {
      const read = await this.machines[at % this.machines.length]?.read(id, {}, {});
      expect(read?.content).toContain(`# ${id}`);
    }
    for (const at of [0, 1]) await waitFor(`a search at hub ${at}`, () => this.#findsLast(at));
    expect(this.faults).toEqual([]);
    const { stdout } = await runCommand(['hub', 'audit', '--store', '$' + '{STORE}', '--json'], {
      environment: { STORE: this.database.address },
    });
    expect(JSON.parse(stdout).broken).toBe(null);
  }

  async #findsLast(at: number): Promise<boolean> {
    const last = this.answered.at(-1);
    const { status, json } = await this.ask(at, 'GET', `/search?q=${last}&limit=5`);
    expect([status, json]).toEqual([200, expect.objectContaining({ hits: expect.any(Array) })]);
    return json.hits.some(({ id }: { id: string }) => id === last);
  }

  async #loop(work: (step: number) => Promise<void>): Promise<void> {
    for (let step = 0; this.#hasClients; step++) {
      await work(step).catch((error: unknown) => {
        if (!this.#isOver) this.faults.push(String(error));
      });
      await pause();
    }
  }

  /** Sends it until a hub has answered. @param again - The refusal of what was done before an answer came. */
  async #sure(first: number, token: string, method: string, path: string, body?: unknown, again?: string) {
    for (let at = first; !this.#isOver; at = 1 - at) {
      const answer = await this.ask(at, method, path, body, { token, limitMs: 5000 }).catch(() => undefined);
      if (answer && (answer.status < 300 || answer.json.error?.code === again)) return answer.json;
      if (answer && ![429, 500, 503].includes(answer.status))
        throw new Error(`${method} ${path} ${JSON.stringify(answer)}`);
      if (answer?.status === 500) this.faults.push(`${method} ${path} ${JSON.stringify(answer)}`);
      await pause();
    }
    throw new Error('The test is over.');
  }

  /** As a machine: from its last number on, at the other hub when one is away. */
  async #follow(first: number, token: string): Promise<void> {
    const follower: Follower = { numbers: [], ids: [], epochs: [] };
    this.followers.push(follower);
    const { numbers, ids, epochs } = follower;
    for (let at = first % 2; !this.#isOver; ) {
      const after = numbers.at(-1) ?? 0;
      const path = `/changes?after=${after}&wait=5${epochs.length > 0 ? `&epoch=${epochs.at(-1)}` : ''}`;
      const answer = await this.ask(at, 'GET', path, undefined, { token, limitMs: 10_000 }).catch(() => undefined);
      if (answer?.status !== 200) {
        at = 1 - at;
        await pause();
        continue;
      }
      const { epoch, head, changes } = answer.json;
      if (epoch !== epochs.at(-1) || head < after) {
        epochs.push(epoch);
        numbers.length = 0;
        ids.length = 0;
        if (epochs.length > 1) continue;
      }
      for (const { seq, id, entry } of changes) {
        if (seq <= (numbers.at(-1) ?? 0)) this.faults.push(`number ${seq} after ${numbers.at(-1)}`);
        numbers.push(seq);
        if (ids.includes(id)) ids.splice(ids.indexOf(id), 1);
        if (entry) ids.push(id);
      }
    }
  }
}

// --- internal ---

function idsOf(registry: SkillRegistry): readonly string[] {
  return registry
    .snapshot()
    .skills.map(({ id }) => id)
    .toSorted();
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 30));
}
