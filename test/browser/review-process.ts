import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

export interface ReviewProcess {
  /** The printed address. */
  readonly url: string;
  /** Everything it has written. */
  output(): string;
  stop(): Promise<void>;
}

/** Starts `skill-registry review` of `dist/` on a root, as ada. @param environment - What differs from this process's. */
export async function startReview(
  root: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ReviewProcess> {
  const main = join(import.meta.dirname, '../../dist/cli/main.js');
  const child = spawn(process.execPath, [main, 'review', '--trust', '--root', root], {
    env: { ...process.env, USER: 'ada', ...environment },
  });
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += String(chunk);
      const [found] = /http:\/\/127\.0\.0\.1:\d+\/\S+/.exec(output) ?? [];
      if (found) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('close', (status) => reject(new Error(`it ended with ${status}: ${output}`)));
  });
  return { url, output: () => output, stop: () => stop(child) };
}

// --- internal ---

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.kill('SIGTERM');
  await ended;
}
