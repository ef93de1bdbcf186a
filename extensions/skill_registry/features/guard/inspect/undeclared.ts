import { matchesOf } from '../../../../../lib/text/index.ts';
import type { Finding } from '../../../core/skill/guard.ts';
import { createLineCount } from './lines.ts';
import type { ClassifiedFile, FileMatch, Reached } from './rule.ts';
import { NEGATED, re, SECRET_STORE, SEND, WRITE } from './rules/words.ts';

/** Those that no prose names, where the program sends data or also has what an attack needs. */
export function* undeclaredHosts(
  skill: readonly ClassifiedFile[],
  reach: readonly Reached[],
  findings: readonly Finding[],
): Generator<FileMatch | undefined> {
  const texts = skill.filter(({ prose }) => prose);
  const programs = new Map(skill.filter(({ prose }) => !prose).map((file) => [file.path, file]));
  const sends = reach.filter(({ kind, file }) => kind === 'sends' && programs.has(file));
  if (sends.length === 0 || texts.length === 0) return;
  const named = new Set(KNOWN);
  for (const { text } of texts) {
    for (const [host] of matchesOf(text, HOSTS)) {
      yield undefined;
      named.add(domainOf(host.toLowerCase()));
    }
  }
  const facts = reach.filter(({ file }) => programs.has(file)).map(({ kind, what }) => `${kind} ${what.toLowerCase()}`);
  const readsMany = new Set(facts.filter((one) => /^reads \w+$/.test(one))).size > 5;
  const isMade = findings.some(({ rule }) => rule === 'assembled-text');
  const isHarmful = readsMany || isMade || facts.some((one) => HARM.test(one));
  const names = namesOfHosts(texts);
  const sending = new Map<string, boolean>();
  for (const { what, file, line } of sends) {
    yield undefined;
    const domain = domainOf(what);
    if (/^(?:10|192\.168)\.[\d.:]+$/.test(what) || named.has(domain) || isNamed(what, names)) continue;
    const isSent = isHarmful || (sending.get(file) ?? (yield* sendsData(programs.get(file))));
    sending.set(file, isSent);
    if (!isSent) continue;
    named.add(domain);
    yield { file, line, words: what };
  }
}

/** Folders of other programs in the home directory that no prose names, where something is written. */
export function* undeclaredFolders(
  skill: readonly ClassifiedFile[],
  reach: readonly Reached[],
): Iterable<FileMatch | undefined> {
  const texts = skill.filter(({ prose }) => prose);
  const linesOf = new Map<ClassifiedFile, readonly string[]>();
  for (const { kind, what, file, line } of reach) {
    const [, first = '', second = ''] = /^~\/(\.[^/]+)\/?([^/]*)/.exec(what) ?? [];
    const name = /^\.(?:config|local|cache)$/.test(first) ? second : first;
    const program = name === '' ? undefined : skill.find(({ path, prose }) => path === file && !prose);
    if (!program || texts.length === 0 || texts.some(({ text }) => text.includes(name))) continue;
    yield undefined;
    const lines = linesOf.get(program) ?? program.text.split('\n');
    linesOf.set(program, lines);
    const around = lines.slice(line - 1, line + WRITTEN_BEHIND);
    if (kind === 'writes' || WRITES.test(around.join('\n').slice(0, 4000).toLowerCase()))
      yield { file, line, words: what };
  }
}

/** Those that a skill names twice at most, and where something is sent to them: they are none of its subject. */
export function* strayHosts(skill: readonly ClassifiedFile[]): Iterable<FileMatch | undefined> {
  const found = new Map<string, { count: number; sent?: FileMatch }>();
  for (const file of skill) {
    const lineAt = createLineCount(file.text);
    for (const { index, 0: address, 1: host = '' } of matchesOf(file.text, ADDRESSES)) {
      yield undefined;
      const domain = domainOf(host.toLowerCase());
      const one = found.get(domain) ?? { count: 0 };
      found.set(domain, one);
      one.count += 1;
      if (one.sent || one.count > 2 || KNOWN.includes(domain) || SAMPLE.test(domain)) continue;
      if (isSentAt(file, index, address)) one.sent = { file: file.path, line: lineAt(index), words: address };
    }
  }
  const stray = [...found].filter(([, { count, sent }]) => sent && count <= 2);
  const names = namesOfHosts(stray.length === 0 ? [] : skill.filter(({ prose }) => prose));
  for (const [domain, { sent }] of stray) if (!isNamed(domain, names)) yield sent;
}

// --- internal ---

