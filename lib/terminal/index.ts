import type { Token, Tokens } from 'marked';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { createMarkdownReader } from '../markdown/index.ts';
import { formatTable, inColour, printable } from '../text/index.ts';

/**
 * Untrusted text cannot control the terminal: control characters are escaped first, and link targets are shown.
 * @param width - Columns. @returns undefined when parsing takes longer than a second, or the nesting is too deep.
 */
export async function renderMarkdown(markdown: string, width: number): Promise<string | undefined> {
  const reader = createMarkdownReader();
  const tokens = await reader.read(printable(markdown));
  reader.close();
  if (tokens === undefined || isDeep(tokens, DEEPEST)) return undefined;
  return blocks(tokens, Math.max(20, width)).join('\n\n');
}

// --- internal ---

/** Nested tokens; each quotation, list and emphasis is one or two. */
const DEEPEST = 60;

function isDeep(tokens: readonly Token[], most: number): boolean {
  return tokens.some((token) => {
    const within = token.type === 'list' ? (token as Tokens.List).items : 'tokens' in token ? token.tokens : undefined;
    return within !== undefined && (most === 0 || isDeep(within, most - 1));
  });
}

function blocks(tokens: readonly Token[], width: number): readonly string[] {
  return tokens.flatMap((token) => block(token, width) ?? []);
}

function block(token: Token, width: number): string | undefined {
  switch (token.type) {
    case 'space':
    case 'def':
      return undefined;
    case 'heading': {
      const text = inline(token.tokens ?? []);
      return wrap(inColour(token.depth === 1 ? 'title' : 'heading', text), width);
    }
    case 'code':
      return indent(inColour('code', printable(token.text)), '    ');
    case 'blockquote':
      return indent(blocks(token.tokens ?? [], width - 2).join('\n\n'), inColour('quiet', '│ '));
    case 'list':
      return list(token as Tokens.List, width);
    case 'table':
      return table(token as Tokens.Table, width);
    case 'hr':
      return inColour('quiet', '─'.repeat(width));
    default:
      return wrap('tokens' in token && token.tokens ? inline(token.tokens) : printable(token.raw.trimEnd()), width);
  }
}

function list({ items, ordered, start, loose }: Tokens.List, width: number): string {
  const rendered = items.map((item, index) => {
    const mark = ordered ? `${Number(start || 1) + index}. ` : '• ';
    const box = item.task ? (item.checked ? '[x] ' : '[ ] ') : '';
    const space = ' '.repeat(mark.length);
    const text = blocks(item.tokens, width - mark.length).join(loose ? '\n\n' : '\n');
    return `${mark}${box}${indent(text, space).slice(mark.length)}`;
  });
  return rendered.join(loose ? '\n\n' : '\n');
}

/** In columns if these fit, else as a list of rows. */
function table({ header, rows }: Tokens.Table, width: number): string {
  const cells = (row: readonly Tokens.TableCell[]): string[] => row.map(({ text }) => text.replace(/`/g, ''));
  const isLong = [header, ...rows].some((row) => row.some(({ text }) => LONG_WORD.test(text)));
  const [head = '', ...lines] = isLong ? [] : formatTable(cells(header), rows.map(cells)).split('\n');
  if (!isLong && [head, ...lines].every((line) => stringWidth(line) <= width))
    return [inColour('heading', head), ...lines].join('\n');
  const titles = header.map(({ tokens }) => inColour('heading', inline(tokens)));
  const text = rows.map((row) => row.map(({ tokens }, at) => `${titles[at]}: ${inline(tokens)}`).join('\n'));
  return text.map((row) => `• ${indent(wrap(row, width - 2), '  ').slice(2)}`).join('\n');
}

function inline(tokens: readonly Token[]): string {
  return tokens.map(span).join('');
}

function span(token: Token): string {
  const inner = (): string =>
    'tokens' in token && token.tokens ? inline(token.tokens) : leaf((token as Tokens.Text).text);
  switch (token.type) {
    case 'strong':
      return inColour('strong', inner());
    case 'em':
      return inColour('emphasis', inner());
    case 'del':
      return inColour('deleted', inner());
    case 'codespan':
      return inColour('code', leaf(token.text));
    case 'link':
    case 'image':
      return token.href === token.text ? leaf(token.href) : `${inner()} ${inColour('quiet', `(${leaf(token.href)})`)}`;
    case 'br':
      return '\n';
    case 'text':
      return inner();
    default:
      return leaf(token.raw);
  }
}

/** The parser has decoded entities such as `&#27;`: escape again. */
function leaf(text: string): string {
  return printable(text).replace(/\n/g, ' ');
}

/** Left to the terminal: wrapping 100,000 Chinese characters without a space takes 40 seconds. */
const LONG_WORD = /\S{2000}/;

function wrap(text: string, width: number): string {
  return LONG_WORD.test(text) ? text : wrapAnsi(text, width, { hard: true, trim: true });
}

function indent(text: string, by: string): string {
  return text.replace(/^/gm, by);
}
