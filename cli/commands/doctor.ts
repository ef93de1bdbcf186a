import type { Finding, SkillRegistry } from 'skill-registry';
import type { Problem } from 'skill-registry/kernel';
import type { FindingLevel } from '../../extensions/skill_registry/host.ts';
import { heldExtensions, listedExtensions } from '../../kernel/host.ts';
import { printable, showName, toWire } from '../../lib/text/index.ts';
import { openRegistry } from '../open-registry.ts';
import { EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal, withProgress } from '../terminal.ts';

/** `skill-registry doctor` */
export async function doctor(options: GlobalOptions, terminal: Terminal): Promise<ExitStatus> {
  const { root, trusted, registry, problems } = await openRegistry(options, terminal);
  // The problem SKILL_TOO_LONG is only known afterwards.
  await withProgress('Counting tokens', terminal, registry.admin.tokenCounts());
  const hidden = await withProgress('Looking for hidden text', terminal, registry.admin.hiddenText());
  await withProgress('Inspecting skills', terminal, registry.admin.inspectSkills());
  const { skills, sources, byQualifiedId } = registry.snapshot();
  const held = [...byQualifiedId.values()].filter(({ heldBecause }) => heldBecause !== undefined).length;
  const inspected = await withProgress('Inspecting skills', terminal, inspectAll(registry));
  const cost = await registry.admin.contextCost();
  // Several sources may have the same folder: it is counted once.
  const folders = new Map([...registry.snapshot().byQualifiedId.values()].map((one) => [one.dir, one.qualifiedId]));
  const counts = [...folders.values()].map((id) => registry.admin.leftOut(id)).filter((count) => count > 0);
  const leftOut = { files: counts.reduce((sum, n) => sum + n, 0), skills: counts.length };
  // What an unapproved root does without, the registry says.
  const { extensions, problems: ofExtensions } = await listedExtensions(root, trusted);
  const found = [...problems(), ...hidden, ...(trusted ? ofExtensions : [])];
  const waiting = heldExtensions(root).map(({ name }) => name);
  const notStarted =
    trusted && extensions.some(({ origin }) => origin === 'root')
      ? '\n\nNo extension was started; skill-registry start says which of them fail.'
      : '';
  const errors = found.filter((problem) => problem.severity === 'error');
  if (options.json)
    printJson(terminal, {
      root,
      skills: skills.length,
      held,
      held_extensions: waiting,
      sources,
      context: cost,
      left_out: leftOut,
      inspected,
      problems: found,
    });
  else {
    const lines = sources.map(
      ({ id, location, skills: count }) => `  ${printable(id)}: ${count} skill(s) in ${showName(location)}`,
    );
    const { format, budget_tokens, enforcement } = registry.config.catalog;
    const enforcementPart = enforcement ? `, enforcement ${cost.enforcement} of them` : '';
    const prompt = `Skills take ${cost.tokens} tokens of every system prompt (${format}, budget ${budget_tokens}${enforcementPart})`;
    const withheld =
      leftOut.files > 0
        ? `\n${leftOut.files} file(s) or folder(s) in ${leftOut.skills} skill(s) are never handed out: .env, .git, keys, data/`
        : '';
    const heldPart =
      waiting.length > 0
        ? `${waiting.length} extension(s) held: ${printable(waiting.join(', '))}; skill-registry extensions show <name> tells what agents wrote\n`
        : '';
    terminal.out(
      `${skills.length} skill(s)${held > 0 ? `, ${held} held` : ''}\n${heldPart}${prompt}${withheld}\n\nSources:\n${lines.join('\n')}\n\n${verdicts(inspected)}${report(found)}${notStarted}\n`,
    );
  }
  return errors.length > 0 ? EXIT.problem : EXIT.done;
}

