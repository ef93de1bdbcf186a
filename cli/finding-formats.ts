import { dirname, join, relative } from 'node:path';
import { printable, showName } from '../lib/text/index.ts';
import { type FormattedFinding, type FormattedRule, type LocatedFinding, toSarif } from './sarif.ts';

/** What was found at one path. */
export interface PathFindings {
  /** As it was typed. */
  readonly path: string;
  /** The file that findings without a path are about. */
  readonly file?: string;
  readonly findings: readonly FormattedFinding[];
}

export type FindingFormat = 'lines' | 'github' | 'sarif';

/**
 * The findings for other programs: `lines` is `file:line: severity: message` for editors; `github` are annotations of a GitHub
 * workflow; `sarif` is SARIF 2.1.0.
 *
 * @param cwd - Paths below it are shown relative to it. @param rules - Described in SARIF.
 */
export function formatFindings(
  checks: readonly PathFindings[],
  format: FindingFormat,
  cwd: string,
  rules: readonly FormattedRule[] = [],
): string {
  const found = checks.flatMap((check) => check.findings.map((finding) => locate(check, finding, cwd)));
  if (format === 'sarif') return `${JSON.stringify(toSarif(found, rules), null, 2)}\n`;
  return found.map((one) => `${format === 'github' ? toAnnotation(one) : toLine(one)}\n`).join('');
}

// --- internal ---

function locate(check: PathFindings, finding: FormattedFinding, cwd: string): LocatedFinding {
  const checked = check.file && finding.path ? join(dirname(check.file), finding.path) : check.file;
  const file = finding.file ?? checked;
  const near = file === undefined ? check.path : relative(cwd, file);
  return { ...finding, file: near.startsWith('..') ? (file ?? check.path) : near, line: finding.line ?? 1 };
}

function toLine({ file, line, severity, message, code }: LocatedFinding): string {
  return printable(`${showName(file)}:${line}: ${severity}: ${message}${code ? ` [${code}]` : ''}`);
}

/** https://docs.github.com/actions: `%`, line ends, and in properties `:` and `,` are escaped. */
function toAnnotation({ file, line, severity, message, code }: LocatedFinding): string {
  const text = (value: string): string =>
    printable(value).replace(
      /[%\r\n]/g,
      (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
    );
  const property = (value: string): string => text(value).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${severity === 'note' ? 'notice' : severity} file=${property(file)},line=${line},title=${property(code ?? 'skill')}::${text(message)}`;
}
