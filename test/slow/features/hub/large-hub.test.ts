import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { skillText } from '../../../helpers/hub.ts';
import { type HubMachine, hubMachine } from '../../../helpers/hub-machine.ts';
import { hubDatabase, usePostgres } from '../../../helpers/postgres.ts';
import { problemsOf } from '../../../helpers/published-page.ts';
import { type RunningCommand, runCommand, spawnCommand, startCommand } from '../../../helpers/run-command.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

/** 50,000 in the long form (npm run campaign -- large-hub). */
const COUNT = Number(process.env.HUB_SKILLS ?? 300);
const CHANGES = 60;
const HOUR = 3_600_000;
const STORE = '$' + '{STORE}';
const idOf = (at: number): string => `skill-${String(at).padStart(5, '0')}`;

interface Store {
  /** Of each command. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly hubs: number;
}

/** What each skill says of itself, at a machine. */
function shownBy({ registry }: HubMachine): ReadonlyMap<string, string> {
  return new Map([...registry.snapshot().byId].map(([id, { description }]) => [id, description]));
}

function isSame(shown: ReadonlyMap<string, string>, wanted: ReadonlyMap<string, string>): boolean {
  return shown.size === wanted.size && [...wanted].every(([id, says]) => shown.get(id) === says);
}

async function followLargeHub({ args, environment, hubs }: Store): Promise<void> {
  const wanted = new Map(Array.from({ length: COUNT }, (_, at) => [idOf(at), `Tells how to brew tea number ${at}.`]));
  const text = (id: string): string => skillText(id, wanted.get(id) ?? '', ['1. Steep it.', `2. ${wanted.get(id)}`]);
  const tree = tempFolder(Object.fromEntries([...wanted.keys()].map((id) => [`${id}/SKILL.md`, text(id)])));
  const run = (...command: readonly string[]) => runCommand(['hub', ...command, ...args], { environment });
  const brought = await spawnCommand(['hub', 'import', tree, ...args, '--space', 'team', '--by', 'ada'], {
    environment,
  });
  expect(brought.stdout + brought.stderr).toContain('0 were refused');
  const token = async (role: string, person: string): Promise<string> =>
    (await run('token', 'add', '--space', 'team', '--role', role, '--person', person)).stdout.trim();
  const [urls, running]: [string[], RunningCommand[]] = [[], []];
  const startHub = async (at: number): Promise<void> => {
    const port = urls[at] ? new URL(urls[at]).port : '0';
    const hub = startCommand(['serve', ...args, '--port', port], { environment });
    running[at] = hub;
    await hub.until('http://', HOUR);
    urls[at] = hub.stdout().trim();
  };
  for (let at = 0; at < hubs; at++) await startHub(at);

  const machines: HubMachine[] = [];
  const open = async (at: number, cache = tempFolder()): Promise<HubMachine> => {
    const entry = { hub: at % 2 ? urls.toReversed() : urls };
    const given = { entry, cache, watches: true, config: { watch: { mode: 'off' } } };
    return hubMachine({ url: '' }, { ...given, secret: await token('reader', `machine-${at}`) });
  };
  // Two share a copy, as processes of one machine do.
  machines.push(await open(0), await open(1));
  machines.push(await open(2, machines[0]?.cache));
  const untilAllHaveAll = (): Promise<unknown> =>
    waitFor(
      () => `${wanted.size} skills at each machine, of ${machines.map((one) => shownBy(one).size)}`,
      () => machines.every((one) => isSame(shownBy(one), wanted)),
      HOUR,
    );
  await untilAllHaveAll();
  const faults: string[] = [];
  const looking = setInterval(() => {
    for (const { registry } of machines)
      if (registry.snapshot().skills.length < COUNT - CHANGES) faults.push('a machine has lost skills');
  }, 20);
  onTestFinished(() => clearInterval(looking));

  const admin = await token('admin', 'ada');
  const headers = { authorization: `Bearer ${admin}`, 'content-type': 'text/markdown' };
  /** Until a hub has answered, for which the same again is no change. */
  const sure = async (at: number, method: string, id: string): Promise<void> => {
    await waitFor('an answer', async () => {
      const request = { method, headers, ...(method === 'PUT' && { body: text(id) }) };
      const url = `${urls[at % urls.length]}/v1/spaces/team/skills/${id}`;
      const answer = await fetch(url, request).catch(() => undefined);
      return answer && (answer.ok || [404, 409].includes(answer.status));
    });
  };
  for (let at = 0; at < CHANGES; at++) {
    const id = at % 6 === 4 ? `new-${at}` : idOf((at * 7) % COUNT);
    if (at % 6 === 5) wanted.delete(id);
    else wanted.set(id, `Tells it otherwise since change ${at}.`);
    await sure(at, at % 6 === 5 ? 'DELETE' : 'PUT', id);
    if (at !== CHANGES / 2) continue;
    running[0]?.child.kill('SIGKILL');
    await running[0]?.exited;
    await startHub(0);
  }
  await untilAllHaveAll();
  expect([faults, machines.flatMap(({ registry }) => problemsOf(registry))]).toEqual([[], []]);
  for (const at of [48, 50, 52])
    for (const { registry } of machines) {
      const id = at % 6 === 4 ? `new-${at}` : idOf((at * 7) % COUNT);
      expect((await registry.read(id, {}, {})).content).toContain(`since change ${at}.`);
    }
  machines.push(await open(3));
  await untilAllHaveAll();
  expect(JSON.parse((await run('audit', '--json')).stdout).broken).toBe(null);
  for (const { child } of running) child.kill('SIGKILL');
  // What was heard is there, without a hub.
  for (const at of [0, 1]) machines.push(await open(at, machines[at]?.cache));
  await untilAllHaveAll();
}

beforeEach(() => {
  vi.stubEnv('XDG_STATE_HOME', tempFolder());
  return () => void vi.unstubAllEnvs();
});

it('shows each machine every skill of a large hub, and each change, through a kill, on SQLite', { timeout: HOUR }, () =>
  followLargeHub({ args: ['--data', tempFolder()], environment: {}, hubs: 1 }),
);

describe('two hubs', () => {
  usePostgres();

  it('show each machine every skill, and each change, through a kill of one of them', { timeout: HOUR }, async () => {
    const { address } = await hubDatabase();
    await followLargeHub({
      args: ['--data', tempFolder(), '--store', STORE],
      environment: { STORE: address },
      hubs: 2,
    });
  });
});
