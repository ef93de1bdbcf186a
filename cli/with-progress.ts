import type { Terminal } from './terminal.ts';

const PATIENCE_MS = 1_000;

/** Says on standard error what is being done, when somebody is looking and it takes more than a second. */
export async function withProgress<T>(
  what: string,
  { progress, err }: Pick<Terminal, 'progress' | 'err'>,
  work: Promise<T>,
): Promise<T> {
  const timer = progress ? setTimeout(() => err(`${what} ...\n`), PATIENCE_MS) : undefined;
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
