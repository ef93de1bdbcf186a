import { domainToASCII } from 'node:url';
import { oneLine, withoutKeys } from '../../../../../lib/text/index.ts';
import { REACH_KINDS } from '../shown-reach.ts';
import type { PassageSearch } from './passage-search.ts';
import type { ClassifiedFile, Passage, Reached } from './rule.ts';
import { ENVIRONMENT, INSTALLS, PROGRAMS, re, SECRET_STORE } from './rules/words.ts';

/** What one file says: in a program or in fenced blocks, not in prose. A host in a comment is none. */
export function createReach(file: ClassifiedFile) {
  const found = new Map<string, Reached>();
  const lines = FOLDED.test(file.text) ? file.text.split(/\r\n|\n|\r/) : [];
  const add = (kind: Reached['kind'], words: string, line: number): void => {
    const what = inOneLine(words);
    const key = keyOf({ kind, what });
    if (!found.has(key)) found.set(key, { kind, what, file: file.path, line });
  };
  return {
    addPassage({ shown, ...passage }: Passage, search: PassageSearch): void {
      for (const [kind, match, what] of REACHES) {
        for (const { start, end } of search.spans(match)) {
          if (!passage.isCodeAt(start)) continue;
          const before = shown.slice(Math.max(shown.lastIndexOf('\n', start - 1) + 1, start - AROUND), start);
          const after = shown.slice(end, end + AROUND);
          const line = passage.lineAt(start);
          const named = what(shown.slice(start, end), { file, shown, before, after, written: lines[line - 1] });
          const isWritten = what === outside && (WRITES.test(before) || OPENS_TO_WRITE.test(after));
          if (named !== undefined) add(isWritten ? 'writes' : kind, named, line);
        }
      }
    },
    addFound(rule: string, line: number, words: string): void {
      if (rule.startsWith('fetch-')) add('runs', 'what it downloads', line);
      const other = { 'runs-later': 'what runs later', 'changes-agent-memory': 'what agents obey' }[rule];
      if (other !== undefined) add('persists', PLACE.exec(words)?.[0] ?? other, line);
    },
    all: (): readonly Reached[] => [...found.values()],
  };
}

/** Of all files, by kind; of each the first, and at most 100, then an entry that counts the others. */
export function listReach(reached: readonly Reached[], files: readonly ClassifiedFile[]): readonly Reached[] {
  const scripts = files.filter(({ script }) => script);
  const found = firstOfEach([
    ...reached,
    ...scripts.map(({ path }) => ({ kind: 'runs' as const, what: inOneLine(path), file: path, line: 1 })),
  ]);
  return REACH_KINDS.flatMap((kind) => {
    const all = found.filter((one) => one.kind === kind);
    const next = all[MOST];
    return next ? [...all.slice(0, MOST), { ...next, what: `${all.length - MOST} more` }] : all;
  });
}

export function firstOfEach(reached: readonly Reached[]): readonly Reached[] {
  const found = new Map<string, Reached>();
  for (const one of reached) if (!found.has(keyOf(one))) found.set(keyOf(one), one);
  return [...found.values()];
}

// --- internal ---

const MOST = 100;

function keyOf({ kind, what }: Pick<Reached, 'kind' | 'what'>): string {
  return `${kind} ${what}`;
}

function inOneLine(words: string): string {
  return /[^ -~]|.{30}/.test(words) ? oneLine(withoutKeys(words.slice(0, 500)), 120) : words;
}

const AROUND = 160;

interface Around {
  readonly file: ClassifiedFile;
  readonly shown: string;
  /** In its line. */
  readonly before: string;
  readonly after: string;
  /** In files with letters that passages fold. */
  readonly written: string | undefined;
}

/** Undefined: it is none. */
type Reaches = readonly [Reached['kind'], RegExp, (words: string, around: Around) => string | undefined];

