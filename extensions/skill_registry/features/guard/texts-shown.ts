import { foldLine } from '../../../../lib/text/index.ts';

/** Characters that are judged together, far below what is searched of one text. */
export const MOST_TOGETHER = 262_144;

/** Each text of a header once, on one line as it is shown, with its key. */
export function textsShown(header: object): readonly string[] {
  const lines: string[] = [];
  // YAML can name one value in many places.
  const seen = new Set<unknown>();
  const keys = new Set<string>();
  const left: (readonly [key: string, value: unknown])[] = [['skill', header]];
  for (const [key, value] of left) {
    const isOnlyKey = (typeof value === 'object' && value !== null) || seen.has(value);
    // A hostile key must not begin a line as a block of code does, which would reach into the lines below.
    const name = PLAIN_KEY.test(key) ? key : JSON.stringify(key);
    const line = keys.has(key) && isOnlyKey ? '' : foldLine(`${name}: ${isOnlyKey ? '' : value}`);
    // A sign that continues a command says nothing within a line.
    if (line !== '') lines.push(line.replace(/ \\(?= )/g, ''));
    keys.add(key);
    if (seen.has(value)) continue;
    seen.add(value);
    if (typeof value !== 'object' || value === null) continue;
    for (const [below, one] of Object.entries(value)) left.push([Array.isArray(value) ? 'item' : below, one]);
  }
  return lines;
}

/** Most names are some plain words, in which no rule can find anything. */
export function isOddName(name: string): boolean {
  return ODD.test(name) || (name.length >= SHORTEST_ENCODED && ENCODED.test(name));
}

// --- internal ---

const ODD = /[^\w./@~+-]/;
/** Characters of an encoded command. */
const SHORTEST_ENCODED = 24;
const ENCODED = /[A-Z]|[0-9a-f]{24}/;

const PLAIN_KEY = /^[A-Za-z_][\w-]{0,80}$/;
