import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import type { Problem, TurnContext } from 'skill-registry/kernel';
import type { CommandTerminal as Terminal } from '../../extensions/skill_registry/core/command-line.ts';
import { hiddenOfPerson } from '../../extensions/skill_registry/host.ts';
import { createSecrets, declaredTurn, declaredTurns } from '../../kernel/host.ts';
import { EXIT, type ExitStatus, invalidArgument, type Options } from '../../lib/command-line/index.ts';
import { aborted } from '../../lib/waiting/index.ts';
import { exitSoon, stopOnSignals } from '../stop-on-signals.ts';
import { turnOf } from './list.ts';

interface McpOptions extends Options {
  readonly agent?: string;
  readonly allowHost?: readonly string[];
  readonly host?: string;
  readonly http?: number;
  readonly guard?: boolean;
  readonly thread?: string;
}

/** Runs until the client closes the connection (stdio), or until a signal. */
export async function mcp(options: McpOptions, terminal: Terminal): Promise<ExitStatus> {
  const { http, host, allowHost, agent, thread } = options;
  if (http === undefined && (allowHost || host !== undefined))
    throw invalidArgument('--host and --allow-host are for HTTP: give --http <port>, too.');
  if (http !== undefined && options.guard === false)
    throw invalidArgument('--no-guard is not for HTTP: other machines would be given skills that nothing inspects.');
  if (http !== undefined && thread !== undefined)
    throw invalidArgument('--thread is for stdio. Over HTTP the address names it: /agents/<id>/threads/<thread>/mcp.');
  const standardOutput = http === undefined ? takeStandardOutput() : undefined;
  const { createAgentDoors, createSkillMcpDoor, serveHttp, TOKEN_NAME } = await import('skill-registry/mcp');
  const stop = stopOnSignals();
  const opened = await terminal.openRegistry(options, { presets: http === undefined });
  const { root, trusted, registry, problems } = opened;
  for (const problem of problems())
    if (problem.severity === 'error' || SAID.has(problem.code)) terminal.sayProblem(problem);
  for (const line of await hiddenOfPerson(problems())) terminal.say(`warning: ${line}`);
  const ofConfig = registry.admin.agents();
  const given = await turnOf(options, opened, terminal);
  const caller = agent ? await declaredTurn(root, agent, trusted, ofConfig) : {};
  const isHttp = http !== undefined;
  const connection = isHttp || thread !== undefined ? {} : { connectionId: randomUUID() };
  const turn: TurnContext = { channelId: 'mcp', ...caller, ...given, ...connection };
  const onClient = (client: string, of: string = '/mcp'): void => terminal.say(`${of}: served to ${client}`);
  const ofDoor = { ...(isHttp && { onClient }), ...(thread !== undefined && { thread }) };
  const door = createSkillMcpDoor(registry, { turn, onProblem: problemSayer(terminal), ...ofDoor });
  const turns = (isHttp ? await declaredTurns(root, trusted, ofConfig) : []).map((one) => ({
    channelId: 'mcp',
    ...one,
  }));
  const agents = createAgentDoors(registry, root, turns, { onClient });
  const sayError = (error: unknown): void => terminal.say(`error: ${String(error)}`);
  const watching = registry.watch(stop).catch(sayError);
  try {
    if (standardOutput && process.stdin.isTTY)
      terminal.say(
        'Serving MCP on standard input and output, for an MCP host that starts this command. Ctrl+C ends it.',
      );
    if (standardOutput) {
      const { serveStreams } = await import('../../extensions/skill_mcp/stdio.ts');
      const onError = ({ message }: Error): void => sayError(message);
      await serveStreams(door, stop, { input: process.stdin, output: standardOutput, onError });
    } else {
      const token = createSecrets(root, terminal.environment, trusted)(TOKEN_NAME);
      const allowedHosts = allowHost ?? [];
      const serving = await serveHttp(door, {
        host: host ?? '127.0.0.1',
        port: http ?? 0,
        token,
        agents,
        allowedHosts,
      });
      terminal.print({ url: serving.url }, () => serving.url);
      if (terminal.terminal) terminal.say('MCP clients connect to this address. Ctrl+C ends it.');
      await aborted(stop);
      await serving.close();
    }
  } finally {
    door.close();
    agents.close();
    await registry.close();
    await watching;
  }
  return exitSoon(EXIT.done);
}

// --- internal ---

/** Warnings to print; errors are always printed. */
const SAID: ReadonlySet<string> = new Set(['ROOT_NOT_APPROVED']);

/** Limits the named skills, because hosts keep standard error in their logs. */
const MOST_UNPUBLISHED = 5;
const MORE_UNPUBLISHED =
  'warning: More skills are not published over MCP, and are not named here: skill-registry validate says what is wrong with a skill. The tools and their prompts still work.';

function problemSayer(terminal: Terminal): (problem: Problem) => void {
  let unpublished = 0;
  return (problem) => {
    const over = problem.code === 'SKILL_NOT_PUBLISHED' ? ++unpublished - MOST_UNPUBLISHED : 0;
    if (over <= 0) terminal.sayProblem(problem);
    else if (over === 1) terminal.say(MORE_UNPUBLISHED);
  };
}

/** Only the protocol may write to standard output: all other output goes to standard error. */
function takeStandardOutput(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return new Writable({ write: (chunk: Uint8Array, _encoding, done) => void write(chunk, done) });
}
