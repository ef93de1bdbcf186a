import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { inspectionRules } from 'skill-registry';
import type { SkillFinding } from '../extensions/skill_registry/host.ts';
import { packageRoot } from '../kernel/host.ts';
import { printable, showName } from '../lib/text/index.ts';

export interface FormattedFinding extends Omit<SkillFinding, 'severity'> {
  readonly severity: SkillFinding['severity'] | 'note';
}

interface PathFindings {
  readonly path: string;
  /** The file of findings without a path. */
  readonly file?: string | undefined;
  readonly findings: readonly FormattedFinding[];
}

export type FindingFormat = 'lines' | 'github' | 'sarif';

type Rules = Awaited<ReturnType<typeof inspectionRules>>;

/**
 * `lines` is `file:line: severity: message` for editors; `github` gives workflow annotations; `sarif` is SARIF 2.1.0.
 * @param cwd - Shows paths below it relative to it. @param rules - Inspection rules, described in SARIF.
 */
export function formatFindings(
  checks: readonly PathFindings[],
  format: FindingFormat,
  cwd: string,
  rules: Rules = [],
): string {
  const found = checks.flatMap((check) => check.findings.map((finding) => locate(check, finding, cwd)));
  if (format === 'sarif') return `${JSON.stringify(toSarif(found, rules), null, 2)}\n`;
  return found.map((one) => `${format === 'github' ? toAnnotation(one) : toLine(one)}\n`).join('');
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
function toSarif(found: readonly LocatedFinding[], rules: Rules): object {
  const ids = [...new Set(found.map(ruleOf))];
  const described = new Map(rules.map((rule) => [rule.id, rule]));
  const rulesFound = ids.map((id) => describe(id, described.get(id) ?? ofCodeOrField(id)));
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };
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

interface Described {
  readonly message: string;
  readonly why?: string;
  readonly mend: string;
}

function describe(id: string, { message, why, mend }: Described): object {
  const helpUri = id.startsWith('agentskills/') ? 'https://agentskills.io/specification' : undefined;
  const fullDescription = why === undefined ? undefined : { text: why };
  return { id, shortDescription: { text: message }, fullDescription, help: { text: mend }, helpUri };
}

function ruleOf({ code, rule }: LocatedFinding): string {
  return code ?? rule ?? 'agentskills/skill';
}

/** Stays the same when lines above the finding change. A count separates equal findings in a file. */
function fingerprint(one: LocatedFinding, uri: string, seen: Map<string, number>): string {
  const subject = JSON.stringify([ruleOf(one), uri, one.message.replace(/\bline \d+/g, 'line')]);
  const count = (seen.get(subject) ?? 0) + 1;
  seen.set(subject, count);
  return createHash('sha256').update(`${subject}${count}`).digest('hex').slice(0, 32);
}

const STANDARD: Readonly<Record<string, Described>> = {
  skill: {
    message: 'A skill is a folder with a SKILL.md that can be read.',
    mend: 'Correct the path, or write a SKILL.md as UTF-8 text in the folder.',
  },
  frontmatter: {
    message: 'SKILL.md begins with YAML between two lines of ---, with the fields of the standard and no others.',
    mend: 'Correct the YAML; move what is no field of the standard into metadata.',
  },
  name: {
    message: 'The name has 1 to 64 lowercase letters, digits and single hyphens, and is that of the folder.',
    mend: 'Write name, and call the folder so.',
  },
  description: {
    message: 'The description has 1 to 1,024 characters.',
    mend: 'Say what the skill does and when to use it; move detail into the text.',
  },
  compatibility: {
    message: 'The compatibility, if there is one, is a text of at most 500 characters.',
    mend: 'Write one text, or take the field out.',
  },
  'allowed-tools': {
    message: 'The allowed tools, if they are given, are one text with blanks between them.',
    mend: 'Write them in one line: Read Bash(git add *).',
  },
};

function ofCodeOrField(id: string): Described {
  const [profile = '', field] = id.split('/');
  if (field === undefined)
    return {
      message: `${id.charAt(0)}${id.slice(1).toLowerCase().replaceAll('_', ' ')}.`,
      mend: `The message of each result says what is there; docs/errors.md of skill-registry explains ${id}.`,
    };
  const standard = profile === 'agentskills' ? STANDARD[field] : undefined;
  const message = `What the profile ${profile} wants of ${field}.`;
  return standard ?? { message, mend: 'The message of each result says what is expected and what is there.' };
}
