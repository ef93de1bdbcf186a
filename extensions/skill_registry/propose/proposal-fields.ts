import { stringify } from 'yaml';
import { notation, oneLine, showEnd, showHidden } from '../../../lib/text/index.ts';
import { parseMapping } from '../skill/yaml-fields.ts';

/** The frontmatter of a proposal: what is known of it beside its sections, in the order it is written. */
export type ProposalFields = Readonly<Record<string, string | null>>;

/** The lines between the fences, each with its line feed. */
export function writeFields(fields: ProposalFields): string {
  return stringify(shownFields(fields), { lineWidth: 0 });
}

/** Why these lines are not the fields as they were written; undefined when they are. Quotes and order are free. */
export function changedField(yaml: string, known: ProposalFields): string | undefined {
  const parsed = parseMapping(yaml);
  if (!('data' in parsed)) {
    const reason = oneLine(parsed.message, 200);
    return `The frontmatter is no longer valid YAML (${reason}, line ${parsed.line + 1} of the file). Put it back as it was: only the sections Diff, Justification and Evidence are yours to edit.`;
  }
  const { data } = parsed;
  const expected = shownFields(known);
  for (const [key, value] of Object.entries(expected)) {
    const given = Object.hasOwn(data, key) ? data[key] : undefined;
    if (given === undefined)
      return `The field "${key}" is gone from the frontmatter. Put it back: ${key}: ${say(value)}`;
    if (!isSame(given, value)) {
      return `The field "${key}" of the frontmatter says ${say(given)}, expected ${say(value)}. Put it back: ${remedyOf(key)}.`;
    }
  }
  const added = Object.keys(data).find((key) => !Object.hasOwn(expected, key));
  if (added === undefined) return undefined;
  return `The frontmatter has a field that was not there, ${say(added)}. Remove it: ${remedyOf(added)}.`;
}

// --- internal ---

const DECIDED = new Set(['state', 'decided_by', 'decided_at']);

function remedyOf(key: string): string {
  return DECIDED.has(key)
    ? 'a proposal is decided by `skill-registry proposals approve` or `reject`, not by editing its file'
    : 'only the sections Diff, Justification and Evidence can be edited';
}

/** One line each, so that nothing in a value begins a line of the file. */
function shownFields(fields: ProposalFields): ProposalFields {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      value === null ? null : showEnd(showHidden(value).replace(/[\n\t]/g, notation)),
    ]),
  );
}

/** Quotes are free: `12` is text to whoever wrote it. */
function isSame(given: unknown, value: string | null): boolean {
  return given === value || (given !== null && typeof given !== 'object' && String(given) === value);
}

function say(value: unknown): string {
  return typeof value === 'string' ? `"${oneLine(value, 200)}"` : oneLine(JSON.stringify(value) ?? String(value), 200);
}