/** Lines in which the folder is used. */
const WRITTEN_BEHIND = 15;
const WRITES = re`${WRITE}|\b(?:cp|mv|ln|install|tee)\s`;
const HOSTS = /(?<![\w-])[\w-]{1,63}(?:\.[\w-]{1,63}){1,9}/g;
const ADDRESSES = /(?:https?|wss?):\/\/(?:[^\s/@"']{1,80}@)?([\w-]{1,63}(?:\.[\w-]{1,63}){1,9})/g;
const KNOWN = 'example.com github.com githubusercontent.com npmjs.com npmjs.org pypi.org w3.org shields.io'.split(' ');
const SAMPLE =
  /example[\w-]*\.|^example|\byour|acme|internal|corp\b|mysite|placeholder|company|\.(?:local|lan)$|attacker|evil|^(?:10|127|169\.254|192\.168)\./;
/** Anybody can have a name below some domains. */
const DOMAIN =
  /^[\d.]+(?=:|$)|[^.:]+\.(?:(?:com?|org|net|ac)\.[a-z]{2}|(?:vercel|netlify|railway|ondigitalocean|herokuapp|onrender|streamlit)\.(?:app|com)|(?:workers|pages|fly|deno)\.dev|git(?:hub|lab)\.io|[^.:]+)(?=:|$)/;
const HARM = re`^reads (?:the whole environment$|\.env$|.*(?:${SECRET_STORE}|key(?!board)|token(?!i)|secret|pass(?:w|p|_|$)|credential|auth(?!or)))|^runs (?:code made at run time|an install script)$`;
const SENDS = re`${SEND}|(?:\.|->|::)(?:post|put|post_?form)\(\s?(?!["'\`]/)|\.sendfile\(|\.send\(\s?b["']|\bs_client\b|\burlopen\(|\|\s?curl\b`;
const TOLD =
  /(?:^|[.:;,(]\s|\b(?:then|and|must|should|please|also|always|to|will|be|it|that|which|\w{3,12}ly)\s)(?:sends?|sent|posts?|posted|uploads?|uploaded|submit|submitted|reports?|reported|forwards?|forwarded|transmits?|push|mirrors?|mirrored|sync|synced|ping|deliver|relay|put|share|notify|call|hit|request|make|issue|export|copy|back ?up|point|redirect|route|replace|switch|link|direct|refer|guide|give|test|paste)\b[^\n]*$/;
/** What an agent puts into an address is sent when it is opened. */
const CONTENT_IN_ADDRESS =
  /^(?=[^\s)"'`<{[$%]{4,200}[<{[$%])[^\s)"'`]{4,160}[?&;#/][\w.[\]-]{0,20}=?[<{[$%]{1,2}\s?(?:(?:url|base64|uri|the|your|full|encoded)[- _]?){0,3}(?:text|content|summary|message|conversation|prompt|body|context|transcript|expression|answer|reply|notes?|email|code|diff|history|output|results?|secrets?|credentials?|env)/i;
const LIBRARIES =
  /jsdelivr|unpkg|cdnjs|tailwindcss|googleapis|jquery|googletagmanager|plot\.ly|d3js|esm\.sh|polyfill|mathjax|shopify|stripe/;
const NAMES = /(?<![\w./@:-])[A-Z][A-Za-z]{3,199}(?!\w)(?![\w./-]*\.\w)/g;
/** A service that is used with a key of its own. */
const HAS_KEY = /authorization|api[-_]?key|bearer|access[-_]?token|^\s*homepage:/;

function* sendsData(file: ClassifiedFile | undefined): Generator<undefined, boolean> {
  for (const [part] of matchesOf(file?.text ?? '', /[^\n]{1,4000}/g)) {
    yield undefined;
    if (SENDS.test(withLists(part))) return true;
  }
  return false;
}

/** Also a command that is a list of words. */
function withLists(line: string): string {
  const lower = line.toLowerCase();
  return `${lower}\n${lower.replace(/(["']),\s?\1/g, ' ')}`;
}

function isSentAt({ text, prose }: ClassifiedFile, start: number, address: string): boolean {
  const before = text.slice(Math.max(0, start - 240), start).replace(/\\\r?\n/g, '  ');
  const after = text.slice(start, start + 240).replace(/\\\r?\n/g, '  ');
  const command = withLists(`${before.split('\n').at(-1)}${after.split('\n')[0]}`);
  const sentence =
    before
      .toLowerCase()
      .split(/\n\s*\n|\n\s*(?:[-*#|>]|\d+\.)|[.!?]\s/)
      .at(-1)
      ?.replace(/\s+/g, ' ') ?? '';
  const isSent = SENDS.test(command) || (prose && TOLD.test(sentence));
  const isDrawn =
    /!\[[^\]\n]{0,80}\]\($/.test(before) && /^[^\s)]{4,160}(?:[<{$%]|=[A-Z][A-Z_]{0,30}(?=[)&]))/.test(after);
  const isFilled = prose && CONTENT_IN_ADDRESS.test(after);
  const [, tag = ''] = /<(script|iframe|img)\b[^>\n]{0,80}\ssrc=["']$/i.exec(before) ?? [];
  const isLoaded =
    tag !== '' && !LIBRARIES.test(address) && (tag !== 'img' || /^[^>]{0,200}\swidth=["']?1\b/.test(after));
  if (!(isSent || isDrawn || isLoaded || isFilled) || HAS_KEY.test(command)) return false;
  return !NEGATED.test(isSent || isLoaded ? sentence.replace(/["'`(]+$/, '') : sentence);
}

/** By the word before its ending: "TeaPot" names teapot.example. */
function isNamed(host: string, names: ReadonlySet<string>): boolean {
  return names.has(domainOf(host).replace(/\..*|[^a-z]/g, ''));
}

/** Words that may name a host, in lower case: with a capital letter, and in no address. Those of hosts are shorter. */
function namesOfHosts(texts: readonly ClassifiedFile[]): ReadonlySet<string> {
  return new Set(texts.flatMap(({ text }) => text.match(NAMES) ?? []).map((word) => word.toLowerCase()));
}

function domainOf(host: string): string {
  return DOMAIN.exec(host)?.[0] ?? host;
}
