import { isIPv4, isIPv6 } from 'node:net';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { matchesOf } from '../../../../../lib/text/index.ts';
import { type Fact, quote } from './checks.ts';
import type { ScannedLine } from './scanned-line.ts';

export function* networkFacts({ text, code }: ScannedLine): Generator<Fact> {
  for (const authority of authoritiesIn(text)) {
    const fact = hostFact(authority);
    if (fact) yield fact;
  }
  for (const [use] of code.flatMap((part) => matchesOf(part, USES))) {
    yield { what: `Uses the network with ${quote(use.toLowerCase(), 40)}` };
  }
}

// --- internal ---

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