const PLACES = String.raw`\.(?:bashrc|zshrc|zshenv|zprofile|bash_profile|profile)\b|config\.fish\b|authorized_keys|\.git/hooks|launch ?(?:agents|daemons)|\b(?:soul|memory|agents|claude|gemini|heartbeat)\.md\b|/etc/cron|\bsystemd\b`;
const PLACE = new RegExp(`${PLACES}|crontab`, 'i');

const WORD = String.raw`[\w@][\w.@:/~=<>!-]{0,60}`;
const COMMAND = String.raw`(?<=(?:^|[\n;&|(\`]|\$\(|[([] ?["']|\bsudo) {0,8})`;

const VARIABLE = re`(?:\bprocess\.env(?:\.|\[["'])|\bos\.environ(?:\[["']|\.get\( ?["'])|\bgetenv\( ?["']|\$env:|\bimport\.meta\.env\.)[a-z_]\w{1,60}(?!\w|["'\]]{0,2} ?=[^=])|\bload_dotenv\(|\bdotenv[./]config\b|(?<![\w.]|> ?)\.env\b(?![.\w])`;
const FOLDER = re`(?:path\.home\(\)|homedir\(\)|dir\.home|expanduser\(["']~["']\)|userhomedir\(\)) ?[/,+] ?["'\`]/?\.[\w-]{1,60}|(?:~|\$\{?home\}?)/[\w.@-]{1,60}(?:/[\w.@-]{1,60})?|(?<![\w.~}/:$-])/(?:etc|root|home|users|opt|var)/[\w.@-]{1,60}(?:/[\w.@-]{1,60})?`;
const ADDRESS = re`(?:https?|wss?|ftps?)://[^\s/"'\`<>|\\,;?#]{3,200}|/dev/(?:tcp|udp)/[\w.-]{3,80}/\d{1,5}|\b(?:nc|ncat|netcat|telnet) (?:-\w{1,5} ){0,3}[\w.-]{3,80} \d{1,5}\b|\b(?:create_)?connect(?:ion)?\( ?\(? ?["'][\w.-]{3,80}["'] ?, ?\d{1,5}\b|\b(?:https?connection|smtp(?:_ssl)?)\( ?["'][\w.-]{3,80}|\bhost(?:name)?["']? ?: ?["'](?:[\w-]{1,60}\.){1,5}[a-z]{2,12}(?=["'])`;
const PACKAGES = re`\b(?:${INSTALLS}) (?:-{1,2}[\w=-]{1,30} ){0,4}${WORD}(?: ${WORD}){0,6}`;
const MADE_CODE = re`(?<![\w.])(?:eval|exec)\( ?[^)\s]|\bnew function\(|\bimport\( ?["'\`]data:|\binvoke-expression\b|\b(?:pickle|dill|cloudpickle|marshal)\.loads?\(|\bunsafe_?load(?:er)?\b|(?<![\w-])eval ["'$\`]`;
const STAYS = re`(?:>>?|\btee(?: -a)?|\b(?:cp|mv|ln) [^\n;|&]{1,100}?) ?["']?[~$\w{}/.-]{0,60}(?:${PLACES})|\bcrontab (?!-l)`;
const PAYMENT = re`\bstripe\.(?:charges?|paymentintents?|transfers?|payouts?)\.create\b|/v1/(?:charges|payment_intents|transfers|payouts)\b|\bsend_?(?:raw_?)?transaction\(|\bsystemprogram\.transfer\b`;

