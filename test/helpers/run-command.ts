import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { waitFor } from './wait-for.ts';

const DIST = join(import.meta.dirname, '..', '..', 'dist');
const MAIN = join(DIST, 'cli', 'main.js');

export interface RunOptions {
  readonly cwd?: string;
  /** Written to standard input, which is then closed. */
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** A terminal with a person at it, who answers each question; the questions go to `stderr`. Default: no terminal. */
  readonly answer?: (question: string) => string | Promise<string>;
  /** Whether the root may act without having been approved (`--trust`). Default: true. */
  readonly trust?: boolean;
  /** Whether it says how far it is, as at a terminal, to `heard`. Default: it does not. */
  readonly heard?: (text: string) => void;
}

export interface RunResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a `skill-registry` command to its end, as the process does but inside this one: the streams are what `runCli` is
 * handed. `start` reads the real standard input, so it is run as a process.
 */
export async function runCommand(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  if (args[0] === 'start') return spawnCommand(args, options);
  const out: Uint8Array[] = [];
  let stderr = '';
  const { answer } = options;
  const ask = async (question: string): Promise<string | undefined> => {
    stderr += question;
    return answer?.(question);
  };
  const status = await runCli(withTrust(args, options), {
    cwd: options.cwd ?? process.cwd(),
    environment: { ...process.env, ...options.environment },
    terminal: false,
    columns: undefined,
    progress: options.heard !== undefined,
    input: async () => Buffer.from(options.input ?? ''),
    ...(answer === undefined ? {} : { ask }),
    out: (data) => void out.push(Buffer.from(data)),
    err: (text) => {
      options.heard?.(text);
      stderr += text;
    },
  });
  return { status, stdout: Buffer.concat(out).toString('utf8'), stderr };
}

/** Runs the built command as a process of its own. */
export async function spawnCommand(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const running = startCommand(args, options);
  running.child.stdin?.end(options.input ?? '');
  const status = await running.exited;
  return { status, stdout: running.stdout(), stderr: running.stderr() };
}

/**
 * Runs a program that uses the built library, as a process of its own, to its end.
 *
 * @param program - The body of a module; `createSkillRegistry` and `boot` are imported.
 */
export async function runProgram(program: string, options: RunOptions = {}): Promise<RunResult> {
  const door = (path: string): string => pathToFileURL(join(DIST, path)).href;
  const text = [
    `import { createSkillRegistry } from '${door('extensions/skill_registry/index.js')}';`,
    `import { boot } from '${door('kernel/index.js')}';`,
    program,
  ].join('\n');
  const running = watchChild(spawn(process.execPath, ['--input-type=module', '-e', text], spawnOptions(options)));
  running.child.stdin?.end();
  const status = await running.exited;
  return { status, stdout: running.stdout(), stderr: running.stderr() };
}

export interface RunningCommand {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  stdout(): string;
  stderr(): string;
  /** Waits until standard output holds this text. */
  until(text: string, deadlineMs?: number): Promise<void>;
  untilStderr(text: string, deadlineMs?: number): Promise<void>;
}

/** Starts the command and leaves it running; it is killed when the test has finished. */
export function startCommand(args: readonly string[], options: RunOptions = {}): RunningCommand {
  return watchChild(spawn(process.execPath, [MAIN, ...withTrust(args, options)], spawnOptions(options)));
}

/** The same on a pseudo terminal, through script(1). @param columns - Of the terminal. */
export function startOnTerminal(args: readonly string[], options: RunOptions = {}, columns = 80): RunningCommand {
  const line = [`stty cols ${columns};`, 'exec', process.execPath, MAIN, ...withTrust(args, options)].join(' ');
  return watchChild(spawn('script', ['-qec', line, '/dev/null'], spawnOptions(options)));
}

// --- internal ---

function withTrust([name = '', ...rest]: readonly string[], { trust = true }: RunOptions): readonly string[] {
  return trust && /^[a-z]/.test(name) ? [name, '--trust', ...rest] : [name, ...rest];
}

function spawnOptions({ cwd, environment }: RunOptions) {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MODEL_')));
  return { cwd, env: { ...inherited, TERM: 'xterm', ...environment } };
}

function watchChild(child: ChildProcess): RunningCommand {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  // A command that has ended takes no more input; its status says why.
  child.stdin?.on('error', () => {});
  const exited = new Promise<number | null>((resolve) => {
    child.on('close', (status) => resolve(status));
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    child,
    exited,
    stdout: () => stdout,
    stderr: () => stderr,
    async until(text, deadlineMs) {
      await waitFor(
        () => `${JSON.stringify(text)} in: ${stdout}`,
        () => stdout.includes(text),
        deadlineMs,
      );
    },
    async untilStderr(text, deadlineMs) {
      await waitFor(
        () => `${JSON.stringify(text)} in: ${stderr}`,
        () => stderr.includes(text),
        deadlineMs,
      );
    },
  };
}
