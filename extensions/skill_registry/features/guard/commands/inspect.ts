import { statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CodedError } from 'skill-registry/kernel';
import { packageVersion } from '../../../../../kernel/host.ts';
import { EXIT, type ExitStatus, type Options } from '../../../../../lib/command-line/index.ts';
import { type FindingFormat, type FormattedFinding, formatFindings } from '../../../../../lib/findings/index.ts';
import { forTerminal, plural, printable, toWire } from '../../../../../lib/text/index.ts';
import type { CommandTerminal, OpenRegistry } from '../../../core/command-line.ts';
import type { Finding, FindingLevel } from '../../../core/skill/guard.ts';
import { inspectFolder } from '../files-for-inspection.ts';
import { inspectionRules } from '../inspect/inspect-skill.ts';
import type { Inspection } from '../inspect/rule.ts';
import { reachLines } from '../shown-reach.ts';

type InspectOptions = Options & { readonly format?: FindingFormat };

/** Takes skill folders, SKILL.md files and ids. Exit status 1 when a verdict is `block`. */
export async function inspect(
  typed: readonly string[],
  options: InspectOptions,
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  let opened: OpenRegistry | undefined;
  const results: Inspected[] = [];
  for (const what of typed) {
    const folder = folderOf(what, terminal);
    if (folder === undefined) opened ??= await terminal.openRegistry(options);
    const inspecting = folder === undefined ? inspectId(opened as OpenRegistry, what) : inspectFolder(folder);
    const howFar = typed.length > 1 ? `, ${results.length + 1} of ${typed.length}` : '';
    results.push({ what, folder, ...(await terminal.during(`Inspecting ${what}${howFar}`, inspecting)) });
  }
  if (options.format) {
    const found = results.map(({ what, folder, findings }) => ({
      path: what,
      file: folder === undefined ? undefined : join(folder, 'SKILL.md'),
      findings: findings.map(formatted),
    }));
    const shown = { cwd: terminal.cwd, version: packageVersion(), rules: inspectionRules() };
    terminal.out(formatFindings(found, options.format, shown));
  } else {
    terminal.print({ results: results.map(({ folder: _, ...result }) => toWire(result)) }, () =>
      forTerminal(printable(results.map(reportOf).join('\n\n')), terminal, terminal.terminal),
    );
  }
  return results.some(({ verdict }) => verdict === 'block') ? EXIT.problem : EXIT.done;
}

// --- internal ---

interface Inspected extends Inspection {
  readonly what: string;
  /** Absolute; undefined without a folder. */
  readonly folder: string | undefined;
}

/** Undefined for an id. @throws SKILL_NOT_FOUND for a path that does not exist. */
function folderOf(what: string, { cwd }: CommandTerminal): string | undefined {
  const path = resolve(cwd, what);
  const stats = statSync(path, { throwIfNoEntry: false });
  // The colon excludes qualified ids.
  if (!stats && /^[^:]*[\\/]/.test(what))
    throw new CodedError('SKILL_NOT_FOUND', `There is no folder ${path}. Correct the path.`);
  if (stats?.isDirectory()) return path;
  return stats?.isFile() && basename(path).toLowerCase() === 'skill.md' ? dirname(path) : undefined;
}

async function inspectId({ registry }: OpenRegistry, what: string) {
  const { verdict, findings, reach } = await registry.admin.trustOf(what);
  const { byId, byQualifiedId } = registry.snapshot();
  return { verdict, findings, reach, folder: (byId.get(what) ?? byQualifiedId.get(what))?.dir ?? undefined };
}

const SEVERITY = { block: 'error', warn: 'warning', info: 'note' } as const;

function formatted({ rule, level, file, line, message, excerpt }: Finding): FormattedFinding {
  return {
    severity: SEVERITY[level],
    code: rule,
    path: file,
    message: excerpt === '' ? message : `${message}: "${excerpt}"`,
    ...(line !== undefined && { line }),
  };
}

const WORDS: Readonly<Record<FindingLevel, string>> = {
  block: 'block: this looks like an attack',
  warn: 'warn: worth a look before it is used',
  info: 'info: nothing was found, which is no proof that nothing is there',
};

function reportOf({ what, verdict, findings, reach }: Inspected): string {
  const facts = findings.filter(({ level }) => level === 'info').length;
  const listed = findings
    .filter(({ level }) => level !== 'info')
    .map(({ rule, level, file, line, message, excerpt }) => {
      const where = line === undefined ? file : `${file}:${line}`;
      return `  ${level.padEnd(5)}  ${where}  ${message} [${rule}]${excerpt === '' ? '' : `\n         ${excerpt}`}`;
    });
  const counted = facts === 0 ? [] : [`  ${plural(facts, 'note')} on what is there; --json has them`];
  const reached = reachLines(reach).map((line) => `  ${line}`);
  return [`${what}: ${WORDS[verdict]}`, ...listed, ...counted, ...reached].join('\n');
}
