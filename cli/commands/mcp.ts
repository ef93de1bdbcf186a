import { Writable } from 'node:stream';
import { CodedError, type Problem, type TurnContext } from 'skill-registry/kernel';
import type { SkillMcpDoor } from 'skill-registry/mcp';
import { workflowOption } from '../../extensions/skill_registry/host.ts';
import { createSecrets, declaredTurn } from '../../kernel/host.ts';
import { printable } from '../../lib/text/index.ts';
import { aborted } from '../../lib/waiting/index.ts';
import { openRegistry } from '../open-registry.ts';
import { stopOnSignals } from '../stop-on-signals.ts';
import { EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal } from '../terminal.ts';

export interface McpOptions extends GlobalOptions {
  readonly http?: number;
  readonly host?: string;
  readonly allowHost?: readonly string[];
  readonly agent?: string;
  readonly workflow?: string;
}

/** `skill-registry mcp`: runs until the client closes the connection (stdio), or the process gets a signal. */
export async function mcp(options: McpOptions, terminal: Terminal): Promise<ExitStatus> {
  if (options.http === undefined && (options.allowHost || options.host !== undefined))
    throw new CodedError('INVALID_ARGUMENT', '--host and --allow-host are for HTTP: give --http <port>, too.');
  const printLine = (text: string): void => terminal.err(`${printable(text)}\n`);
  const standardOutput = options.http === undefined ? takeStandardOutput() : undefined;
  const { createSkillMcpDoor, TOKEN_NAME } = await import('skill-registry/mcp');
  const stop = stopOnSignals();
  const { root, trusted, registry, problems } = await openRegistry(options, terminal);
  const printedCodes = new Set(['ROOT_NOT_APPROVED', 'SKILL_NOT_INSPECTED']);
  const important = problems().filter(({ severity, code }) => severity === 'error' || printedCodes.has(code));
  for (const { severity, file, message } of important) {
    printLine(`${severity}: ${file}: ${message}`);
  }
  const turn: TurnContext = {
    channelId: 'mcp',
    ...(options.agent ? await declaredTurn(root, options.agent, trusted) : {}),
    ...(await workflowOption(registry.snapshot(), options.workflow)),
  };
  let unpublished = 0;
  const door = createSkillMcpDoor(registry, {
    turn,
    onProblem: ({ code, severity, file, message }: Problem) => {
      const over = code === 'SKILL_NOT_PUBLISHED' ? ++unpublished - MOST_UNPUBLISHED : 0;
      if (over <= 0) printLine(`${severity}: ${file}: ${message}`);
      else if (over === 1) printLine(MORE_UNPUBLISHED);
    },
  });
  const watching = registry.watch(stop).catch((error: unknown) => printLine(`error: ${String(error)}`));
  try {
    if (standardOutput && process.stdin.isTTY)
      printLine('Serving MCP on standard input and output, for an MCP host that starts this command. Ctrl+C ends it.');
    const onError = ({ message }: Error): void => printLine(`error: ${message}`);
    if (standardOutput) {
      const { serveStreams } = await import('../../extensions/skill_mcp/stdio.ts');
      await serveStreams(door, stop, { input: process.stdin, output: standardOutput, onError });
    } else await listen(door, createSecrets(root, terminal.environment, trusted)(TOKEN_NAME), options, terminal, stop);
  } finally {
    door.close();
    await registry.close();
    await watching;
  }
  // Timers or connections that a source has left open must not keep the process running.
  setTimeout(() => process.exit(EXIT.done), 200).unref();
  return EXIT.done;
}

// --- internal ---

/** So many skills that are not published are named: hosts keep what stands on standard error. */
const MOST_UNPUBLISHED = 5;
const MORE_UNPUBLISHED =
  'warning: More skills are not published over MCP, and are not named here: skill-registry validate says what is wrong with a skill. The tools and their prompts still work.';

async function listen(
  door: SkillMcpDoor,
  token: string | undefined,
  options: McpOptions,
  terminal: Terminal,
  stop: AbortSignal,
): Promise<void> {
  const { serveHttp } = await import('skill-registry/mcp');
  const serving = await serveHttp(door, {
    host: options.host ?? '127.0.0.1',
    port: options.http ?? 0,
    token,
    allowedHosts: options.allowHost ?? [],
  });
  if (options.json) printJson(terminal, { url: serving.url });
  else terminal.out(`${serving.url}\n`);
  if (terminal.terminal) terminal.err('MCP clients connect to this address. Ctrl+C ends it.\n');
  await aborted(stop);
  await serving.close();
}

/**
 * Reserves standard output for the protocol: other output of this process, such as that of a package source, goes to standard
 * error.
 */
function takeStandardOutput(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return new Writable({ write: (chunk: Uint8Array, _encoding, done) => void write(chunk, done) });
}
