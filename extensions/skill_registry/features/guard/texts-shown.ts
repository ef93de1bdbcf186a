import { foldLine } from '../../../../lib/text/index.ts';

/** Each text of a header once, on one line as it is shown, with its key. Undefined: more than 64 Ki characters. */
export function textsShown(header: object): readonly string[] | undefined {
  const lines: string[] = [];
  // YAML can name one value in many places.
  const seen = new Set<unknown>();
  const left: (readonly [key: string, value: unknown])[] = [['skill', header]];
  let characters = 0;
  for (const [key, value] of left) {
    const isOnlyKey = (typeof value === 'object' && value !== null) || seen.has(value);
    // A hostile key must not begin a line as a block of code does, which would reach into the lines below.
    const name = PLAIN_KEY.test(key) ? key : JSON.stringify(key);
    const line = seen.has(`key ${key}`) && isOnlyKey ? '' : foldLine(`${name}: ${isOnlyKey ? '' : value}`);
    // A sign that continues a command says nothing within a line.
    if (line !== '') lines.push(line.replace(/ \\(?= )/g, ''));
    characters += line.length;
    if (characters > MOST_SHOWN) return undefined;
    seen.add(`key ${key}`);
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

const MOST_SHOWN = 65_536;
const PLAIN_KEY = /^[A-Za-z_][\w-]{0,80}$/;
