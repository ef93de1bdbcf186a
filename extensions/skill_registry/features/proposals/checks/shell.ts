import { matchesOf, withoutKeys } from '../../../../../lib/text/index.ts';
import { INSTALLS, PROGRAMS } from '../../guard/inspect/rules/words.ts';
import type { Fact } from './checks.ts';
import type { ScannedLine } from './scanned-line.ts';

export function* shellFacts({ text, kind, code }: ScannedLine): Generator<Fact> {
  if (kind === 'run') {
    yield { what: 'A block of commands that is run before the model reads the text', quoted: text };
    return;
  }
  if (kind === 'block') {
    yield { what: 'A new or changed block of commands', quoted: text };
    return;
  }
  // Masked before the text is cut: a part of a secret would not be recognised.
  const searched = withoutKeys(kind === 'prose' ? withoutCellBorders(text) : text);
  for (const [what, patterns] of Object.entries(RISKS)) {
    for (const { 0: match, index } of [patterns].flat().flatMap((pattern) => matchesOf(searched, pattern))) {
      yield { what, quoted: around(searched, index, index + match.length) };
    }
  }
  for (const command of code.flatMap(commandsIn)) {
    const [program = ''] = command.split(' ');
    if (kind === 'shell' || KNOWN_PROGRAMS.has(program)) yield { what: 'Names the command', quoted: command };
  }
}

/** One word each, two for a verb (`git push`); also in `$(...)`, backticks and double quotes. Linear time. */
export function commandsIn(line: string): readonly string[] {
  return [...new Set(segments(line).flatMap(commandsOf))];
}

// --- internal ---

/** In a row of a table `|` separates cells, and `\|` is a pipe. */
function withoutCellBorders(text: string): string {
  if (!/^\|.*[^\\]\|$/.test(text)) return text;
  return text.replace(/\\?\|/g, (border) => (border === '|' ? '¦' : '|'));
}

const PIPE = '(?<!\\\\)\\|&? ?';
const SHELL = '(?:ba|z|da|k|fi|c|tc)?sh';
const INTERPRETER = '(?:python[\\d.]{0,5}|perl|ruby|node|php|deno|bun)';
const AS_ROOT =
  '(?:(?:[\\w./-]{0,60}/)?(?:sudo|doas|env|exec|command|nohup) (?:-[\\w-]{1,20} ){0,3}){0,2}(?:[\\w./-]{0,60}/)?';
const END = '(?=$|[ "\'`);&|]{1,2}(?:$|[^-\\w]|(?:then|do|done|fi)\\b))';

/**
 * For folded text. Repetitions are bounded, so that a search takes linear time. A command whose name is also an English
 * word must have an argument.
 */
