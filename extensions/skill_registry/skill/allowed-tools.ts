/**
 * The tools a skill asks to be allowed, one entry each, as written: `Bash(git add *)`.
 *
 * A text is split at white space and commas, but never inside parentheses; a list is taken entry by entry.
 *
 * @returns undefined when the value is neither text nor a list of texts.
 */
export function parseAllowedTools(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return splitOutsideParentheses(value);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    return value.flatMap((item) => splitOutsideParentheses(item));
  }
  return undefined;
}

// --- internal ---

function splitOutsideParentheses(text: string): readonly string[] {
  const tools: string[] = [];
  let depth = 0;
  let current = '';
  for (const char of text) {
    if (char === '(') depth++;
    else if (char === ')') depth = Math.max(0, depth - 1);
    if (depth === 0 && /[\s,]/.test(char)) {
      tools.push(current);
      current = '';
    } else current += char;
  }
  return [...tools, current].filter((tool) => tool !== '');
}
