import type { Problem } from 'skill-registry/kernel';
import type { FindKey, KeyPosition } from './key-finder.ts';
import { isRecord, UNREADABLE, type ValuePosition } from './readers.ts';

/** At most 20 problems per section, then the number of others. `refused` replaces `effect` if all is refused. */
export function collectProblems(
  file: string,
  path: readonly string[],
  effect: string,
  findKey: FindKey = () => undefined,
  refused?: string,
): { readonly at: ValuePosition; readonly problems: () => readonly Problem[] } {
  const found: Problem[] = [];
  const counts = new Map<string, number>();
  const add = (key: string, message: string, position?: KeyPosition): void => {
    found.push({ code: 'CONFIG_KEY_INVALID', severity: 'error', file, ...position, message, details: { key } });
  };
  const report: ValuePosition['report'] = (at, value, expected, hint = () => '', shownAs) => {
    const section = at.path.length > 1 ? (at.path[0] ?? '') : '';
    const count = (counts.get(section) ?? 0) + 1;
    counts.set(section, count);
    if (count > MAX_LISTED) return;
    const key = at.path.join('.');
    const what = `${key === '' ? 'The config' : `Config "${key}"`} is ${shownAs ?? shown(value)}: ${expected}; ${refused ?? at.effect}.`;
    add(
      key,
      `${what}${hint()} Correct it; docs/configuration.md of the package lists the keys.`,
      findKey(at.path, value),
    );
  };
  const problems = (): readonly Problem[] => {
    for (const [section, count] of counts) {
      if (count <= MAX_LISTED) continue;
      const more = (count - MAX_LISTED).toLocaleString('en-US');
      const where = section === '' ? 'The config' : `Config "${section}"`;
      add(section, `${where} has ${more} more wrong values, which are not listed. Correct those that are.`);
    }
    return found;
  };
  return { at: { path, effect, report }, problems };
}

export function sourceAdvice(value: unknown): string {
  if (typeof value === 'string')
    return /^https?:/i.test(value)
      ? ' Write { wellKnown: <address> }, or { mcp: { url: <address> } } for an MCP server.'
      : ` Write { path: ${shown(value)} } for a folder.`;
  return isRecord(value) && 'skills' in value
    ? ' A source that is made with defineSource is given to addSource of the registry, not to its config.'
    : '';
}

// --- internal ---

const MAX_LISTED = 20;

/** The value without secrets: an address without user name and password. */
function shown(value: unknown): string {
  if (value === UNREADABLE) return 'a value that cannot be read';
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  const isOther = typeof value === 'object' && value !== null && !Array.isArray(value) && !isRecord(value);
  const json =
    value === undefined
      ? 'missing'
      : ((isOther ? undefined : safeJson(value)) ?? `a value of the type ${isOther ? kind : typeof value}`);
  const text = json.replace(/\/\/[^/@\s"]*@/g, '//…@');
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function safeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (key, one: unknown) => (key === 'mcp' ? '…' : one));
  } catch {
    return undefined;
  }
}
