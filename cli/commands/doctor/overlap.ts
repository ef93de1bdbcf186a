import { printable, showName, toWire } from '../../../lib/text/index.ts';
import { openRegistry } from '../../open-registry.ts';
import { EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal, withProgress } from '../../terminal.ts';

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

/** Groups and queries in the text; `--json` has all. */
const MAX_SHOWN = 20;

function section(title: string, lines: readonly string[]): string {
  const more = lines.length > MAX_SHOWN ? [`  and ${lines.length - MAX_SHOWN} more; --json has all`] : [];
  return [title, ...lines.slice(0, MAX_SHOWN), ...more].join('\n');
}

function shown(query: string): string {
  return printable(JSON.stringify(query.length > 100 ? `${query.slice(0, 99)}…` : query));
}
