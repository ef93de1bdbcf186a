import type { Pattern } from '../rule.ts';
import { CLAUSE, NOT_IDLE } from '../stance.ts';

/** Parts of expressions for several rules. They match folded text in lower case; all repetitions are bounded. */

/** Joins parts to one expression; a backslash in the template stays a backslash. */
export function re(written: TemplateStringsArray, ...parts: readonly string[]): RegExp {
  return new RegExp(String.raw(written, ...parts));
}

/** Patterns with the same conditions, one for each expression. */
export function each(conditions: Omit<Pattern, 'match'>, ...expressions: readonly RegExp[]): readonly Pattern[] {
  return expressions.map((expression) => near(conditions, expression));
}

/** A pattern whose expressions all match near each other. */
export function near(conditions: Omit<Pattern, 'match'>, ...match: readonly RegExp[]): Pattern {
  return { ...conditions, match };
}

export const PROGRAMS: string =
  'ansible|apt-get|apt|aws|az|brew|bun|cargo|conda|curl|deno|dig|docker|dotnet|ffmpeg|gcloud|gem|gh|git|go|gpg|helm|java|kubectl|nc|ncat|node|npm|npx|nslookup|openssl|osascript|perl|php|pip|pip3|pipx|pnpm|poetry|powershell|psql|pwsh|python|python3|rsync|ruby|scp|ssh|sudo|tar|terraform|uv|uvx|wget|yarn';
export const INSTALLS: string = String.raw`npx|bunx|uvx|pnpx|pnpm dlx|yarn dlx|bun x|npm (?:i|install|exec|init|create|ci)|(?:pnpm|yarn|bun) (?:add|install)|pip[\d.]{0,4} install|pipx (?:install|run)|uv (?:pip install|add|tool install)|conda install|poetry add|brew install|apt(?:-get)? install|apk add|(?:dnf|yum) install|pacman -s|choco install|winget install|scoop install|gem install|cargo (?:install|add)|go (?:install|get)|composer require|docker (?:run|pull)|gh extension install|claude (?:mcp add|plugin install)|code --install-extension`;
export const SHELL: string = String.raw`(?:[\w./-]{0,40}/)?(?:ba|z|da|k|fi|c|tc)?sh`;
export const INTERPRETER: string = String.raw`(?:${SHELL}|(?:[\w./-]{0,40}/)?(?:python[\d.]{0,5}|perl|ruby|node|php|osascript|pwsh|powershell)|iex|invoke-expression)`;
export const FETCH: string = String.raw`(?:curl|wget|bitsadmin|certutil|aria2c|lwp-download|iwr|irm|invoke-webrequest|invoke-restmethod|start-bitstransfer|downloadstring|downloadfile|downloaddata|urlopen|urlretrieve|requests\.get|httpx\.get|axios\.get|http\.get|uri\.open|getstringasync|fetch)`;
/** An internet address with a number as host, also decimal or hexadecimal. */
export const BARE_ADDRESS: string = String.raw`(?:https?|ftp)://(?:[^\s/@"']{1,60}@)?(?!127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0\.0\.0|169\.254\.|1\.1\.1\.1|8\.8\.8\.8)(?:(?:\d{1,3}\.){3}\d{1,3}|0x[0-9a-f]{8}|\d{9,10})(?![\w.])`;
export const PIPE: string = String.raw`(?<!\|)\|&?\s{0,3}`;
export const AS_ROOT: string = String.raw`(?:(?:sudo|doas|env|exec|command|nohup|xargs)\s(?:-[\w-]{1,20}\s){0,3}){0,2}`;
/** Must follow the name of a program that runs its piped input. */
export const END: string = String.raw`(?![\w/-]|\.\w)`;

