/** More are one: a document has so many sections at most. */
const MAX_SECTIONS = 1000;
const HEADING = /^ {0,3}#{1,6}\s/;
const FENCE = /^\s*(?:```|~~~)/;

/** The parts of a Markdown body, each with its heading; a `#` in a code block is no heading. None for an empty body. */
export function sectionsOf(body: string): readonly string[] {
  const sections: string[] = [];
  let [start, at, fenced] = [0, 0, false];
  const cut = (end: number): void => {
    if (body.slice(start, end).trim() !== '') sections.push(body.slice(start, end));
    start = end;
  };
  while (at < body.length) {
    const end = body.indexOf('\n', at);
    const next = end === -1 ? body.length : end + 1;
    const line = body.slice(at, Math.min(next, at + 20));
    if (FENCE.test(line)) fenced = !fenced;
    else if (!fenced && HEADING.test(line) && sections.length < MAX_SECTIONS - 1) cut(at);
    at = next;
  }
  cut(body.length);
  return sections;
}
