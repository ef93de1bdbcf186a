import { closeSync, constants, mkdirSync, openSync, readSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { packageVersion } from '../kernel/host.ts';
import { withFallback } from '../lib/errors/index.ts';
import { forTerminal } from '../lib/text/index.ts';
import { userCacheDirectory, whyNotTrusted } from '../lib/trust/index.ts';

// A closed pipe (`| head`) is no failure: the command finishes its work with its usual exit status. A full disk is one.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.exitCode = 1;
    if (stream === process.stdout) process.stderr.write(`skill-registry: cannot write: ${error.message}\n`);
    setImmediate(() => process.exit(1));
  });
}

const person = {
  isTerminal: process.stderr.isTTY ?? false,
  columns: process.stderr.columns || undefined,
  environment: process.env,
};

const args = process.argv.slice(2);
// The commands are loaded only when one of them is asked for.
const runCli = /^(-V|--version)$/.test(args.join(' '))
  ? () => void process.stdout.write(`${packageVersion()}\n`)
  : await loadCommands();
const status = await runCli(args, {
  cwd: process.cwd(),
  environment: process.env,
  terminal: process.stdout.isTTY ?? false,
  // A pseudo terminal may report 0 columns.
  columns: process.stdout.columns || undefined,
  progress: process.stderr.isTTY ?? false,
  ...(process.stdin.isTTY && process.stderr.isTTY ? { ask } : {}),
  input: async () => Buffer.concat(await process.stdin.toArray()),
  out: (data) => void process.stdout.write(data),
  err: (text) => void process.stderr.write(forTerminal(text, person, person.isTerminal)),
});
process.exitCode ??= status;

async function loadCommands() {
  withFallback(keepCompiled);
  return (await import('./run-cli.ts')).runCli;
}

/** Node 22 and later read there what they compiled at an earlier start: 15 ms less. */
function keepCompiled(): void {
  const { enableCompileCache } = module as { enableCompileCache?(folder: string): unknown };
  if (!enableCompileCache) return;
  const folder = join(userCacheDirectory(), 'compiled');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // It is run, so nobody else may be able to write it.
  if (whyNotTrusted(folder) === undefined) enableCompileCache(folder);
}

async function ask(question: string): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises');
  discardTyped();
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<undefined>((resolve) => reader.once('close', () => resolve(undefined)));
  try {
    const answer = await Promise.race([reader.question(question), ended]);
    if (answer === undefined) process.stderr.write('\n');
    return answer;
  } finally {
    reader.close();
  }
}

/** Lines typed before the question must not answer it. */
function discardTyped(): void {
  const buffer = Buffer.alloc(4_096);
  let terminal: number | undefined;
  try {
    terminal = openSync('/dev/tty', constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    while (readSync(terminal, buffer) > 0);
  } catch {
    // Nothing more was typed, or there is no /dev/tty.
  } finally {
    if (terminal !== undefined) closeSync(terminal);
  }
}
