/** Programs people name without a block of commands around them: where one begins a code span, it is a command. */
export const KNOWN_PROGRAMS: ReadonlySet<string> = new Set(
  (
    'ansible apt apt-get aws az bash brew bun bunx cargo chmod chown conda cp crontab curl dd deno dig docker dotnet ' +
    'ffmpeg gcloud gem gh git go gpg helm java jq kill kubectl launchctl ln ls make mkdir mv nc ncat node ' +
    'npm npx nslookup openssl osascript perl php pip pip3 pipx pnpm poetry powershell psql pwsh python python3 rm rsync ' +
    'ruby scp sed ssh sudo systemctl tar tee terraform uv uvx wget xargs yarn zip zsh'
  ).split(' '),
);

/**
 * The commands of one line, each as its first word; with the second where that says what is done (`git push`). What stands in
 * `$(...)` and between backticks counts as well, also inside double quotes. Linear time.
 */
export function commandsIn(line: string): readonly string[] {
  const commands = new Set<string>();
  for (const words of segments(line)) {
    const command = commandOf(words);
    for (const one of command) commands.add(one);
  }
  return [...commands];
}

// --- internal ---

/** Programs whose second word is the command. */
const WITH_VERB = new Set(
  (
    'apt apt-get aws az brew bun cargo claude composer conda docker dotnet gcloud gem gh git go helm kubectl npm pip ' +
    'pip3 pipx pnpm poetry systemctl terraform uv yarn'
  ).split(' '),
);
/** Words before a command that are not it. */
const KEYWORDS = new Set('if then else elif do while until time ! { ( [[ [ & &&'.split(' '));
/** What follows is no command. */
const NO_COMMAND = new Set('for case esac in fi done } ) function select'.split(' '));
/** They are commands, and what follows is another. */
const WRAPPERS = new Set('sudo doas env nohup exec command xargs builtin'.split(' '));
const WORD = /^[\w./~@+:$%-]{1,40}$/;

function commandOf(words: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (NO_COMMAND.has(word)) break;
    // An option belongs to the wrapper before it.
    if (KEYWORDS.has(word) || /^[A-Za-z_]\w{0,80}\+?=/.test(word) || (found.length > 0 && word.startsWith('-')))
      continue;
    if (word.startsWith('-') || !WORD.test(word) || !/[A-Za-z]/.test(word)) break;
    const verb = words[at + 1] ?? '';
    found.push(WITH_VERB.has(word) && /^[a-z][\w:-]{0,30}$/i.test(verb) ? `${word} ${verb}` : word);
    if (!WRAPPERS.has(word)) break;
  }
  return found;
}

/** The words of each command; at most the first eight matter. */
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
      // A command within the command; the word around it is not told.
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
    // A word is long enough to be told by its beginning.
    else if (word.length < 100) word += char;
  }
  endCommand();
  return found;
}

const PROMPT = /^(?:\$|%|>|PS [^>]{0,80}>|PS>|[\w.-]{1,40}@[\w.-]{1,40}[^$#]{0,80}[$#]) /;
