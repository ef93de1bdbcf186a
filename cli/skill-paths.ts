import { type Stats, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { printable } from '../lib/text/index.ts';
import { EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal } from './terminal.ts';

/**
 * Runs `use` on skill folders as they were typed; for a SKILL.md, its folder. A path that does not exist is wrong use, and
 * nothing is done.
 */
export function withSkillPaths(
  typed: readonly string[],
  options: GlobalOptions,
  terminal: Terminal,
  use: (paths: readonly string[]) => ExitStatus,
): ExitStatus {
  const found = typed.map((path) => ({ path, stats: statsOf(resolve(terminal.cwd, path)) }));
  const missing = found.find(({ stats }) => stats === undefined);
  if (missing) {
    const message = `Invalid value for 'SKILL_PATH': Path '${missing.path}' does not exist.`;
    printFailure('INVALID_ARGUMENT', message, options, terminal);
    return EXIT.wrongUse;
  }
  return use(found.map(({ path, stats }) => (stats?.isFile() && isSkillMd(path) ? dirname(path) : path)));
}

/** `Error: <message>` for people; with `--json` as data, too. */
export function printFailure(code: string, message: string, { json }: GlobalOptions, terminal: Terminal): void {
  if (json) printJson(terminal, { error: { code, message } });
  terminal.err(`Error: ${printable(message)}\n`);
}

// --- internal ---

function isSkillMd(path: string): boolean {
  return basename(path).toLowerCase() === 'skill.md';
}

/** Undefined also for what may not be looked at. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
