import type { SkillToAdd } from '../extensions/skill_registry/host.ts';
import { printable } from '../lib/text/index.ts';

type Findings = SkillToAdd['findings'];

/** Findings in the text; `--json` has all. */
const MAX_SHOWN = 10;

/** One line for each finding of these levels, most important first. */
export function findingLines(findings: Findings, levels: readonly Findings[number]['level'][]): readonly string[] {
  const ofLevels = findings.filter(({ level }) => levels.includes(level));
  const lines = ofLevels.slice(0, MAX_SHOWN).map(({ level, rule, file, line, message, excerpt }) => {
    const where = `${file}${line === undefined ? '' : `:${line}`}`;
    return `  ${printable(`${level.toUpperCase()} ${where}: ${message}${excerpt === '' ? '' : ` ${excerpt}`} (${rule})`)}`;
  });
  const more = ofLevels.length - lines.length;
  return more > 0 ? [...lines, `  and ${more} more finding(s); --json has all`] : lines;
}
