/** Characters that are read. */
export const MAX_FRONTMATTER: number = 64 * 1024;

/** Offsets count UTF-16 units of the text as given. */
export interface SplitSkill {
  /** The lines between the fences, with their ends; undefined without frontmatter. */
  readonly yaml?: string;
  /** 1-based line of the first line of `yaml`. */
  readonly yamlLine: number;
  readonly bodyOffset: number;
  /** How it differs from the format, though it can be read. */
  readonly oddity?: 'leading-blank' | 'unclosed';
}

const OPENING = /---[ \t]*(?:\r\n|\n|\r|$)/y;
const CLOSING = /(?<=[\n\r])---[ \t]*(?:\r\n|\n|\r|$)/g;
const YAML_LIKE = /(?:[A-Za-z_][\w-]*:(?=\s|$)|[^\S\r\n]+\S|-[^\S\r\n])[^\r\n]*(?:\r\n|\n|\r|$)/y;

/**
 * Finds the frontmatter between lines of `---`, optionally with blanks behind, the first at the start of the file
 * (after a byte order mark). Lines end with LF, CRLF or CR. Blank lines before it are accepted. Without a closing line
 * it ends before the first line that does not look like YAML, so that its fields are not lost. `oddity` names both.
 */
export function splitFrontmatter(text: string): SplitSkill {
  const start = text.startsWith('\ufeff') ? 1 : 0;
  const fence = start + text.slice(start).search(/\S/);
  const blanks = text
    .slice(start, Math.max(start, fence))
    .replace(/\r\n/g, '\n')
    .replace(/[^\r\n]+/g, '').length;
  const isAtLineStart = fence === start || /[\r\n]/.test(text[fence - 1] ?? '');
  OPENING.lastIndex = fence;
  if (!isAtLineStart || !OPENING.test(text)) return { yamlLine: 1, bodyOffset: start };
  const yamlStart = OPENING.lastIndex;
  const yamlLine = blanks + 2;
  const odd = blanks > 0 ? ({ oddity: 'leading-blank' } as const) : {};
  CLOSING.lastIndex = yamlStart;
  const closing = CLOSING.exec(text);
  if (closing) {
    return { yaml: text.slice(yamlStart, closing.index), yamlLine, bodyOffset: CLOSING.lastIndex, ...odd };
  }
  const bodyOffset = endOfYamlLike(text, yamlStart);
  return { yaml: text.slice(yamlStart, bodyOffset), yamlLine, bodyOffset, oddity: 'unclosed' };
}

/** Without the frontmatter, and without white space at both ends. */
export function bodyOf(text: string): string {
  return text.slice(splitFrontmatter(text).bodyOffset).trim();
}

// --- internal ---

function endOfYamlLike(text: string, from: number): number {
  let end = from;
  YAML_LIKE.lastIndex = from;
  while (YAML_LIKE.test(text)) end = YAML_LIKE.lastIndex;
  return end;
}
