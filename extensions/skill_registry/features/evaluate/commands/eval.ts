import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describeError, isCodedError } from 'skill-registry/kernel';
import wrapAnsi from 'wrap-ansi';
import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { EXIT, type ExitStatus, invalidArgument, type Options } from '../../../../../lib/command-line/index.ts';
import { plural, printable, toWireDeep } from '../../../../../lib/text/index.ts';
import type { SkillRegistry } from '../../../core/api.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import { countsOf, describeClaims, describeResult, describeResults } from '../describe.ts';
import type { EvaluationResult, SkillEvidence } from '../types.ts';

/** Runs only what needs no model. Exit status 1 for a failed check or a broken file of test cases. */
export async function evaluate(
  id: string | undefined,
  options: Options & { readonly outputs?: string; readonly fromMissed?: boolean },
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  if (options.fromMissed) {
    if (id !== 'add') throw invalidArgument('Write it as skill-registry eval add --from-missed.');
    return (await import('./add-from-missed.ts')).addFromMissed(options, terminal);
  }
  const { registry } = await terminal.openRegistry(options);
  const { admin } = registry;
  const before = id === undefined ? undefined : await admin.evidence(id);
  const outputs = options.outputs === undefined ? undefined : resolve(terminal.cwd, options.outputs);
  const running =
    id === undefined
      ? evaluateAll(registry, outputs)
      : admin.evaluate(id, { outputs }).then((result) => ({ results: [result], held: [] }));
  const { results, held } = await terminal.during('Evaluating', running);
  const totals = sumOf(results);
  const { claims = [] } = id === undefined ? {} : await admin.evidence(id);
  terminal.print({ totals: toWireDeep(totals), skills: results.map(toWireDeep), held, claims }, () => {
    const text =
      id === undefined ? textOfAll(results, held, terminal) : textOfOne(results, before, describeClaims(claims));
    return fitted(text, terminal.width);
  });
  const notKept = results.find((result) => result.notKept !== null)?.notKept;
  if (notKept) terminal.say(`warning: the results are not kept: ${notKept}`);
  const isBroken = results.some(({ problems }) => problems.length > 0);
  return totals.failed > 0 || isBroken ? EXIT.problem : EXIT.done;
}

// --- internal ---

interface Held {
  readonly skill_id: string;
  readonly reason: string;
}

/** @param folder - Has one folder of outputs per skill. */
async function evaluateAll({ admin, snapshot }: SkillRegistry, folder: string | undefined) {
  const names = folder === undefined ? [] : foldersIn(folder);
  const results: EvaluationResult[] = [];
  const held: Held[] = [];
  for (const { id, qualifiedId, remote } of snapshot().skills) {
    // Remote skills have no files here.
    if (remote) continue;
    await takeBreak(results.length, snapshot().skills.length);
    try {
      const own = folder !== undefined && names.includes(id) ? { outputs: join(folder, id) } : {};
      results.push(await admin.evaluate(qualifiedId, own));
    } catch (error) {
      if (!isCodedError(error, 'SKILL_HELD')) throw error;
      held.push({ skill_id: id, reason: error.message });
    }
  }
  return { results, held };
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const whyNot: Readonly<Record<string, string>> = { ENOENT: 'there is no such folder', ENOTDIR: 'it is a file' };
    throw invalidArgument(
      `No outputs can be read from ${folder}: ${whyNot[code] ?? describeError(error)}. Expected a folder with one folder for each skill, and in that one for each case, called as its id, with output.md or output.txt in it. Whoever runs the cases writes them; docs/evidence.md of the package shows how.`,
    );
  }
}

function sumOf(results: readonly EvaluationResult[]): EvaluationResult['totals'] {
  const sum = (of: (totals: EvaluationResult['totals']) => number): number =>
    results.reduce((all, { totals }) => all + of(totals), 0);
  return { passed: sum((one) => one.passed), failed: sum((one) => one.failed), notRun: sum((one) => one.notRun) };
}

function textOfAll(results: readonly EvaluationResult[], held: readonly Held[], terminal: CommandTerminal): string {
  const isListed = ({ suite, totals, problems }: EvaluationResult): boolean =>
    suite !== null || totals.failed > 0 || problems.length > 0;
  const listed = results.filter(isListed);
  const failed = listed.filter(({ totals, problems }) => totals.failed > 0 || problems.length > 0);
  const without = results.length - listed.length;
  return [
    `${plural(results.length, 'skill')}: ${countsOf(sumOf(results))}${without > 0 ? `; ${without} of them without test cases` : ''}`,
    ...(listed.length > 0 ? [describeResults(listed, terminal.width)] : []),
    ...failed.map(describeResult),
    ...(held.length > 0
      ? [['Held, so nothing of them was run', ...held.map(({ reason }) => `  ${printable(reason)}`)].join('\n')]
      : []),
  ].join('\n\n');
}

function textOfOne([result]: readonly EvaluationResult[], before: SkillEvidence | undefined, claims: string): string {
  if (!result) return '';
  const { last } = before ?? {};
  const state = result.reused
    ? `  results   of ${result.at.slice(0, 16).replace('T', ' ')}: nothing has changed since`
    : last
      ? `  results   new ones: the last were of another content, ${last.digest.slice(0, 15)}, with ${countsOf(last.totals)}`
      : '';
  const [title = '', ...others] = describeResult(result).split('\n');
  const all = [title, ...(state === '' ? [] : [state]), ...others].join('\n');
  return claims === '' ? all : `${all}\n\n${claims}`;
}

function fitted(text: string, width: number | undefined): string {
  if (width === undefined) return text;
  const fit = (line: string): string => {
    if (line.length <= width) return line;
    const indent = ' '.repeat((/^ */.exec(line)?.[0].length ?? 0) + 4);
    const parts = wrapAnsi(line.trim(), Math.max(20, width - indent.length), { hard: true }).split('\n');
    return parts.map((part, at) => `${at === 0 ? indent.slice(4) : indent}${part}`).join('\n');
  };
  return text.split('\n').map(fit).join('\n');
}
