import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../kernel/host.ts';
import type { RunResult } from './run-command.ts';
import { writeTree } from './temp-folder.ts';

/** The built package as it is installed where no install script runs: better-sqlite3 is there, its binary is not. */
export interface PackageWithoutBinary {
  /** Runs a command of it to its end, in `cwd`. */
  command(args: readonly string[], cwd: string): Promise<RunResult>;
  /** Runs one after the other, all in one process: to start one takes longer than most of them. */
  commands(all: readonly (readonly string[])[], cwd: string): Promise<readonly RunResult[]>;
  /** Runs a program (an ES module) that imports it by name, in `cwd`. What it prints as the last line is JSON. */
  program(source: string, cwd: string): Promise<unknown>;
  remove(): void;
}

/** Whether this Node has SQLite of its own, so that the binary is not needed. */
export const HAS_SQLITE: boolean = isBuiltin('node:sqlite');

/** @param builtIn - Whether `node:sqlite` may be used, where this Node has it. */
export function packageWithoutBinary(builtIn: boolean): PackageWithoutBinary {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'skill-registry-bare-')));
  for (const name of ['dist', 'package.json', 'skills'])
    cpSync(join(packageRoot(), name), join(folder, name), { recursive: true });
  const modules = join(packageRoot(), 'node_modules');
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(modules)) {
    if (name !== 'better-sqlite3') symlinkSync(join(modules, name), join(folder, 'node_modules', name));
  }
  for (const name of ['package.json', 'lib']) {
    const path = join('node_modules', 'better-sqlite3', name);
    // Where it could not be built, it is not installed.
    if (existsSync(join(packageRoot(), path)))
      cpSync(join(packageRoot(), path), join(folder, path), { recursive: true });
  }
  const options = HAS_SQLITE && !builtIn ? ['--no-experimental-sqlite'] : [];
  let programs = 0;
  const program = async (source: string, cwd: string): Promise<unknown> => {
    const name = `program-${++programs}.mjs`;
    writeTree(folder, { [name]: source });
    const { status, stdout, stderr } = await run([...options, join(folder, name)], cwd);
    if (status !== 0 || stderr !== '') throw new Error(`status ${status}\n${stdout}\n${stderr}`);
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  };
  return {
    command: (args, cwd) => run([...options, join(folder, 'dist', 'cli', 'main.js'), ...args, '--trust'], cwd),
    commands: async (all, cwd) => (await program(RUN_ALL(all), cwd)) as readonly RunResult[],
    program,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

// --- internal ---

const RUN_ALL = (all: readonly (readonly string[])[]): string => `
  import { runCli } from './dist/cli/run-cli.js';
  const results = [];
  for (const args of ${JSON.stringify(all)}) {
    const result = { stdout: '', stderr: '' };
    const status = await runCli(args, {
      cwd: process.cwd(),
      environment: {},
      terminal: false,
      progress: false,
      input: async () => Buffer.alloc(0),
      out: (data) => void (result.stdout += Buffer.from(data)),
      err: (text) => void (result.stderr += text),
    });
    results.push({ status, ...result });
  }
  console.log(JSON.stringify(results));`;

function run(args: readonly string[], cwd: string): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, stdout, stderr }));
  });
}
