import { EXIT, type ExitStatus, firstLines, type Options } from '../../../../../lib/command-line/index.ts';
import { plural, printable, showName, toWire } from '../../../../../lib/text/index.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';

const OVERLAPS_SHOWN = 20;

export async function overlap(options: Options, terminal: CommandTerminal): Promise<ExitStatus> {
  const { registry } = await terminal.openRegistry(options);
  const report = await terminal.during('Comparing skills', registry.admin.overlap());
  terminal.print({ ...report, stolen: report.stolen.map(toWire) }, () => {
    const groups = report.neighbourhoods.map(({ skills, likeness, words }) => {
      const common = words.length > 0 ? `  (${words.join(', ')})` : '';
      return `  ${likeness.toFixed(2)}  ${printable(skills.join(', '))}${common}`;
    });
    const stolen = report.stolen.map(({ query, skillId, shouldTrigger, found }) => {
      const result = shouldTrigger ? `finds ${found ?? 'nothing'}` : 'finds it, and should not';
      const short = query.length > 100 ? `${query.slice(0, 99)}…` : query;
      return `  ${skillId}: ${printable(JSON.stringify(short))} ${result}`;
    });
    const problems = report.problems.map(({ file, message }) => `  ${showName(file)}: ${printable(message)}`);
    const list = (title: string, lines: readonly string[]) => [title, ...firstLines(lines, OVERLAPS_SHOWN)].join('\n');
    return [
      list(`Skills that compete for the same tasks: ${plural(groups.length, 'group')}`, groups),
      list(`Trigger queries: ${report.queries}, of which ${stolen.length} have a wrong result`, stolen),
      ...(problems.length > 0 ? [list('Trigger queries that cannot be read', problems)] : []),
    ].join('\n\n');
  });
  return EXIT.done;
}