/** `skill-registry doctor --overlap` */
export async function overlap(options: GlobalOptions, terminal: Terminal): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const report = await withProgress('Comparing skills', terminal, registry.admin.overlap());
  if (options.json) printJson(terminal, { ...report, stolen: report.stolen.map(toWire) });
  else {
    const groups = report.neighbourhoods.map(
      ({ skills, likeness, words }) =>
        `  ${likeness.toFixed(2)}  ${printable(skills.join(', '))}${words.length > 0 ? `  (${words.join(', ')})` : ''}`,
    );
    const stolen = report.stolen.map(({ query, skillId, shouldTrigger, found }) =>
      shouldTrigger
        ? `  ${skillId}: ${shown(query)} finds ${found ?? 'nothing'}`
        : `  ${skillId}: ${shown(query)} finds it, and should not`,
    );
    const problems = report.problems.map(({ file, message }) => `  ${showName(file)}: ${printable(message)}`);
    const parts = [
      section(`Skills that compete for the same tasks: ${groups.length} group(s)`, groups),
      section(`Trigger queries: ${report.queries}, of which ${stolen.length} have a wrong result`, stolen),
      ...(problems.length > 0 ? [section('Trigger queries that cannot be read', problems)] : []),
    ];
    terminal.out(`${parts.join('\n\n')}\n`);
  }
  await registry.close();
  return EXIT.done;
}

// --- internal ---

interface Verdict {
  readonly skill_id: string;
  readonly verdict: FindingLevel;
  readonly findings: readonly Finding[];
}

/** Skills with a finding of level `block` or `warn`, most important first. */
async function inspectAll({ admin, snapshot }: SkillRegistry): Promise<readonly Verdict[]> {
  const found: Verdict[] = [];
  for (const { id, qualifiedId, remote } of snapshot().skills) {
    // Its source inspects each file that it fetches.
    if (remote) continue;
    const { verdict, findings } = await admin.trustOf(qualifiedId);
    if (verdict !== 'info')
      found.push({ skill_id: id, verdict, findings: findings.filter(({ level }) => level !== 'info') });
  }
  return [...found.filter(({ verdict }) => verdict === 'block'), ...found.filter(({ verdict }) => verdict === 'warn')];
}

function verdicts(inspected: readonly Verdict[]): string {
  if (inspected.length === 0) return '';
  const lines = inspected.map(({ skill_id: id, verdict, findings: [first, ...others] }) => {
    const where = first?.line === undefined ? first?.file : `${first.file}:${first.line}`;
    const more = others.length === 0 ? '' : `, and ${others.length} more`;
    return printable(`  ${verdict.padEnd(5)}  ${id}: ${first?.message} (${where}${more})`);
  });
  const title = `Inspection: ${inspected.length} skill(s) to look at; skill-registry inspect <id> tells more`;
  return `${section(title, lines)}\n\n`;
}

/** Errors first, then the most frequent codes: one correction may solve the problem of many files. */
function report(problems: readonly Problem[]): string {
  if (problems.length === 0) return 'Nothing is wrong.';
  const groups = new Map<string, Problem[]>();
  for (const problem of problems) {
    const key = `${problem.severity} ${problem.code}`;
    groups.set(key, [...(groups.get(key) ?? []), problem]);
  }
  const ordered = [...groups].sort(
    ([a, inA], [b, inB]) => rank(a) - rank(b) || inB.length - inA.length || (a < b ? -1 : 1),
  );
  const blocks = ordered.map(([key, members]) => `${key} (${members.length})\n${members.map(lineOf).join('\n')}`);
  return blocks.join('\n\n');
}

function rank(key: string): number {
  return key.startsWith('error') ? 0 : 1;
}

function lineOf({ file, line, message }: Problem): string {
  return `  ${showName(file)}${line ? `:${line}` : ''}\n    ${printable(message)}`;
}

/** Groups, queries and verdicts in the text; `--json` has all. */
const MAX_SHOWN = 20;

function section(title: string, lines: readonly string[]): string {
  const more = lines.length > MAX_SHOWN ? [`  and ${lines.length - MAX_SHOWN} more; --json has all`] : [];
  return [title, ...lines.slice(0, MAX_SHOWN), ...more].join('\n');
}

function shown(query: string): string {
  return printable(JSON.stringify(query.length > 100 ? `${query.slice(0, 99)}…` : query));
}
