import { yamlPackage } from 'skill-registry/kernel';

/** More levels than anybody writes by hand, and far fewer than a stack holds. */
export const MAX_DEPTH = 200;

/**
 * True when YAML nests deeper than `MAX_DEPTH`, in brackets or in blocks. To be asked before text of strangers is parsed: the
 * parser recurses until the stack is full, and when V8 has to compile a regular expression there, all of Node aborts.
 */
export function isTooDeep(yaml: string): boolean {
  // Each level takes one of these: most texts need no second look.
  if ((yaml.match(/[[{?:-]/g)?.length ?? 0) <= MAX_DEPTH) return false;
  const { Lexer, Parser } = yamlPackage();
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(yaml)) {
    for (const _token of parser.next(lexeme)) {
      // Only the stack is of interest.
    }
    if (parser.stack.length > MAX_DEPTH) return true;
  }
  return false;
}