const REACHES: readonly Reaches[] = [
  ['reads', re`${SECRET_STORE}`, (words) => words],
  ['reads', re`${ENVIRONMENT}`, () => 'the whole environment'],
  ['reads', /\$\{?[a-z]\w{0,40}(?:key|token|secret|passw|credential)\w{0,20}/, variableOf],
  ['reads', VARIABLE, (words) => (/(?<!\w)\.env$|dotenv/.test(words) ? '.env' : /\w+$/.exec(words)?.[0])],
  ['reads', FOLDER, outside],
  ['sends', ADDRESS, hostOf],
  ['runs', re`${COMMAND}\b(?:${PROGRAMS})(?=\s|["'])`, (words) => words],
  ['runs', /\b(?:pre|post)install["'] ?:/, () => 'an install script'],
  ['runs', PACKAGES, (words) => words],
  ['runs', MADE_CODE, madeCode],
  ['persists', STAYS, (words) => PLACE.exec(words)?.[0]],
  ['pays', PAYMENT, (words) => words.replace('(', '')],
];

/** After `cp`, only a second path. */
const WRITES =
  /(?:>>?|\btee(?: -a)?|\bmkdir(?: -\S{1,10}){0,2}|\btouch|\brm(?: -\S{1,10}){0,3}|\bwrite\w{0,16}\(|\b(?:cp|mv|ln|install|rsync)(?: -\S{1,12}){0,3} [^\s-]\S{0,100}|\s-o|--output) ?["']?$/i;
const OPENS_TO_WRITE = /^[^\n,]{0,40}, ?["'][wax]/;

function outside(words: string): string {
  return words
    .replace(/^.*["'`]\/?(?=\.)/, '~/')
    .replace(/^[~${}\w]+/, '~')
    .replace(/[.,:;-]+$/, '');
}

function variableOf(words: string, { file, shown, before, after }: Around): string | undefined {
  const name = words.replace(/^\$\{?/, '');
  const isShell = file.prose || /\.(?:ba|z)?sh$/.test(file.path);
  if (!isShell || name !== name.toUpperCase() || /^\w/.test(after) || before.endsWith('\\')) return undefined;
  return new RegExp(`\\b${name}=["']?(?:\\$(?!\\{?${name})|\`)`).test(shown) ? undefined : name;
}

/** Only Python's `exec` runs code. */
function madeCode(words: string, { file, before }: Around): string | undefined {
  const runsProgram = words.startsWith('exec(') && !/\.pyw?$/i.test(file.path);
  return runsProgram || /\b(?:def|function) $/.test(before) ? undefined : 'code made at run time';
}

/** They name schemas and authors. */
const DATA = /\.(?:json|xml|xsd|svg|html?|css|ya?ml|toml|lock|txt|csv)$/i;
const COMMENT = /^\s*(?:#|\/\/|\/?\*|<!--|--|;|rem\b)|\s(?:#|\/\/)\s|\bxmlns|\$schema/i;
const FOLDED = /[\u0370-\u052f]/;
const FOREIGN = /:\/\/[^\s/"'`]*[\u0370-\u052f][^\s/"'`]*/;
const HOST = /^(?!127\.|0\.0\.0\.0$)(?:[a-z\d](?:[a-z\d_-]*\.)+[a-z\d-]{2,}|(?:\d{1,3}\.){3}\d{1,3})$/;

/** Undefined for a placeholder and for this machine. */
function hostOf(words: string, { before, file, written: line = '' }: Around): string | undefined {
  if (DATA.test(file.path) || COMMENT.test(before)) return undefined;
  const [address = words] = (words.includes('://') && FOREIGN.exec(line)) || [];
  const written = address
    .replace(/^[^/]*:\/\/(?:.*@)?|^.*?(?=[\w.-]+["']? ?[/, ] ?\d+$)|^.*["'](?=[\w.-]+$)/, '')
    .replace(/["']? ?[/, ] ?(?=\d+$)/, ':');
  const [, name = '', port = ''] = /^([^\s:${}<>%*()]+)(:\d{1,5})?[)\]}.:]*$/.exec(written) ?? [];
  const host = domainToASCII(name.replace(/\.+$/, ''));
  return HOST.test(host) ? `${host}${port}` : undefined;
}

/** Tried with those of rules. */
export const REACH_EXPRESSIONS: readonly RegExp[] = REACHES.map(([, match]) => match);
