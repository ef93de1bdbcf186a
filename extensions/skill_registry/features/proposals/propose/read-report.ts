import { CodedError } from 'skill-registry/kernel';
import { hiddenCharacters, shorten } from '../../../../../lib/text/index.ts';
import { parseMapping } from '../../../core/skill/yaml-fields.ts';
import { MAX_REASON } from './propose.ts';
import type { ProposalInput } from './types.ts';

/** A file does not prove who wrote it. */
const AUTHOR = 'unknown, from a file';

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
  return { skillId, kind, path, diff, justification, author: AUTHOR };
}

// --- internal ---

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
