/** The parts of a SKILL.md. Offsets count UTF-16 units of the text as given. */
export interface SplitSkill {
  /** The lines between the fences, with their line ends; absent when there is no frontmatter. */
  readonly yaml?: string;
  /** 1-based line of the first line of `yaml`. */
  readonly yamlLine: number;
  readonly bodyOffset: number;
  /** How it differs from the format, though it can be read. */
  readonly oddity?: 'leading-blank' | 'unclosed';
}

const FENCE = /^---[ \t]*$/;

/**
 * Finds the frontmatter by its fences: lines that begin with `---` and have only blanks after it. The first one is at the start
 * of the file, after an optional byte order mark. Lines end with LF, CRLF or CR.
 *
 * Frontmatter without a closing fence ends before the first line that does not look like YAML, so that its fields are not lost.
 * Blank lines before the opening fence are accepted. `oddity` names both.
 */
export function splitFrontmatter(text: string): SplitSkill {
  const start = text.startsWith('\ufeff') ? 1 : 0;
  const lines = lineReader(text, start);
  let line = lines.next();
  let blanks = 0;
  while (line && line.text.trim() === '') {
    blanks++;
    line = lines.next();
  }
  if (!line || !FENCE.test(line.text)) return { yamlLine: 1, bodyOffset: start };
  const yamlStart = line.end;
  const yamlLine = blanks + 2;
  const odd = blanks > 0 ? ({ oddity: 'leading-blank' } as const) : {};
  let looksLikeYaml = yamlStart;
  let isGuess = true;
  for (line = lines.next(); line; line = lines.next()) {
    if (FENCE.test(line.text)) {
      return { yaml: text.slice(yamlStart, line.start), yamlLine, bodyOffset: line.end, ...odd };
    }
    if (isGuess && isYamlLike(line.text)) looksLikeYaml = line.end;
    else isGuess = false;
  }
  return { yaml: text.slice(yamlStart, looksLikeYaml), yamlLine, bodyOffset: looksLikeYaml, oddity: 'unclosed' };
}

/** SKILL.md without its frontmatter, white space at both ends removed. */
export function bodyOf(text: string): string {
  return text.slice(splitFrontmatter(text).bodyOffset).trim();
}

// --- internal ---

interface Line {
  readonly text: string;
  readonly start: number;
  /** After the line end. */
  readonly end: number;
}

function lineReader(text: string, from: number): { next(): Line | undefined } {
  let start = from;
  /** The next position of each line end, at `start` or after it. */
  let lf = -1;
  let cr = -1;
  return {
    next() {
      if (start >= text.length) return undefined;
      if (lf < start) lf = positionOf('\n', text, start);
      if (cr < start) cr = positionOf('\r', text, start);
      const at = Math.min(lf, cr);
      const end = Math.min(text.length, at + (lf === cr + 1 ? 2 : 1));
      const line = { text: text.slice(start, at), start, end };
      start = end;
      return line;
    },
  };
}

function positionOf(char: string, text: string, from: number): number {
  const at = text.indexOf(char, from);
  return at === -1 ? text.length : at;
}

function isYamlLike(line: string): boolean {
  return /^[A-Za-z_][\w-]*:(\s|$)/.test(line) || /^\s+\S/.test(line) || /^-\s/.test(line);
}
