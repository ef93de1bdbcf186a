import { matchesOf } from '../../../../../lib/text/index.ts';
import type { ClassifiedFile, FileMatch, Reached } from './rule.ts';
import { re, SECRET_STORE } from './rules/words.ts';

/** Those that no prose names, where the skill also has what an attack needs. */
export function* undeclaredHosts(
  skill: readonly ClassifiedFile[],
  reach: readonly Reached[],
): Iterable<FileMatch | undefined> {
  const sends = reach.filter(({ kind }) => kind === 'sends');
  const texts = skill.filter(({ prose }) => prose);
  const all = reach.map(({ kind, what }) => `${kind} ${what.toLowerCase()}`);
  const readsMany = all.filter((one) => /^reads \w+$/.test(one)).length > 5;
  const isMade = skill.some(({ folded }) => folded?.assembled.length);
  if (sends.length === 0 || texts.length === 0 || !(readsMany || isMade || all.some((one) => HARM.test(one)))) return;
  const named = new Set(KNOWN);
  for (const { text } of texts) {
    for (const [host] of matchesOf(text, HOSTS)) {
      yield undefined;
      named.add(domainOf(host.toLowerCase()));
    }
  }
  for (const { what, file, line } of sends) {
    if (!/^(?:10|192\.168)\.[\d.:]+$/.test(what) && !named.has(domainOf(what))) yield { file, line, words: what };
  }
}

// --- internal ---

const HOSTS = /(?<![\w-])[\w-]{1,63}(?:\.[\w-]{1,63}){1,9}/g;
const KNOWN = 'example.com github.com githubusercontent.com npmjs.com npmjs.org pypi.org w3.org'.split(' ');
/** Anybody can have a name below some domains. */
const DOMAIN =
  /^[\d.]+(?=:|$)|[^.:]+\.(?:(?:com?|org|net|ac)\.[a-z]{2}|vercel\.app|workers\.dev|github\.io|[^.:]+)(?=:|$)/;
const HARM = re`^reads (?:the whole environment$|\.env$|.*(?:${SECRET_STORE}|key(?!board)|token(?!i)|secret|pass(?:w|p|_|$)|credential|auth(?!or)))|^runs (?:code made at run time|an install script)$`;

function domainOf(host: string): string {
  return DOMAIN.exec(host)?.[0] ?? host;
}
