import { findKeys } from '../../../../../../lib/text/index.ts';
import type { ClassifiedFile, Match, Rule } from '../rule.ts';
import { KEY_RULE } from '../rule-set.ts';
import { strayHosts, undeclaredHosts } from '../undeclared.ts';
import { SENDS_ABROAD } from './other-languages.ts';
import { BARE_ADDRESS, DROP, ENVIRONMENT, each, near, re, SECRET_STORE, SEND } from './words.ts';

/** Reads a file; `ssh -i` only uses it as a key. */
const READS = String.raw`(?:\b(?:cat|tar|zip|base64|xxd|gzip|head|tail|less|type|get-content|cp|dd|sqlite3|gpg|openssl)\s[^\n|;]{0,100}?|@|<\s?|\$\(<\s?|\b(?:open|readfile|readfilesync|read_text|read_bytes|path|expanduser|createreadstream|file\.read|copyfile|copy2?)\s?\([^\n]{0,100}?)`;
/** One entry of the keychain that has a name, and not that of a browser. */
const OWN_ENTRY =
  /\bfind-generic-password\s(?![^\n]{0,160}\b(?:safe storage|chrome|chromium|brave|edge|firefox|opera|icloud|wi-?fi|airport)\b)[^\n]{0,160}-s[\s"',]/;
/** Without a read or a call an address is only listed. */
const USES = re`${SEND}|\bfetch\s?\(|\b(?:curl|wget|iwr|irm|invoke-\w{1,20})\s|\b(?:requests|httpx|aiohttp|axios|got|urllib|https?|net|dns|socket)\.(?:get|post|put|patch|request|send|connect|create\w*|resolve\w*|lookup|socket|client\w*|stream)\b|\burlopen\b|\b(?:open|readfile\w*|read_text|read_bytes|createreadstream)\s?\(|\bcat\s`;
const STORES = String.raw`(?:netrc|npmrc|pypirc|pgpass|git-credentials|gnupg|kube/config|docker/config\.json|aws/credentials)\b`;
const HIDES = String.raw`(?:\b(?:do not|don't|never|without) (?:ever )?(?:tell|telling|mention|mentioning|inform|informing|notify|notifying|reveal|revealing|disclos\w{1,4}|alert\w{0,3}|report|reporting|ask|asking)(?: (?:of|to|about))? (?:it|this|that|the|any|their|them|anyone|anybody|users?)\b|\bsilently\b|\bsecretly\b|\bquietly\b|\bdiscreetly\b|\bcovertly\b)`;
const PERSONAL = String.raw`(?:(?:\.ssh|\.aws|\.clawdbot|\.openclaw|\.gnupg|\.kube)\b|\.env\b|\bssh keys?\b|\bprivate keys?\b|\bseed (?:phrase|words)\b|\b(?:recovery|mnemonic|secret) phrase\b|\bmnemonic\b|\bwallet(?:'s)? (?:keys?|files?|seed)\b|\b(?:saved|stored|browser|user's|users|all|any) (?:passwords|credentials|cookies|tokens|secrets|api keys)\b|\benvironment variables\b|\bpassword store\b|\bkeychain\b|\bsession cookies?\b|\bid_rsa\b|\bid_ed25519\b|/etc/passwd|/etc/shadow)`;
const TO_SOMEWHERE = String.raw`(?:\b(?:to|at|via|with|using|in a request to)\s[^\n.]{0,60}?(?:https?://(?!localhost|127\.)|[\w.+-]{2,40}@[\w-]{2,40}\.[a-z]{2,10})|https?://(?!localhost|127\.)[^\s]{4,200})`;
const SENDS = String.raw`\b(?:send|sends|sending|post|posts|posting|upload|uploads|uploading|transmit|transmits|forward|forwards|exfiltrate|submit|submits|include|append|attach|share|deliver|email|put)\b`;

export const SECRETS: readonly Rule[] = [
  {
    id: 'secret-store-sent',
    level: 'block',
    family: 'secrets',
    message: 'Reads what a person keeps secret and sends it away',
    why: 'Keys, wallets and saved passwords are worth more than the skill, and once sent they cannot be called back.',
    mend: 'Ask for the one key that the skill needs, and send it to its own service alone.',
    patterns: [
      near(
        { where: 'prose', ordered: false, within: 160 },
        re`(?:${READS}["'~$\w{}/.]{0,40}${SECRET_STORE}|\bsecurity dump-keychain|${ENVIRONMENT})`,
        re`${SEND}`,
      ),
      near(
        { where: 'code', scope: 'file', unless: OWN_ENTRY },
        re`(?:${READS}["'~$\w{}/. ]{0,60}${SECRET_STORE}|\bsecurity (?:dump|export)-keychain|\bfind-(?:generic|internet)-password\s[^\n]{0,80}-w)`,
        re`${SEND}`,
      ),
      near(
        { where: 'code', scope: 'file' },
        re`(?:${SECRET_STORE}|/\.env\b|["']\.env["'])`,
        re`(?:${DROP}|${BARE_ADDRESS})`,
        USES,
      ),
      near(
        { where: 'code', ordered: false, within: 300, unless: /\bsubprocess\b|\benv\s?=\s?env\b/ },
        re`${ENVIRONMENT}`,
        re`${SEND}`,
      ),
      near({ where: 'code', scope: 'file' }, re`${ENVIRONMENT}`, re`(?:${DROP}|${BARE_ADDRESS})`),
    ],
  },
  {
    id: 'stores-of-secrets',
    level: 'block',
    family: 'secrets',
    message: 'Reads several places where secrets are kept, and uses the network',
    why: 'No work needs the passwords of browsers, wallets and keys of servers at once.',
    mend: 'Read only what the skill is for.',
    patterns: [
      near(
        { where: 'code', scope: 'file' },
        re`(?<=["'\`/][^"'\`\n]{0,40})\.(${STORES})(?=[\s\S]{1,600}?["'\`/]\.(?!\1)(?:${STORES}))`,
        re`${SEND}`,
      ),
      near(
        { where: 'code', scope: 'file' },
        /["'][^"'\n]{0,40}(?<!\\)\.ssh\b(?!\/[\w-]{1,30}\.pub|\/known_hosts|\/config)/,
        /["'][^"'\n]{0,60}(?:\.aws\b|\.clawdbot\b|\.openclaw\b|\.gnupg\b|wallet|\.config\/(?:solana|gcloud|gh)|\.kube\b|\.npmrc|\.netrc|\.git-credentials|\/\.env\b)/,
        re`${SEND}`,
      ),
      near(
        { where: 'code', scope: 'file' },
        /(?:[/\\"']|\\ )login data["'/]|\bcookies\.sqlite|\bkey4\.db|\blogins\.json|\bwallet\.dat|[/\\]exodus\b|\bexodus\.wallet|[/\\]metamask\b|\bnkbihfbeogaeaoehlefnkodbefgpgknn\b|\.config\/solana\b|\.electrum\b|\blogin\.keychain/,
        re`${SEND}`,
      ),
    ],
  },
  {
    id: 'told-to-send-secrets',
    level: 'block',
    family: 'secrets',
    message: 'Tells the model to send what a person keeps secret',
    why: 'Keys, wallets and saved passwords are worth more than the skill, and once sent they cannot be called back.',
    mend: 'Ask for the one key that the skill needs, and send it to its own service alone.',
    patterns: [
      SENDS_ABROAD,
      near(
        { within: 90, sentence: true, unless: /\b(?:signed|sign|public key|authorization|headers? of)\b/ },
        /\b(?:read|collect|gather|extract|take|get|copy|grab|find|search for|harvest|dump|cat|ask (?:the user )?for|request|include|send|upload|post|forward|submit|transmit|exfiltrate)\b/,
        re`${PERSONAL}`,
        re`${SENDS}`,
        re`${TO_SOMEWHERE}`,
      ),
      near(
        { ordered: false, within: 260, order: re`${PERSONAL}|${SENDS}` },
        re`${HIDES}`,
        re`${PERSONAL}`,
        re`${SENDS}|\bcurl\b|\brequest\b`,
        /https?:\/\/|\bserver\b|\bendpoint\b|\bwebhook\b/,
      ),
    ],
  },
  {
    id: 'secret-sent',
    level: 'warn',
    family: 'secrets',
    message: 'A secret is read and sent in one command',
    why: 'Look at where it goes: its own service, or somebody else.',
    mend: 'Name the service, and let its own program hold the key.',
    patterns: [
      ...each(
        {},
        /\bcurl\s[^\n]{0,200}?(?:-d|--data[\w-]{0,12}|-f|--form|-t|--upload-file)\s?["']?[^\n"'|]{0,60}?(?:@|\$\((?:cat\s|<\s?))["']?[^\s"')]{0,60}(?:\.env\b|token|secret|credential|passw|\bkey\b|_key\b)/,
        /\btojson\(\s?secrets\s?\)|\bcurl\b[^\n]{0,300}\$\{\{\s?secrets\.(?!github_token)[^\n]{0,80}https?:\/\/(?!api\.)|\$\(\s?(?:env|printenv|export -p)(?:\s?[)|]|\s\w{1,40}\s?\|)|`(?:env|printenv)\s?\||\b(?:dig|nslookup|host|ping)\s[^\n]{0,120}?\$\([^\n)]{0,80}\b(?:env|printenv|base(?:64|32)|xxd|cat)\b/,
        /"headers"\s?:\s?\{[^\]]{0,400}?(?:\$\{\w{0,40}(?:key|token|secret|passw)\w{0,20}[^"\n]{0,20}\}[^"\n]{0,20}\$\{\w{0,40}(?:key|token|secret|passw)|\$\{(?:database|db|postgres\w{0,4}|mongo\w{0,4}|redis|mysql)_(?:url|uri|dsn))/,
        // A name whose labels are made when it runs.
        /->(?:query|search)\(\s?["']\$\{?\w{1,20}\}?\.(?:[\w-]{1,40}\.){1,4}[a-z]{2,12}["']|\b(?:lookup(?:host|ip|txt|addr|cname)\w{0,6}|gethostbyname\w{0,4}|getaddrinfo|getaddress(?:es)?|getallbyname|dns_get_record|checkdnsrr|dns\.\w{2,14}|resolve_?dns\w{0,8}|resolve-dnsname|resolv\.\w{2,14}|toaddrs|inet_res\w{0,20})[\s(]\s?[^\n]{0,80}(?:%[sdvx]|\}|\$\w{1,20}|["']\s?(?:\+|\.\.|<>|\.)\s?["']|\+\s?["'])\.?(?:[\w-]{1,40}\.){1,4}[a-z]{2,12}\b|\bcurl\b[^\n]{0,200}(?:-h|--header)\s?["']x-[\w-]{1,40}:[^"'\n]{0,60}\$\(/,
      ),
      near(
        { where: 'code', ordered: false, within: 500 },
        /\b(?:base(?:64|32)|xxd -p|od -\w{1,8}|hexlify|b(?:64|32)encode)\b|\btostring\(\s?["'](?:hex|base64)|\bencodetostring\(|\bhex(?:encode|\.encode|dump)\b|\bunpack1?\(\s?["']h\*|\bbin2hex\b|\btohexstring\b/,
        /\b(?:dig|nslookup|drill|resolvectl query|getent hosts)\s[^\n|;]{0,120}?\$|\b(?:host|ping)\s[^\n|;]{0,60}\$\w[^\n|;]{0,60}\.[a-z]|\b(?:gethostbyname|getaddrinfo|resolve[46]?|resolvetxt|dns\.\w{0,10}(?:lookup|resolve|query))\(\s?(?:f["']|[`])[^\n]{0,80}\{/,
      ),
      near(
        { ordered: false, within: 300 },
        /\bgit credential fill\b|\bgh auth token\b|\bsecret-tool lookup\b|\baws configure export-credentials\b|\bdocker-credential-\w{1,20}\s(?:get|list)\b|\b(?:kubectl|oc)\s[^\n|;]{0,60}\bget secrets?\b|\bop read\b|\bpass show\b/,
        re`${SEND}|\bbase64\s?\|\s?tr\b`,
      ),
      near(
        { within: 120, unless: /\bsigned\b/ },
        re`${PERSONAL}`,
        /\b(?:send|post|upload|report|forward|transmit|submit)\b(?: (?:it|them|these|all|those|everything|the (?:contents?|results?|values?)))? (?:back )?to (?:https?:|(?:the |our |a |an )?(?:remote|external|our|central|collection|monitoring) )/,
      ),
    ],
  },
  {
    id: 'undeclared-host',
    level: 'warn',
    family: 'secrets',
    message: 'A program names a host that no text does, beside a secret, code made at run time or an install script',
    why: 'A reader does not learn where a secret may go.',
    mend: 'Say in SKILL.md what the host is for.',
    whole: undeclaredHosts,
  },
  {
    id: 'stray-host',
    level: 'warn',
    family: 'secrets',
    message: 'Sends something to a host that the skill names nowhere else',
    why: 'A service that a skill is for is named often; a place that only receives is not.',
    mend: 'Say what the host is for, and who gets what is sent.',
    whole: strayHosts,
  },
  {
    id: KEY_RULE,
    level: 'warn',
    family: 'secrets',
    message: 'Contains what looks like a key or token',
    why: 'Who gets the skill gets the key, and what was published once cannot be called back.',
    mend: 'Have it replaced by a new one, and name the variable or program that holds it.',
    find: keysIn,
  },
];

// --- internal ---

function* keysIn({ text }: ClassifiedFile): Generator<Match | undefined> {
  for (const found of findKeys(text)) {
    if (found) yield { line: found.line, words: found.masked, message: `Contains what looks like ${found.what}` };
    else yield undefined;
  }
}