const RISKS: Readonly<Record<string, RegExp | readonly RegExp[]>> = {
  'Runs a command before the model reads the text': /(?<!\S)!`[^`]{1,300}/g,
  'Pipes into a shell or interpreter': [
    new RegExp(`${PIPE}${AS_ROOT}(?:${SHELL}|pwsh|powershell|iex|invoke-expression)(?![\\w.-])`, 'gi'),
    // Case matters: with a capital letter it is the name of a language.
    new RegExp(`${PIPE}${AS_ROOT}${INTERPRETER}(?: -)?${END}`, 'g'),
  ],
  'Runs downloaded code': new RegExp(
    `(?:\\b${SHELL} (?:-\\w{1,5} )?["']?(?:<\\(|\\$\\()|\\b(?:eval|source|iex) ?\\(? ?["']?(?:\\$\\(|<\\()|\\b(?:eval|iex) ?\`|(?<![\\w.])\\. <\\()`,
    'gi',
  ),
  'Evaluates text as code': /\beval(?: ["'$`]|\()|\bexec\(|\binvoke-expression\b|\biex[ (]/gi,
  'Decodes something': /\bbase64 (?:-d\b|-D\b|--decode)|\bfrombase64string\b|\bxxd -r\b|\bb64decode\b|\batob\(/gi,
  'Uses the rights of another user': /\b(?:sudo|doas|pkexec|runas)(?= [^ ])|\bsu - ?\w{0,20}/gi,
  'Deletes files or discards changes':
    /\brm (?:-[\w-]{1,20} ){0,5}-(?:[a-z]{0,8}[rf][a-z]{0,8}|-recursive|-force)\b|\bremove-item\b|\brmtree\(|\bshred \S|\bfind [^|;&]{1,200} -delete\b|\bgit (?:clean -|reset --hard)|\bdel \/[a-z]|\brd \/s/gi,
  'Changes rights or owners of files': /\b(?:chmod|chown|chgrp|setfacl|icacls) (?=[^ ])|\bos\.chmod\(/gi,
  'Writes to a device or formats it': /\bdd [^|;&]{0,80}\bof=|\bmkfs\b|> ?\/dev\/(?:sd|nvme|disk|mem)/gi,
  'Opens a network connection for a shell':
    /\/dev\/(?:tcp|udp)\/|\b(?:nc|ncat|netcat) (?:[^|;&]{0,80} )?-[a-z]{0,4}[ec]\b|\bsocat [^|;&]{0,80}exec:/gi,
  'Uses PowerShell': /\b(?:powershell|pwsh)(?:\.exe)?(?= -|$)|(?<!\w)-(?:enc|encodedcommand|executionpolicy)\b/gi,
  'Runs code given on the command line':
    /\b(?:python[\d.]{0,5}|perl|ruby|node|php|osascript|deno eval)(?: -\w{1,20}){0,3} -(?:c|e|r|p)\b|\bosascript -e/gi,
  'Takes effect after the session ends':
    /\bcrontab\b|\blaunchctl\b|\bsystemctl (?:enable|start)|\bschtasks\b|\bnohup\b|>>? ?["']?(?:~|\$\{?home\}?)\/\.(?:bash|zsh|profile|config)|\.git\/hooks\b|\bcore\.hookspath\b/gi,
  'Installs or runs a published package': new RegExp(`\\b(?:${INSTALLS})(?= [^ ]|$)`, 'gi'),
  'Turns off a protection':
    /--(?:dangerously[\w-]{0,40}|no-verify|yolo|insecure|no-check-certificate|trusted-host|privileged|disable-[\w-]{0,20}security[\w-]{0,20})|\bgit push [^|;&]{0,80}(?:--force|-f\b)|\bcurl (?:[^|;&]{0,80} )?-[a-z]{0,5}k\b|\bset \+e\b|\bsetenforce 0|\bhistory -c\b|\bunset histfile\b|\bstricthostkeychecking[= ]no\b|\bnode_tls_reject_unauthorized\b|\bgit_ssl_no_verify\b/gi,
};

/** A code span that begins with one of these is a command. */
const KNOWN_PROGRAMS: ReadonlySet<string> = new Set([
  ...PROGRAMS.split('|'),
  ...'bash chmod chown cp crontab dd jq kill launchctl ln ls make mkdir mv rm sed systemctl tee xargs zip zsh'.split(
    ' ',
  ),
]);

const WITH_VERB = new Set(
  (
    'apt apt-get aws az brew bun cargo claude composer conda docker dotnet gcloud gem gh git go helm kubectl npm pip ' +
    'pip3 pipx pnpm poetry systemctl terraform uv yarn'
  ).split(' '),
);
const KEYWORDS = new Set('if then else elif do while until time ! { ( [[ [ & &&'.split(' '));
const NO_COMMAND = new Set('for case esac in fi done } ) function select'.split(' '));
const WRAPPERS = new Set('sudo doas env nohup exec command xargs builtin'.split(' '));
const WORD = /^[\w./~@+:$%-]{1,40}$/;

function commandsOf(words: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (NO_COMMAND.has(word)) break;
    // An option of the wrapper before it.
    if (KEYWORDS.has(word) || /^[A-Za-z_]\w{0,80}\+?=/.test(word) || (found.length > 0 && word.startsWith('-')))
      continue;
    if (word.startsWith('-') || !WORD.test(word) || !/[A-Za-z]/.test(word)) break;
    const verb = words[at + 1] ?? '';
    found.push(WITH_VERB.has(word) && /^[a-z][\w:-]{0,30}$/i.test(verb) ? `${word} ${verb}` : word);
    if (!WRAPPERS.has(word)) break;
  }
  return found;
}

function segments(line: string): readonly (readonly string[])[] {
  const found: string[][] = [];
  let words: string[] = [];
  let word = '';
  let quote = '';
  const endWord = (): void => {
    if (word !== '' && words.length < 8) words.push(word);
    word = '';
  };
  const endCommand = (): void => {
    endWord();
    if (words.length > 0) found.push(words);
    words = [];
  };
  const text = line.replace(PROMPT, '');
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    if (quote === "'") {
      if (char === "'") quote = '';
      continue;
    }
    if (char === '\\') {
      at++;
      continue;
    }
    if (char === '`' || (char === '$' && text[at + 1] === '(')) {
      // A command inside the command; the word that contains it is dropped.
      endCommand();
      quote = '';
      if (char === '$') at++;
    } else if (char === quote) quote = '';
    else if (quote !== '') continue;
    else if (char === '"' || char === "'") quote = char;
    else if (char === '#' && word === '') break;
    else if (/[;|&\n]/.test(char)) endCommand();
    else if (/\s/.test(char)) endWord();
    else if (char === '(' && words.length === 0 && word === '') continue;
    else if (char === ')') endWord();
    // 100 characters are enough to identify a word.
    else if (word.length < 100) word += char;
  }
  endCommand();
  return found;
}

const PROMPT = /^(?:\$|%|>|PS [^>]{0,80}>|PS>|[\w.-]{1,40}@[\w.-]{1,40}[^$#]{0,80}[$#]) /;

function around(text: string, from: number, to: number): string {
  const start = Math.max(0, from - 60);
  const end = Math.min(text.length, to + 60);
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}
