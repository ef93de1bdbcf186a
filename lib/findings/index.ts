import { createHash } from 'node:crypto';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { printable, showName } from '../text/index.ts';

export interface FormattedFinding {
  readonly severity: 'error' | 'warning' | 'note';
  readonly code?: string | undefined;
  /** Stands for the code of a finding without one. */
  readonly rule?: string | undefined;
  readonly message: string;
  /** Absolute. */
  readonly file?: string | undefined;
  /** Relative to the folder of `PathFindings.file`. */
  readonly path?: string | undefined;
  readonly line?: number | undefined;
}

interface PathFindings {
  readonly path: string;
  /** The file of findings without a path. */
  readonly file?: string | undefined;
  readonly findings: readonly FormattedFinding[];
}

export type FindingFormat = 'lines' | 'github' | 'sarif';

export interface DescribedRule {
  readonly id: string;
  readonly message: string;
  readonly why?: string;
  readonly mend: string;
}

interface Shown {
  /** Paths below it are shown relative to it. */
  readonly cwd: string;
  /** Of the package. */
  readonly version: string;
  readonly rules: readonly DescribedRule[];
  readonly helpUri?: (rule: string) => string | undefined;
}

/** `lines`: `file:line: severity: message`, for editors; `github`: workflow annotations; `sarif`: SARIF 2.1.0. */
export function formatFindings(checks: readonly PathFindings[], format: FindingFormat, shown: Shown): string {
  const found = checks.flatMap((check) => check.findings.map((finding) => locate(check, finding, shown.cwd)));
  if (format === 'sarif') return `${JSON.stringify(toSarif(found, shown), null, 2)}\n`;
  return found.map((one) => `${format === 'github' ? toAnnotation(one) : toLine(one)}\n`).join('');
}

export function withFormat(command: Command): Command {
  const inFormat = 'print the findings with file and line, in a format for other programs';
  return command.addOption(command.createOption('--format <name>', inFormat).choices(['lines', 'github', 'sarif']));
}

// --- internal ---

interface LocatedFinding extends FormattedFinding {
  readonly file: string;
  readonly line: number;
}

function locate(check: PathFindings, finding: FormattedFinding, cwd: string): LocatedFinding {
  const checked = check.file && finding.path ? join(dirname(check.file), finding.path) : check.file;
  const file = finding.file ?? checked;
  const near = file === undefined ? check.path : relative(cwd, file);
  return { ...finding, file: near.startsWith('..') ? (file ?? check.path) : near, line: finding.line ?? 1 };
}

function toLine({ file, line, severity, message, code }: LocatedFinding): string {
  return printable(`${showName(file)}:${line}: ${severity}: ${message}${code ? ` [${code}]` : ''}`);
}

/** https://docs.github.com/actions: escapes `%` and line ends, in properties also `:` and `,`. */
function toAnnotation({ file, line, severity, message, code }: LocatedFinding): string {
  const text = (value: string): string => printable(value).replaceAll('%', '%25').replaceAll('\n', '%0A');
  const property = (value: string): string => text(value).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${severity === 'note' ? 'notice' : severity} file=${property(file)},line=${line},title=${property(code ?? 'skill')}::${text(message)}`;
}

/** Describes each broken rule: an inspection rule, a field of a profile, or an error code. */
function toSarif(found: readonly LocatedFinding[], { rules, version, helpUri }: Shown): object {
  const ids = [...new Set(found.map(ruleOf))];
  const described = new Map(rules.map((rule) => [rule.id, rule]));
  const rulesFound = ids.map((id) => describe(id, described.get(id) ?? ofCodeOrField(id), helpUri?.(id)));
  const seen = new Map<string, number>();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'skill-registry', version, semanticVersion: version, rules: rulesFound } },
        results: found.map((one) => {
          const { file } = one;
          const uri = isAbsolute(file) ? pathToFileURL(file).href : file.split('/').map(encodeURIComponent).join('/');
          return {
            ruleId: ruleOf(one),
            ruleIndex: ids.indexOf(ruleOf(one)),
            level: one.severity,
            message: { text: one.message },
            locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine: one.line } } }],
            partialFingerprints: { 'skillRegistry/v1': fingerprint(one, uri, seen) },
          };
        }),
      },
    ],
  };
}

function describe(id: string, { message, why, mend }: Omit<DescribedRule, 'id'>, helpUri?: string): object {
  const fullDescription = why === undefined ? undefined : { text: why };
  return { id, shortDescription: { text: message }, fullDescription, help: { text: mend }, helpUri };
}

function ruleOf({ code, rule }: LocatedFinding): string {
  return code ?? rule ?? '';
}

/** Stays the same when lines above the finding change. A count separates equal findings in a file. */
function fingerprint(one: LocatedFinding, uri: string, seen: Map<string, number>): string {
  const subject = JSON.stringify([ruleOf(one), uri, one.message.replace(/\bline \d+/g, 'line')]);
  const count = (seen.get(subject) ?? 0) + 1;
  seen.set(subject, count);
  return createHash('sha256').update(`${subject}${count}`).digest('hex').slice(0, 32);
}

function ofCodeOrField(id: string): Omit<DescribedRule, 'id'> {
  const [profile = '', field] = id.split('/');
  if (field === undefined)
    return {
      message: `${id.charAt(0)}${id.slice(1).toLowerCase().replaceAll('_', ' ')}.`,
      mend: `The message of each result says what is there; docs/errors.md of skill-registry explains ${id}.`,
    };
  const message = `What the profile ${profile} wants of ${field}.`;
  return { message, mend: 'The message of each result says what is expected and what is there.' };
}
