import { isIPv4, isIPv6 } from 'node:net';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { matchesOf, withoutKeys } from '../../../../../lib/text/index.ts';
import { INSTALLS, PROGRAMS } from '../../guard/inspect/rules/words.ts';
import { type Fact, quote } from './checks.ts';
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

export function* networkFacts({ text, code }: ScannedLine): Generator<Fact> {
  for (const authority of authoritiesIn(text)) {
    const fact = hostFact(authority);
    if (fact) yield fact;
  }
  for (const [use] of code.flatMap((part) => matchesOf(part, USES))) {
    yield { what: `Uses the network with ${quote(use.toLowerCase(), 40)}` };
  }
}

export function* secretFacts({ text }: ScannedLine): Generator<Fact> {
  const variables = matchesOf(text, VARIABLE).map(([, name = '']) => name);
  for (const quoted of [...matchesOf(text, UPPER_CASE).map(([name]) => name), ...variables]) {
    const upper = quoted.toUpperCase();
    if (CREDENTIAL.test(upper) && !NO_CREDENTIAL.test(upper)) yield { what: 'Names a credential', quoted };
  }
  for (const [quoted] of SECRET_STORES.flatMap((pattern) => matchesOf(text, pattern))) {
    yield { key: `store ${quoted.toLowerCase()}`, what: 'Names something that holds secrets', quoted };
  }
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

const ADDRESS =
  /\b([a-z][a-z0-9+.-]{1,15}):\/\/((?:[^\s/?#"'`<>()[\]|\\^,;@]{1,300}@)?(?:\[[0-9a-f:.]{2,60}\]|[^\s/?#"'`<>()[\]|\\^,;@]{1,300}))/gi;
const NO_NETWORK = new Set(['file', 'skill', 'unix']);
const LINK_WITHOUT_SCHEME = /(?:\]\( ?<?|(?:src|href) ?= ?["']?)\/\/([^\s/?#"'`<>()]{1,300})/gi;
/** `user@host:path` of git and scp. */
const USER_AT_HOST = /\b[\w.+-]{1,64}@((?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}):(?=[\w~.]|\/(?!\/))/gi;
const TARGETS =
  /\b(?:curl|wget|aria2c|ssh|scp|sftp|rsync|ftp|telnet|nc|ncat|netcat|socat|ping|dig|nslookup|host|git (?:clone|push|pull|fetch|remote add|submodule add)|docker (?:pull|run|push)|iwr|irm|invoke-webrequest|invoke-restmethod) ([^|;&`]{1,300})/gi;
const HOST_WORD = /^["']?(?:[\w.+-]{1,64}@)?(?:[a-z0-9_-]{1,63}\.){1,8}([a-z]{2,24})(?=[:/?"']|$)(.?)/i;
/** A word with such an ending and nothing after it is a file, not a host. */
const FILE_ENDINGS =
  /^(?:txt|json|jsonl|md|sh|py|js|ts|mjs|html?|css|ya?ml|toml|xml|csv|log|conf|cfg|ini|pem|key|crt|gz|tgz|tar|zip|bz2|xz|png|jpe?g|gif|svg|pdf|deb|rpm|db|sql|out|env|lock|bak|tmp|rb|rs|go|java|exe|dmg|pkg|iso|bin)$/i;
const IPV4 = /(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]\d)/g;
const IPV6 = /(?<![\w:.])[0-9a-f:]{4,39}(?![\w:.])/gi;
const USES =
  /(?<![\w./-])(?:curl|wget|aria2c|ssh|scp|sftp|rsync|telnet|ncat|netcat|socat|nslookup|dig|nc(?= -)|git (?:clone|push)|iwr|irm|invoke-webrequest|invoke-restmethod|net\.webclient|webfetch|xmlhttprequest|axios|fetch(?= ?\()|requests\.(?:get|post|put|patch|delete|request|session)|httpx\.\w{2,12}|urllib\.request|urlopen|http\.client|aiohttp|socket\.socket|net\.connect|net\.dial|http\.(?:get|post)|https\.(?:get|request))(?![\w-])/gi;
/** Names that RFC 2606 reserves, and names of this machine. */
const RESERVED = /^(?:(?:.*\.)?(?:localhost|example|test|invalid)|(?:.*\.)?example\.(?:com|net|org))$/;
const OWN_ADDRESS = /^(?:127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])$/;

function* authoritiesIn(text: string): Generator<string> {
  for (const [, scheme = '', authority = ''] of matchesOf(text, ADDRESS)) {
    if (!NO_NETWORK.has(scheme.toLowerCase())) yield authority;
  }
  for (const pattern of [LINK_WITHOUT_SCHEME, USER_AT_HOST]) {
    for (const [, authority = ''] of matchesOf(text, pattern)) yield authority;
  }
  for (const word of matchesOf(text, TARGETS).flatMap(([, target = '']) => target.split(' '))) {
    if (isHostWord(word)) yield word.replace(/[/?#].*$/, '');
  }
  for (const [address] of matchesOf(text, IPV4)) if (isIPv4(address)) yield address;
  for (const [address] of matchesOf(text, IPV6)) {
    if (address.length > 5 && /\d/.test(address) && isIPv6(address)) yield `[${address}]`;
  }
}

function isHostWord(word: string): boolean {
  const [, ending = '', next] = HOST_WORD.exec(word) ?? [];
  return ending !== '' && (next === '/' || next === ':' || word.includes('@') || !FILE_ENDINGS.test(ending));
}

function hostFact(authority: string): Fact | undefined {
  // A closing bracket at the end belongs to the text around it, unless the host has the opening one.
  const end = /[{[]/.test(authority) ? /["'.:!*_]+$/ : /["'.:!*_)\]}]+$/;
  const written = authority.replace(/^["']/, '').replace(/^.*@/, '').replace(end, '').toLowerCase();
  if (written === '' || written === '...' || written === '…') return undefined;
  const host = canonicalHost(written);
  if (host === undefined) return { what: 'Names a host that is only known at run time', quoted: written };
  if (RESERVED.test(host) || OWN_ADDRESS.test(host)) {
    return { what: 'Names this machine or an example host', quoted: host };
  }
  if (isIPv4(host) || host.startsWith('[')) return { what: 'Names a host by its address', quoted: host };
  if (!host.includes('xn--')) return { what: 'Names a host', quoted: host };
  // Letters of other scripts may look like those of a known name.
  const what = `Names the host ${quote(host, 80)}, written with letters of another script`;
  return { key: `host ${host}`, what, quoted: written };
}

/** As a browser shows it: IP addresses in other notations are converted. Undefined for a placeholder. */
function canonicalHost(written: string): string | undefined {
  if (/[${}*%]/.test(written)) return undefined;
  return withFallback(() => new URL(`http://${written}`).hostname, written.replace(/:\d*$/, ''));
}

const UPPER_CASE = /(?<![A-Za-z0-9_])[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8}(?![A-Za-z0-9_])/g;
const VARIABLE =
  /(?:\$\{?(?:env:)?|\bprocess\.env(?:\.|\[["'])|\benviron(?:\[|\.get\()["']|\bgetenv\(["']|\bENV\[["']|\bexport |\bprintenv )([A-Za-z_][A-Za-z0-9_]{0,80})/gi;
const CREDENTIAL =
  /(?:^|_)(?:TOKEN|KEY|APIKEY|SECRET|SECRETS|PASSWORD|PASSWORDS|PASSWD|PASS|PWD|PASSPHRASE|CREDENTIAL|CREDENTIALS|CREDS|PAT|AUTH|COOKIE|DSN)(?:_|\d|$)|(?:TOKEN|APIKEY|SECRET|PASSWORD)$/;
/** Numbers and public values are not secret. */
const NO_CREDENTIAL =
  /(?:^|_)(?:MAX|MIN|NUM|COUNT|LIMIT|BUDGET|PUBLIC|PRIMARY|FOREIGN|SORT|CACHE|PARTITION)(?:_|$)|^(?:OLD)?PWD$/;

const SECRET_STORES: readonly RegExp[] = [
  /(?:~|\$\{?HOME\}?|\/root|\/(?:home|Users)\/[\w.-]{1,60})?\/\.(?:ssh|aws|azure|gnupg|kube|docker|netrc|npmrc|pypirc|pgpass|git-credentials|config\/(?:gcloud|gh|op)|claude|codex|bash_history|zsh_history|mozilla|password-store)\b(?:\/[\w.-]{1,60}){0,4}/gi,
  /(?<![\w.])\.env(?:\.(?!example\b|sample\b|template\b)[a-z]\w{0,20})?(?![\w(.=])/g,
  /\bid_(?:rsa|dsa|ecdsa|ed25519)\b(?!\.pub)/gi,
  /(?<![\w.-])\/etc\/(?:passwd|shadow|sudoers)\b|\/proc\/(?:self|\d{1,7})\/environ\b/gi,
  /\bsecurity (?:find|dump|add)-[\w-]{3,30}|\bkeychains?\b|\bsecret-tool\b|\bkeyring\b|\bcredential manager\b/gi,
  /\b(?:credentials|service[-_]account|client_secret)[\w-]{0,30}\.json\b|\b[\w-]{1,60}\.(?:pem|p12|pfx|kdbx)\b/gi,
  /\blogin data\b|\bcookies\.sqlite\b|\bwallet\.dat\b|\blocal state\b(?=.{0,40}\bchrome\b)/gi,
  /169\.254\.169\.254|\bmetadata\.google\.internal\b/gi,
  /(?<![\w-])(?:printenv(?![\w ])|env ?\| ?\w{1,20}|export -p|op read|gh auth token|vault (?:read|kv get)|aws configure get)\b/gi,
];
