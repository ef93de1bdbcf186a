import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { waitFor } from './wait-for.ts';

/** For a machine so busy that the other process hardly runs: a race goes on until everything was seen, no longer than this. */
export const RACE_DEADLINE_MS = 240_000;

/** Another process that does something again and again, as fast as it can, until the test has finished. */
export interface BusyProcess {
  /** Ends it and waits for that; `tidy` of the script has run by then. */
  stop(): Promise<void>;
}

/**
 * Runs `script` in a Node process of its own.
 *
 * @param script - Statements that define `round()`, done again and again, and `tidy()`, done at the end. In scope are
 *   `fs`, `join`, `args`, and `works(act)`, which tells whether `act` did not throw.
 */
export async function keepBusy(script: string, args: readonly string[]): Promise<BusyProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', `${PROLOGUE}\n${script}\n${LOOP}`, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  onTestFinished(() => void child.kill('SIGKILL'));
  await waitFor('the other process to be busy', () => output.includes('busy') || child.exitCode !== null);
  return {
    async stop() {
      child.stdin.end();
      const status = await ended;
      if (status !== 0) throw new Error(`the other process failed with status ${status}`);
    },
  };
}

/** Flips `args[0]` between a copy of the file `args[1]` and a link to `args[2]`; there is one or the other at any moment. */
export const FLIP_FILE = `
  const [target, good, secret] = args;
  const spare = target + '.spare';
  function round() {
    fs.linkSync(good, spare);
    fs.renameSync(spare, target);
    fs.symlinkSync(secret, spare);
    fs.renameSync(spare, target);
  }
  function tidy() {
    fs.linkSync(good, spare);
    fs.renameSync(spare, target);
  }`;

/**
 * Flips the folder `args[0]` between itself and a link to the folder `args[1]`; in between there is nothing, or what somebody
 * else makes there, which is removed.
 */
export const FLIP_FOLDER = `
  const [target, outside] = args;
  const away = target + '.away';
  function round() {
    fs.renameSync(target, away);
    works(() => fs.symlinkSync(outside, target));
    do works(() => fs.rmSync(target, { recursive: true, force: true }));
    while (!works(() => fs.renameSync(away, target)));
  }
  function tidy() {}`;

/**
 * Exchanges files, one at a time, every 3 ms, by renaming. `args[0]`: the file with the number of exchanges; then for each
 * target its path, the file that it is a copy of else (empty: it is not there), and the file that it becomes for a moment.
 */
export const EXCHANGE_FILES = `
  const [counted, ...all] = args;
  const targets = Array.from({ length: all.length / 3 }, (_, at) => all.slice(at * 3, at * 3 + 3));
  const still = new Int32Array(new SharedArrayBuffer(4));
  let exchanges = 0;
  function put(target, text) {
    // Beside the counter: no reader may find a file with a part of a hostile name.
    const spare = counted + '.spare';
    fs.mkdirSync(join(target, '..'), { recursive: true });
    if (text === '') fs.rmSync(target, { force: true });
    else fs.copyFileSync(text, spare);
    if (text !== '') fs.renameSync(spare, target);
    fs.writeFileSync(counted, String(++exchanges));
    Atomics.wait(still, 0, 0, 3);
  }
  function round() {
    const [target, good, other] = targets[(exchanges / 2) % targets.length];
    put(target, other);
    put(target, good);
  }
  function tidy() {}`;

// --- internal ---

const PROLOGUE = `
  import fs from 'node:fs';
  import { join } from 'node:path';
  const args = process.argv.slice(1);
  const works = (act) => { try { act(); return true; } catch { return false; } };`;

/** Rounds come in batches, so that the end of standard input is noticed between them. */
const LOOP = `
  let ending = false;
  process.stdin.resume().on('end', () => { ending = true; });
  function batch() {
    for (let n = 0; n < 50; n++) round();
    if (!ending) return setImmediate(batch);
    tidy();
    process.exit(0);
  }
  round();
  process.stdout.write('busy');
  batch();`;
