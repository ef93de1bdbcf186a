import { printable, showName, toWire } from '../../../lib/text/index.ts';
import type { OpenRegistry } from '../../open-registry.ts';
import { EXIT, type ExitStatus, firstLines, type Terminal } from '../../terminal.ts';

export async function overlap({ registry }: OpenRegistry, terminal: Terminal): Promise<ExitStatus> {
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
    const parts = [
      [`Skills that compete for the same tasks: ${groups.length} group(s)`, ...firstLines(groups, MAX_SHOWN)],
      [
        `Trigger queries: ${report.queries}, of which ${stolen.length} have a wrong result`,
        ...firstLines(stolen, MAX_SHOWN),
      ],
      ...(problems.length > 0 ? [['Trigger queries that cannot be read', ...firstLines(problems, MAX_SHOWN)]] : []),
    ];
    return parts.map((lines) => lines.join('\n')).join('\n\n');
  });
  return EXIT.done;
}

// --- internal ---

const MAX_SHOWN = 20;
