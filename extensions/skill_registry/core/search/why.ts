import { foldLine } from '../../../../lib/text/index.ts';
import { termsOf } from '../../../../lib/text-index/index.ts';
import type { Skill } from '../skill/skill.ts';
import { normalizedName } from './names.ts';
import type { SearchReason } from './types.ts';

const WINDOW = 22;
const MAX_CHARS = 160;
/** Characters of a body that are searched. */
const MAX_BODY = 65_536;

/** The field with most terms of the query, and one line of it. `body` is called only when no field has every term. */
export function reasonFor(
  skill: Skill,
  query: string,
  terms: ReadonlySet<string>,
  body: (skill: Skill) => string | undefined,
): SearchReason {
  const named = nameReason(skill, normalizedName(query));
  if (named) return named;
  const fields: readonly (readonly [SearchReason['field'], string])[] = [
    ['id', skill.id],
    ['name', skill.name],
    ['tags', skill.tags.join(', ')],
    ['trigger_keywords', skill.triggerKeywords.join(', ')],
    ['description', skill.description],
  ];
  let best = { field: 'description' as SearchReason['field'], found: 0, text: skill.description };
  for (const [field, text] of fields) {
    const found = countIn(text, terms);
    if (found > best.found) best = { field, found, text };
  }
  if (best.found < terms.size) {
    const line = bestLine(body(skill)?.slice(0, MAX_BODY) ?? '', terms);
    if (line.found > best.found) best = { field: 'body', ...line };
  }
  return { field: best.field, snippet: snippetOf(best.text, terms) };
}

export function meaningReason({ description }: Skill): SearchReason {
  return { field: 'semantic', snippet: cut(description) };
}

// --- internal ---

function nameReason({ id, name, qualifiedId, triggerKeywords }: Skill, query: string): SearchReason | undefined {
  if (query === '') return undefined;
  if (normalizedName(id).startsWith(query)) return { field: 'id', snippet: cut(id) };
  if (normalizedName(name).startsWith(query)) return { field: 'name', snippet: cut(name) };
  if (normalizedName(qualifiedId) === query) return { field: 'id', snippet: cut(id) };
  const keyword = triggerKeywords.find((one) => normalizedName(one) === query);
  return keyword === undefined ? undefined : { field: 'trigger_keywords', snippet: cut(keyword) };
}

function countIn(text: string, terms: ReadonlySet<string>): number {
  return new Set(termsOf(text).filter((term) => terms.has(term))).size;
}

function bestLine(body: string, terms: ReadonlySet<string>): { readonly found: number; readonly text: string } {
  let best = { found: 0, text: '' };
  for (const line of body.split('\n')) {
    const text = line.slice(0, 2000);
    const found = countIn(text, terms);
    if (found > best.found) best = { found, text };
    if (found === terms.size) break;
  }
  return best;
}

function snippetOf(text: string, terms: ReadonlySet<string>): string {
  const words = foldLine(text)
    .replace(/^[#>*\-\s|]+/, '')
    .split(' ');
  const hits = words.map((word) => termsOf(word).some((term) => terms.has(term)));
  let [from, most] = [0, -1];
  for (let start = 0; start < Math.max(1, words.length - WINDOW + 1); start++) {
    const found = hits.slice(start, start + WINDOW).filter(Boolean).length;
    if (found > most) [from, most] = [start, found];
  }
  const window = words.slice(from, from + WINDOW).join(' ');
  const after = from + WINDOW < words.length ? '…' : '';
  return cut(`${from > 0 ? '…' : ''}${window}${after}`);
}

function cut(text: string): string {
  const line = foldLine(text);
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS - 1).replace(/[\ud800-\udbff]$/, '')}…` : line;
}
