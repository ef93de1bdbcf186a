#!/usr/bin/env node
import { runCli } from './run-cli.ts';

// A reader that has had enough (`| head`) is no failure; a full disk is.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.exitCode = 1;
    if (stream === process.stdout) process.stderr.write(`skill-registry: cannot write: ${error.message}\n`);
    setImmediate(() => process.exit(1));
  });
}

const status = await runCli(process.argv.slice(2), {
  cwd: process.cwd(),
  environment: process.env,
  terminal: process.stdout.isTTY ?? false,
  // A pseudo terminal that was given no size says 0.
  columns: process.stdout.columns || undefined,
  progress: process.stderr.isTTY ?? false,
  ...(process.stdin.isTTY && process.stderr.isTTY ? { ask } : {}),
  input: async () => Buffer.concat(await process.stdin.toArray()),
  out: (data) => void process.stdout.write(data),
  err: (text) => void process.stderr.write(text),
});
process.exitCode ??= status;

async function ask(question: string): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises');
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<undefined>((resolve) => reader.once('close', () => resolve(undefined)));
  try {
    return await Promise.race([reader.question(question), ended]);
  } finally {
    reader.close();
  }
}
