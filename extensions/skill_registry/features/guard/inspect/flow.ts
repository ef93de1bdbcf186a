import { countWhile } from './lines.ts';
import type { ClassifiedFile, Match } from './rule.ts';

/**
 * The first match from which a value can flow to one of each other list: at most 60 lines lie between them, they are in
 * one function, or a name that gets the value stands in the arguments of the other. Linear time; each step is a break.
 */
export function* firstThatFlows(
  { path, text }: ClassifiedFile,
  heads: readonly Match[],
  others: readonly (readonly Match[])[],
): Generator<undefined, Match | undefined> {
  const lists = others.map((list) => list.map(({ line = 1 }) => line).sort((a, b) => a - b));
  const most = DATA.test(path) ? 0 : NEAR;
  const isNear = (line: number, list: readonly number[]): boolean =>
    (list[countWhile(list, (at) => at < line - most)] ?? Number.POSITIVE_INFINITY) <= line + most;
  const near = heads.find(({ line = 1 }) => lists.every((list) => isNear(line, list)));
  if (near || most === 0) return near;
  const lines = text.split(/\r\n|\n|\r/).map((line) => line.slice(0, MAX_LINE));
  const functions = functionsOf(lines);
  const reached = lists.map(() => new Set<string | undefined>());
  for (const [index, places] of reached.entries()) {
    for (const at of new Set(lists[index]?.slice(0, MAX_COMPARED))) {
      yield undefined;
      places.add(functions[at - 1]);
      for (const name of namesSentAt(lines, at)) places.add(name);
    }
  }
  return heads.slice(0, MAX_COMPARED).find(({ line = 1 }) => {
    const own = functions[line - 1];
    const ways =
      own === undefined ? namesIn(lines[line - 1] ?? '') : [own, nameOf(own), ...namesIn(lines[line - 1] ?? '')];
    return reached.every((places) => ways.some((way) => places.has(way)));
  });
}

// --- internal ---

const NEAR = 60;
/** Reports and lists: a command in them stands in one line. */
const DATA = /(?<!package)\.(?:jsonl?|csv|tsv|xml|sarif)$/i;
const MAX_COMPARED = 1000;
const MAX_LINE = 2000;
const MAX_ARGUMENT_LINES = 20;

/** With a name: what only wraps a whole file has none. */
const FUNCTION =
  /^\s*(?:(?:export|default|async|public|private|protected|static|local|const|let|var)\s+){0,4}(?:(?:def|function|func|fn|sub)\*?\s+([\w$]+)|([\w$-]+)\s*(?:=\s*(?:async\s*)?(?:function\b|\([^()]{0,200}\)\s*=>|\w+\s*=>)|\([^()]{0,200}\)\s*\{))/;

/** By indentation, the outermost function around each line, as its first line and its name. */
function functionsOf(lines: readonly string[]): readonly (string | undefined)[] {
  let outer: string | undefined;
  let outerIndent = 0;
  return lines.map((text, line) => {
    const indent = text.search(/[^\s)\]}]/);
    if (indent === -1 || (outer !== undefined && indent > outerIndent)) return outer;
    const [isFunction, named, assigned] = FUNCTION.exec(text) ?? [];
    outer = isFunction === undefined ? undefined : `${line} ${named ?? assigned}`;
    outerIndent = indent;
    return outer;
  });
}

function nameOf(outer: string): string {
  return outer.slice(outer.indexOf(' ') + 1);
}

/** Names to which a line gives a value. */
export function namesIn(line: string): readonly string[] {
  return [
    ...line.matchAll(/(?<![\w$])([a-z_$][\w$]*)\s*(?::\s*\w+\s*)?:?=(?![=>])|\b(?:as|for|read)\s+([a-z_$][\w$]*)/gi),
  ].map(([, assigned, named]) => assigned ?? named ?? '');
}

/** A key that opens a service is no content that is sent to it. */
const OPENS = /(?:authorization|api[-_]?key)["']?\W{0,12}(?:(?:bearer|basic|token)\b\W{0,12})?[\w$.]+/gi;

/** In the arguments that begin in a line. */
function namesSentAt(lines: readonly string[], from: number): readonly string[] {
  let [depth, at] = [0, from - 1];
  do {
    const line = lines[at] ?? '';
    depth += line.split(/[([{]/).length - line.split(/[)\]}]/).length;
    at += 1;
  } while ((depth > 0 || lines[at - 1]?.endsWith('\\')) && at < from + MAX_ARGUMENT_LINES);
  return (
    lines
      .slice(from - 1, at)
      .join('\n')
      .replace(OPENS, ' ')
      .match(/[a-z_$][\w$]*/gi) ?? []
  );
}