export const SECRET_STORE: string = String.raw`(?:(?<![)/|^]\\)\.ssh(?![\w-])(?!/[\w-]{1,30}\.pub|/known_hosts|/config)|\bid_(?:rsa|dsa|ecdsa|ed25519)\b(?!\.pub)|\.aws(?:/credentials)?(?![\w-])|\.config/(?:gcloud|gh|solana|op)\b|\.(?:clawdbot|openclaw|moltbot|claude|codex)/(?:\.env|\.credentials|credentials|openclaw\.json|auth|config)|\.kube/config|\.docker/config\.json|\.netrc\b|\.pypirc\b|\.pgpass\b|\bapplication_default_credentials\b|\.git-credentials|\.gnupg\b|\blogin data\b|\bcookies\.sqlite|\bkey4\.db|\blogins\.json|\bwallet\.dat|\bexodus\.wallet|\bmetamask\b|\bnkbihfbeogaeaoehlefnkodbefgpgknn\b|\bsecurity (?:dump|export)-keychain|\bfind-(?:generic|internet)-password|\blogin\.keychain|/etc/shadow|\.(?:bash|zsh)_history)`;
export const ENVIRONMENT: string = String.raw`(?:json\.dumps\(\s?(?:dict\()?os\.environ|dict\(os\.environ|json\.stringify\(\s?process\.env\s?[),]|object\.(?:entries|keys|fromentries)\(\s?process\.env\b(?!\)\s?\.filter\([^/]{0,60}/\^debug_)|(?<![\w-])(?:env|printenv|set|export -p)\s?(?:2?>\s?\S{1,60}|\|(?!printenv|env\b|set\b))|\$\((?:env|printenv)\)|/proc/(?:self|\d{1,7})/environ|\bget-childitem env:|\bgci env:|\bos\.environ\.(?:copy\(\)|items\(\))|str\(os\.environ\)|\bos\.environ\(\)|\benv\.(?:to_h|to_a|each|inspect)\b|\bsystem\.getenv\(\)|\benv::vars\(\)|(?<!\w)%env\b|\bgetenv\(\)|\bdeno\.env\.toobject\(|\bsystem\.get_env\(\)|\bsys\.getenv\(\)|\bprocessinfo\.processinfo\.environment\b(?!\[)|\bgetenvironmentvariables\(\))`;
export const SEND: string = String.raw`(?:\bcurl[^\n]{0,200}?\s(?:-d\b|--data[\w-]{0,12}|-f\b|--form\b|-t\b|--upload-file\b|-x\s?(?:post|put)\b)|\bwget[^\n]{0,120}?--post-(?:data|file)|\b(?:requests|httpx|session|client)\.(?:post|put)\(|\baxios\.(?:post|put)\(|\bmethod['"]?\s?[:=]\s?['"](?:post|put)|\burlopen\([^\n]{0,120}?data\s?=|\.request\(\s?['\"](?:post|put)['\"]|\brequest\([^\n]{0,120}?data\s?=|\bhttps?\.request\(|\brequest\.request\(\s?[^\n,()]{1,80},\s?(?:json\.dumps|data|body|payload)\b|\b(?:nc|ncat|netcat)\s(?:-[\w]{1,5}\s){0,3}[\w.-]{3,60}\s\d{2,5}|\bscp\s[^\n]{0,120}?@?[\w.-]{3,60}:|\.sendall\(|\bsenddocument\b|\bsendmessage\b|\bsftp\.put\(|\b(?:http|net::http|httpoison|req|got|superagent|urllib3?|https?client|http\.client|restclient|faraday|mechanize|ureq|reqwest|httr2?)(?:\.|::)(?:post|put)\w{0,6}!?\(|(?:->|\)\.)(?:post|put)\(|\b(?:post|put)async\(|\bcurlopt_post(?:fields)?\b|\.open\(\s?[\"']post[\"']|\bhttpmethod\s?=\s?[\"']post|\bhttp\.newrequest\w{0,12}\([^\n]{0,40}post|\bbodypublishers\.|\burl-request-method\s[\"']post|\bhttp::geturl\b|\brawsend\b|\binvoke-(?:restmethod|webrequest)\s[^\n]{0,120}?-(?:method\s(?:post|put)|body|infile)|\b(?:irm|iwr)\s[^\n]{0,120}?-(?:method\s(?:post|put)|body|infile)|\.sendmail\(|\buploadstring\(|\buploadfile\(|\bnavigator\.sendbeacon\()`;
/** A program writes or copies a file. */
export const WRITE: string = String.raw`(?:\b(?:write|append)_?(?:file|text|bytes)\w{0,6}\(|\b(?:open\([^\n)]{0,120}|open\()["'][wa]b?\+?["']|\bcopy(?:file\w{0,4}|2)?\(|\b(?:set|add)-content\b|\bout-file\b|>>?\s?["']?[~$/])`;
/** Sites that accept data from everyone, without a login. */
export const DROP: string = String.raw`(?:webhook\.site|requestbin|requestcatcher\.com|pipedream\.net|ngrok(?:-free)?\.(?:io|app|dev)|burpcollaborator|oast(?:ify)?\.(?:fun|pro|live|site|me|online|com)|interact\.sh|beeceptor\.com|hookbin|trycloudflare\.com|bore\.pub|serveo\.net|loca\.lt|localtunnel|discord(?:app)?\.com/api/webhooks|api\.telegram\.org/bot\d|transfer\.sh|file\.io|0x0\.st|gofile\.io|catbox\.moe|anonfiles|temp\.sh|oshi\.at|bashupload|paste\.rs|pastebin\.com/api)`;
export const QUOTED: RegExp = /["“]$/;
/** A row, a help text or a sentence that says what a flag does. */
export const EXPLAINS_A_FLAG: RegExp =
  /(?:\bhelp\s?=\s?["']|(?<![\w-])--?[a-z][\w-]{0,30}(?:[=\s]<?[\w.]{1,20}>?)?["'`]{0,2}(?:\s{0,3}[|:,—–#(]|\s{2}|\s(?:flag )?to\s))[^\n.]{0,60}\b(?:skip|bypass|suppress|omit|disable|without|overwrite)/;
/** Before a match: it means the opposite, like "never". */
export const NEGATED: RegExp = re`(?:\b(?:never|not|no|cannot|avoid|don['’]t|refuse|instead of|without|won['’]t|prevents?|against)\b${NOT_IDLE}${CLAUSE}|["“])$`;
export const ADDRESS: string = String.raw`https?://(?!localhost|127\.|0\.0\.0\.0|www\.w3\.org|your|\{|<|\$)[^\s"'\`)]{4,200}`;
