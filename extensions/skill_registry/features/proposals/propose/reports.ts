import { join } from 'node:path';
import { CodedError, describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { yamlPackage } from '../../../../../kernel/host.ts';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { withFallback } from '../../../../../lib/errors/index.ts';
import {
  listContained,
  readContained,
  removeContained,
  renameContained,
  TEMPORARY,
  writeContained,
} from '../../../../../lib/files/index.ts';
import { hiddenCharacters, notation, shorten, showHidden, showTrailingBlank } from '../../../../../lib/text/index.ts';
import { parseMapping } from '../../../core/skill/yaml-fields.ts';
import type { SqliteDatabase } from '../../../core/store/open-database.ts';
import type { WriteStep } from '../../history/journal/writer.ts';
import type { Check } from '../checks/checks.ts';
import type { ProposalRow } from './proposal-store.ts';
import * as store from './proposal-store.ts';
import { MAX_REASON } from './propose.ts';
import type { Proposal, ProposalInput } from './types.ts';

/** Agents' words are quoted or fenced: they cannot begin a section. Hidden characters are written as `⟦U+202E⟧`. */
export function proposalReport(proposal: Proposal): string {
  const { kind, state, path, skillId, checks, recommendations, decision, conflict, evidence } = proposal;
  const said = recommendations.flatMap(({ by, at, verdict, reason }) => {
    return ['', `To ${verdict}, by ${inline(by)}, ${inline(at)}:`, '', ...quoted(reason)];
  });
  const parts: readonly (readonly string[])[] = [
    [`# ${TITLES[kind]} ${inline(path)} of ${inline(skillId)}`],
    ['## Diff', '', ...fenced('diff', proposal.diff)],
    ['## Justification', '', ...quoted(proposal.justification)],
    ['## Evidence', '', ...(evidence === null ? [NONE] : quoted(evidence))],
    ['## Checks', '', ...(checks.length === 0 ? [NONE] : checks.map(checkLine))],
    recommendations.length === 0 ? [] : ['## Recommendations', ...said],
    decision ? ['## Decision', '', ...decisionLines(state, decision)] : [],
    conflict === null ? [] : ['## Conflict', '', ...fenced('text', conflict)],
  ];
  const body = parts.filter((lines) => lines.length > 0).map((lines) => `${lines.join('\n')}\n`);
  return `---\n${fieldLines(proposal)}---\n\n${body.join('\n')}`;
}

/** `isOurs`: nobody has edited it. undefined without a file. @param dataDir - Real. */
export function presentReport(
  dataDir: string,
  row: ProposalRow,
): { readonly digest: string; readonly isOurs: boolean } | undefined {
  try {
    const digest = digestOf(readContained(dataDir, store.reportPath(row), MAX_BYTES, { own: true }));
    // Both digests are stored before writing: after a crash the file may be the new or the previous report.
    return { digest, isOurs: (row.file_digest ?? '').split(' ').includes(digest) };
  } catch (error) {
    return isCodedError(error, 'RESOURCE_TOO_LARGE') ? { digest: '', isOurs: false } : undefined;
  }
}

/** An edited report is renamed first. A report that cannot be written stays due. @param dataDir - Real. */
export function writeDueReports(
  database: SqliteDatabase,
  dataDir: string,
  at: string,
  onStep: ((step: WriteStep) => void) | undefined,
): readonly Problem[] {
  const problems: Problem[] = [];
  try {
    for (const row of store.rowsWhere(database, 'file_due = 1 ORDER BY seq')) {
      try {
        writeReport(database, dataDir, row, onStep, at);
      } catch (error) {
        const message = `The report of the proposal ${row.id} cannot be written: ${describeError(error).replace(/\.$/, '')}. If there is a folder or a link of that name, remove it. The report is written with the next change of a skill or a proposal.`;
        const [file, details] = [join(dataDir, store.reportPath(row)), { proposal: row.id }];
        problems.push({ code: 'WRITE_FAILED', severity: 'warning', file, message, details });
      }
    }
    const edited = "id IN (SELECT proposal FROM proposal_event WHERE kind = 'file-edited')";
    for (const row of store.rowsWhere(database, edited)) {
      const problem = store.editProblem(database, row, dataDir);
      if (problem) problems.push(problem);
    }
  } catch {
    // The rows cannot be read; `list` and `get` throw the reason.
  }
  return problems;
}

/** Uses only the id and the difference; the rest is a claim, quoted as justification. @throws REPORT_INVALID. */
export function proposalInReport(report: string): ProposalInput {
  const text = report.replaceAll('\r\n', '\n');
  const [hidden] = hiddenCharacters(text);
  if (hidden) throw invalid('it has a character that nobody sees, which a report writes as ⟦U+...⟧');
  const [, yaml = '', fence = '', shown = '', reasons = ''] = REPORT.exec(text) ?? [];
  if (fence === '')
    throw invalid('after the fields, the title and the sections Diff, Justification and Evidence are expected');
  const skillId = skillIn(yaml);
  const diff = `${shown.split('\n').map(withBlank).join('\n')}\n`;
  if (diff.includes('⟦U+'))
    throw invalid('its difference has ⟦U+...⟧ for characters that nobody sees, and these cannot be read back');
  const { path, isNew } = fileIn(diff);
  const kind = isNew && path === 'SKILL.md' ? 'create' : 'update';
  const justification = shorten(`The file says:\n\n${reasons.trimEnd()}`, MAX_REASON - 1);
  return { skillId, kind, path, diff, justification, author: FROM_FILE };
}

// --- internal ---

const MAX_BYTES = 16 * 1024 * 1024;

function writeReport(
  database: SqliteDatabase,
  dataDir: string,
  row: ProposalRow,
  onStep: ((step: WriteStep) => void) | undefined,
  at: string,
): void {
  const text = proposalReport(store.proposalOf(database, row, dataDir));
  const [present, digest] = [presentReport(dataDir, row), digestOf(text)];
  const expected = { ...row, file_digest: present?.isOurs ? `${present.digest} ${digest}` : digest };
  store.noteReport(database, row.id, { digests: expected.file_digest, due: true });
  const temporary = `${TEMPORARY}${row.id}`;
  // A crash may have left one.
  withFallback(() => removeContained(dataDir, `proposals/${temporary}`, { own: true }));
  const onTemporary = (): void => {
    onStep?.('file-temporary');
    // As late as possible: an editor may save at any moment.
    if (presentReport(dataDir, expected)?.isOurs === false) keepEdited(database, dataDir, row, at);
  };
  writeContained(dataDir, store.reportPath(row), text, { own: true, temporary, onTemporary });
  onStep?.('file-written');
  store.noteReport(database, row.id, { digests: digest, due: false });
  onStep?.('file-noted');
}

function keepEdited(database: SqliteDatabase, dataDir: string, row: ProposalRow, at: string): void {
  const taken = new Set(listContained(dataDir, 'proposals', { own: true }).map(({ name }) => name));
  let name = `${row.id}.edited.md`;
  for (let n = 2; taken.has(name); n++) name = `${row.id}.edited-${n}.md`;
  // Stored first, so that the name is known after a crash.
  store.addEvent(database, row.id, 'file-edited', { by: 'unknown', at }, { file: name });
  renameContained(dataDir, store.reportPath(row), name, { own: true });
}

const TITLES: Readonly<Record<Proposal['kind'], string>> = { update: 'Update', create: 'Create', delete: 'Delete' };
/** Not quoted, so an author's words look different. */
const NONE = '(none)';
/** An empty context line of a diff is one space. */
const EMPTY_CONTEXT = ' ';
/** HTML and images: markup must not look like a section, and a preview must not fetch anything. */
const MARKUP = /<(?=[A-Za-z/!?])|!(?=\[)/g;

/** One line for each field: no value can begin a line of the file. */
function fieldLines(proposal: Proposal): string {
  const { id, state, kind, skillId: skill, source, path, base, author, model, created, decision } = proposal;
  const decided = decision ? { decided_by: decision.by, decided_at: decision.at } : {};
  const fields = {
    id,
    state,
    kind,
    skill,
    source,
    path,
    base,
    author,
    ...(model !== null && { model }),
    created,
    ...decided,
  };
  const inOneLine = (_name: string, value: unknown) =>
    typeof value === 'string' ? showTrailingBlank(showHidden(value).replace(/[\n\t]/g, notation)) : value;
  return yamlPackage().stringify(fields, inOneLine, { lineWidth: 0 });
}

function fenced(language: string, text: string): readonly string[] {
  const shown = text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => (line === EMPTY_CONTEXT ? line : showTrailingBlank(showHidden(line))));
  let longest = 2;
  for (const [run] of shown.join('\n').matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return [`${fence}${language}`, ...shown, fence];
}

/** Quoted words cannot begin a line, and a preview shows their markup as text. */
function quoted(text: string): readonly string[] {
  return text
    .replace(/\r\n/g, '\n')
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${showTrailingBlank(showHidden(line).replace(MARKUP, notation))}`));
}

function checkLine({ kind, level, text, line }: Check): string {
  const where = line === undefined ? '' : ` (line ${line})`;
  return `- ${level === 'info' ? '' : `**${level}** `}${kind}${where}: ${inline(text)}`;
}

function decisionLines(
  state: Proposal['state'],
  { by, at, reason }: NonNullable<Proposal['decision']>,
): readonly string[] {
  const decided = `${state === 'approved' ? 'Approved' : 'Rejected'} by ${inline(by)}, ${inline(at)}`;
  return reason === null ? [`${decided}.`] : [`${decided}:`, '', ...quoted(reason)];
}

function inline(text: string): string {
  return showHidden(text)
    .replace(/[\n\t]/g, notation)
    .replace(MARKUP, notation);
}

/** A file does not prove who wrote it. */
const FROM_FILE = 'unknown, from a file';

/** Fields, title, difference, quoted justification. A fence is longer than any in the difference. */
const REPORT =
  /^---\n((?:[a-z_]+: .*\n){1,20})---\n\n# .+\n\n## Diff\n\n(`{3,})diff\n((?:(?!\2\n).*\n)+?)\2\n\n## Justification\n\n((?:>.*\n)+)\n## Evidence\n/;
const HEADER =
  /^(?:byte order mark (?:added|removed)\n)?(?:added lines end with (?:LF|CRLF|CR)\n)?--- (.+)\n\+\+\+ (.+)\n@@ -/;

function skillIn(yaml: string): string {
  const fields = parseMapping(yaml);
  const skill = 'data' in fields ? fields.data.skill : undefined;
  if (typeof skill !== 'string' || skill === '') throw invalid('its fields name no skill');
  return skill;
}

function fileIn(diff: string): { readonly path: string; readonly isNew: boolean } {
  const [, from = '', to = ''] = HEADER.exec(diff) ?? [];
  if (to === '/dev/null') throw invalid('its difference removes a file, which a person does by hand');
  const path = /^b\/(.+)$/.exec(to)?.[1];
  const isNew = from === '/dev/null';
  if (path === undefined || !(isNew || from === `a/${path}`))
    throw invalid('its difference names no file in its header');
  return { path, isNew };
}

/** A report writes a blank at the end of a line as `⟦U+0020⟧`. */
function withBlank(line: string): string {
  const [notation = '', code = ''] = /⟦U\+([0-9A-F]{4})⟧$/.exec(line) ?? [];
  const char = String.fromCharCode(Number.parseInt(code, 16));
  return notation !== '' && /[\t\p{Zs}]/u.test(char) ? line.slice(0, -notation.length) + char : line;
}

function invalid(what: string): CodedError<'REPORT_INVALID'> {
  const message = `This is no report of a proposal as the registry writes it: ${what}. Give the file data/skill_registry/proposals/<id>.md unchanged, or make the change anew.`;
  return new CodedError('REPORT_INVALID', message);
}
