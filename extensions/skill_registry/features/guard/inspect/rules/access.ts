import type { Rule } from '../rule.ts';
import { OFFICIAL } from './official-installers.ts';
import { ADDRESS, each, NEGATED, near, re, SECRET_STORE } from './words.ts';

const SECRET = String.raw`(?:api[- ]?keys?|passwords?|credentials?|access tokens?|environment variables|private keys?|\.env(?: files?)?)`;

const KEPT_KEYS = String.raw`(?:\.(?:npmrc|netrc|pypirc|pgpass|git-credentials)\b|\.docker/config\.json|\.kube/config\b|(?<![\w-])\.aws\b|\.gnupg\b|\.config/gh\b|\bid_(?:rsa|ed25519)\b(?!\.pub)|\bprintenv\b|\boutput of env\b)`;

/** A user without rights inside a container, and a host of samples. */
const OF_AN_IMAGE =
  /\brun\s[^\n]{0,160}\b(?:adduser|useradd)\b|\buseradd\s-\w{0,3}r\b|\badduser\s(?:-s|--system)\b|\/\/(?:[^\s/@]{1,40}@)?[\w.-]{0,40}(?:example|company|corp|proxy)\.(?:com|org|net)\b/;
const MUCH_USED =
  'requests numpy pandas scipy matplotlib tensorflow django flask pytest selenium pillow cryptography urllib3 boto3 fastapi pydantic sqlalchemy setuptools beautifulsoup4 openai anthropic react express lodash axios typescript webpack eslint prettier commander chalk moment dotenv jsonwebtoken puppeteer playwright mongoose';
/** A letter is missing, doubled, or changed with the next one. */
const MISSPELT: string = MUCH_USED.split(' ')
  .flatMap((name) =>
    [...name].flatMap((letter, at) => {
      const [before, next = '', rest] = [name.slice(0, at), name[at + 1], name.slice(at + 2)];
      return [before + next + rest, before + letter + letter + next + rest, before + next + letter + rest];
    }),
  )
  .filter((name) => !` ${MUCH_USED} request panda urllib boto slint beautifulsoup `.includes(` ${name} `))
  .join('|');

export const ACCESS: readonly Rule[] = [
  {
    id: 'collects-secrets',
    level: 'warn',
    family: 'secrets',
    message: 'Reads, asks for or writes down what a person keeps secret',
    why: 'What stands in a log, a report or a repository is read by others.',
    mend: 'Name the one key that the skill needs and the program that holds it.',
    patterns: [
      ...each(
        {
          where: 'prose',
          unless: /\b(?:chmod|ssh-add|ssh-keygen|identityfile|ssh -i|mkdir|rotate|revoke|leaked|compromised)\b/,
          unlessBefore: NEGATED,
        },
        /(?<!\.\.)\/etc\/(?:passwd|shadow|sudoers)\b|(?<!-i ['"]?)(?:~|\$home|home)\/\.ssh\b(?!\/config|\/known|\/[\w-]{1,30}\.pub|[^\n]{0,60}\bssh -i\b)|\b(?:read|extract|collect|dump|steal|export|copy|grab|harvest|upload|send|scrape|decrypt)(?:s|ing)?\b[^.\n]{0,30}\bbrowser (?:history|cookies|bookmarks)\b|\bbrowser passwords\b|\bsaved passwords\b/,
        re`\b(?:write|log|print|save|store|include|add|append|echo|dump|output|commit|put|record|show|embed|attach)\b[^.\n]{0,40}\b${SECRET}\b(?:(?!\b(?:not|never|instead|without)\b)[^.\n]){0,40}\b(?:to|in|into|with|at)\b(?:(?!\b(?:not|never|instead|without|secret)\b)[^.\n]){0,25}(?:\b(?:logs?|log file|report|output|response|commit|plain ?text|stdout|summary|message|repo|repository)\b|/tmp\b)`,
        /\b(?:ask|request|prompt|include|send|collect|submit|forward)\b[^.\n]{0,40}\b(?:their|user's|users'|your|the user for (?:the|a)) [^.\n]{0,20}\b(?:passwords?|credit cards?|card numbers?|cvv|ssn|social security|passport|bank account)\b/,
      ),
      near(
        { where: 'prose', ordered: false, within: 90, sentence: true, unlessBefore: NEGATED },
        /\b(?:submit|hand|attach|include|paste|upload|send|post|share|forward|email|append|report|transmit|deliver|return)(?:s|ing|ed)?\b/,
        re`${KEPT_KEYS}`,
      ),
      // What belongs to another program.
      near(
        { where: 'prose', ordered: false, within: 120, sentence: true, unlessBefore: NEGATED },
        /\b(?:any|all|every|each|the) (?:other|another) (?:tools?|skills?|agents?|servers?)\b|\banother (?:tool|skill|agent|server)\b/,
        /\b(?:pass(?:words?|phrases?)|api[- ]?keys?|secrets?|credentials?|access tokens?|private keys?)\b/,
        /\b(?:pass|hand|give|route|copy|enter|send|put|include|repeat)\b(?:(?! to the user)[^.\n]){0,40}\b(?:through|to|via|into|in|with) (?:this|the argument|the parameter|the field)\b/,
      ),
      ...each(
        { unlessBefore: NEGATED },
        re`\b(?:commit|push|git add)\b[^.\n]{0,20}\.env\b(?!\.)|\b(?:cp|cat|tar|zip|rsync)\s[^\n|;&]{0,80}?${SECRET_STORE}[\s\S]{0,300}?\b(?:git (?:add|commit|push)|gh (?:gist|issue|pr) create)\b`,
      ),
      near(
        { where: 'prose', ordered: false, within: 160, sentence: true, unlessBefore: NEGATED },
        /\b(?:begin|start|prefix|put|include|append|add|send|show|paste|attach|write|mention|quote|carry|use)s?\b/,
        re`\b(?:(?:first|last|each|every) lines?|contents?|values?|everything|what stands|text) (?:of|in|from)\b[^.\n]{0,40}?(?:(?<![\w*])\.env\b(?!\.)|${KEPT_KEYS})`,
      ),
    ],
  },
  {
    id: 'opens-access',
    level: 'warn',
    family: 'permissions',
    message: 'Opens the machine, an account or data to others',
    why: 'Access that is given for one task stays after it.',
    mend: 'Let the user decide who gets access, and how long.',
    patterns: [
      ...each(
        { unless: OF_AN_IMAGE, unlessBefore: NEGATED },
        re`\bhttps?_proxy\s?=\s?["']?${ADDRESS}|\bproxy\b[^.\n]{0,20}${ADDRESS}|\b(?:anthropic|openai|gemini|google_genai|azure_openai|mistral|groq|codex|llm|copilot)_(?:api_)?(?:base(?:_url)?|host|endpoint|proxy)["']?\s?[:=]{1,2}\s?["']?(?!https://(?:api|[\w.-]{2,40})\.(?:openai|anthropic|azure|googleapis|mistral|groq|openrouter|deepseek)\.)${ADDRESS}`,
        // A page of the web that runs what it is sent.
        /(?:(?<![.\w])(?:eval|exec\w*|system|popen|shell_exec|passthru|spawn|assert)|\b(?:child_process|cp|os|subprocess)\.\w{2,12})\s?\(\s?[^\n)]{0,40}(?:\$_(?:get|post|request|cookie|server)\b|\breq(?:uest)?\.(?:query|body|headers|params|args|form|get|cookies)|\bparams\[)/,
        /\b(?:useradd|adduser|usermod|visudo|nopasswd)\b|\/etc\/sudoers|\bnet (?:user|localgroup)\b[^\n]{0,60}\/add\b/,
        /\bchmod\b[^\n]{0,20}\b(?:0?777|0?666|[aou]\+w|(?:a|ugo)\+rwx|u\+s|4755)\b|\bpermissions?\b[^.\n]{0,50}\b(?:777|666|world-writ\w{2,6})\b/,
        /(?<=(?:^|\n)\s{0,8}(?:on:\s{0,12})?)pull_request_target\b[\s\S]{0,1200}\bhead\.(?:sha|ref)\b|(?<=(?:^|\n)\s{0,8})permissions:\s?write-all\b/,
        /["']principal["']\s?:\s?(?:["']\*|\{\s?["']aws["']\s?:\s?["']\*)|\bclusterrolebinding\b[^\n]{0,160}\bcluster-admin\b|\bmember[= ]["']?allusers\b|\bgrant all\b[^\n;]{0,60}\bto (?:public|anon)\b|>>?\s?["']?\/etc\/hosts\b|\badd-trusted-cert\b|\bcertutil\b[^\n]{0,20}-addstore\b/,
        /\bngrok\s(?:http|tcp)|\bcloudflared tunnel --url|\bbore local|\bssh\s[^\n]{0,40}-r\s\d|\b(?:nc|ncat)\s-\w{0,3}l\w{0,3}\b|\bsocat tcp-l|\bchisel (?:client|server)|\bserveo\.net/,
      ),
      ...each(
        {},
        /(?:(?<![\w-])(?:-v|--volume|-)|\bsource=)[\s=]?["']?(?:~|\$\{?(?:localenv:)?home\}?)\/\.(?:aws|ssh|kube|gnupg|docker|config)\b[^\n]{0,30}?[:,]/,
        /\barn:aws:iam::(?!123456789012|111122223333|(\d)\1{11})\d{12}:root\b|\bhostpath["']?\s?:[\s{]{1,40}path["']?:\s?["']?\/["']?\s?(?=[\n},])|\brepos\/[^\s"'`]{1,80}\/collaborators\/[\w{$<-]|(?<=(?:^|\n)\s{0,4})host \*\s[^#]{0,160}?\b(?:proxyjump|proxycommand|forwardagent yes)\b|--remote-debugging-address[= ](?!127|localhost)|--remote-allow-origins=["']?\*|\bage1[a-z0-9]{50,}|(?<!(?:hub|lab)\.com[ ,"':]{1,4})\bssh-(?:ed25519|rsa) aaaa[\w+/]{40,}|\bgpg2?\s[^\n|;]{0,80}\s(?:-r|--recipient|--encrypt-to)[ =]["']?(?:(?:0x)?[\da-f]{8,40}\b|[\w.+-]{2,40}@(?!example|\w{0,10}your|domain|company)[\w-]{2,40}\.)|(?<=["'])repo:(?!\*|your|my|org|owner|user|octo|example|acme|company|github)[\w.-]{2,40}\/\*(?=["':])|\bwith superuser\b|\b(?:create|alter) (?:role|user)\b[^\n;]{0,80}\bsuperuser\b|\bto program '|\bxp_cmdshell\b/,
        // Whoever knows a word in the code comes in.
        /\b(?:headers?|cookies?|query|passw\w{0,6}|token|user_?agent)\b[^\n]{0,40}={2,3}\s?["'][^"'\n]{6,60}["'][^\n]{0,40}\n?[^\n]{0,30}(?:\breturn true\b|\bnext\(|["']?admin\b|\bsuperuser\b)|\b(?:createhash|sha(?:1|256|512)|md5|hexdigest)\b[^\n]{0,60}\b(?:headers?|cookies?|query|user_?agent)\b[^\n]{0,80}(?:={2,3}\s?\w|\bhmac\.compare_digest|timingsafeequal)/,
      ),
      near(
        { ordered: false, within: 500 },
        /\b(?:createhash|sha(?:1|256|512)|md5|hexdigest|hash|digest)\b/,
        /\b(?:req(?:uest)?(?:\.|->|\[)|headers?\b|cookies?\b|query\b|\$_(?:get|post|server|cookie|request)\b|params\b)/,
        /\b(?:timingsafeequal|compare_digest|hash_equals|constanttimecompare|secure_compare|equals)\b|={2,3}\s?\w/,
        /["'`](?:[\da-f]{32}|[\da-f]{40}|[\da-f]{64}|[\da-f]{128})["'`]/,
      ),
      // The folder of a person for everybody in the network.
      near(
        { where: 'code', ordered: false, within: 400 },
        /\bsimplehttprequesthandler\b|\bhttp\.fileserver\b|\bexpress\.static\(|\bserve_dir\b|\bhttp\.server\b|\bstatichandler\b|\bservefiles\(/,
        /\bexpanduser\(["']~["']|\bpath\.home\(\)|\bhomedir\(\)|\buserhomedir\(\)|\bdir\.home\b|\benv\.home\b|\$home\b|(?:directory|dir|root)\s?[=:]\s?["']\/["']/,
      ),
      near(
        { ordered: false, within: 400 },
        /\bprivileged:\s?true\b|(?<![\w-])--privileged\b|\bpid:\s?["']?host\b|--pid[= ]host\b/,
        /\/var\/run\/docker\.sock\b|(?:(?<![\w.])-v\s?|-\s)["']?(?:\/|\$\{?home\}?|~|\/etc[\w./]{0,20}|\/root):\/\w/,
      ),
      ...each(
        { where: 'prose', unlessBefore: NEGATED },
        /\b(?:create|add|register)\b[^.\n]{0,30}\b(?:(?<!non-)(?:admin|administrator|sudo|root|superuser|backdoor)\b[^.\n]{0,15}\b(?:user|account|login)|(?:user|account)\b[^.\n]{0,30}\b(?:admin|sudo|root)\b[^.\n]{0,10}\b(?:rights|access|privileges|permissions))\b|\bgrant(?:s|ing)? (?!you|me|yourself|us)[^.\n]{0,40}\b(?:admin|administrator|owner|root|sudo|full)\b[^.\n]{0,12}\b(?:access|rights|role|permissions?|privileges)\b|\badd\b[^.\n]{0,40}\bas (?:an? )?(?:collaborator|admin|administrator|owner|maintainer)\b/,
        /\b(?:make|set|expose|open|leave)\b[^.\n]{0,30}\b(?:bucket|storage|repositor(?:y|ies)|repo|folder|files?|database|port|server|endpoint|drive|documents?|dashboard|share)\b[^.\n]{0,25}\b(?:public(?:ly)?|world-readable|to (?:everyone|anyone|the internet)|0\.0\.0\.0\/0|anonymous)\b|--acl public|\bpublic-read(?:-write)?\b|\ballow(?:ing)? all origins/,
        /\b(?:hidden|secret|backdoor|covert)\b(?: \w{1,15}){0,2} (?:account|users?|admin|endpoint|route|channel|backdoor)\b|\b(?:add|install|create|leave|insert)\b[^.\n]{0,20}\bbackdoor/,
      ),
    ],
  },
  {
    id: 'installs-from-elsewhere',
    level: 'warn',
    family: 'download and run',
    message: 'Installs or runs what comes from an address instead of a registry',
    why: 'A registry keeps versions and takes bad ones back; an address sends what its owner wants.',
    mend: 'Name a package of a package registry such as npm, and its version.',
    patterns: [
      ...each(
        {
          unless:
            /download\.pytorch|pypi\.nvidia|registry\.npmmirror|pypi\.tuna|mirrors\.\w{2,12}\.|test\.pypi|\/\/pypi\.org/,
          unlessBefore: NEGATED,
        },
        /\b(?:pip3?|npm|pnpm|yarn|gem)\s(?:install|i|add)\b[^\n|;&]{0,80}?(?:\shttps?:\/\/(?!github\.com|localhost)|--(?:extra-)?index-url|--trusted-host|--registry[ =]https?:\/\/(?!registry\.npmjs))|\bpip3?\sconfig\s(?:--\w{1,10}\s)?set\s[\w.-]{1,30}index-url\b|\b(?:pip|uv)_(?:extra_)?index_url\s?=|\b(?:goproxy|hf_endpoint|npm_config_registry|uv_(?:default_)?index|yarn_registry\w{0,8}|rustup_dist_server|(?:electron|nvm_nodejs_org|sass_binary)_mirror|(?:playwright|puppeteer)_download_(?:host|base_url))["']?\s?[:=]\s?["']?https?:\/\/(?!proxy\.golang|goproxy|localhost|[\w.-]{0,30}(?:hf-mirror|rsproxy|npmmirror|ustc|tuna)\.)|"registry-mirrors"\s?:|\bnpm config set registry\b(?!\s{0,2}https:\/\/registry\.npmjs)|(?<=(?:^|\n)\s{0,4})(?:--)?(?:(?:extra-)?index-url\s?[= ]\s?https?:|trusted-host\b|find-links\s?[= ]\s?https?:)/,
      ),
      ...each(
        { unless: OFFICIAL, unlessBefore: NEGATED },
        /\b(?:curl|wget)\b[^\n|;&]{0,160}?(?:\s-o|\s-\w{0,3}o\b|>)\s?(\S{2,80})[^\n]{0,60}(?:\n|&&|;)[^\n]{0,60}(?:chmod \+x|bash|sh|python3?|node)\s\1/,
        re`\b(?:run|execute|launch|install|source)\b (?:the |a |this |our )?(?:\w+ ){0,3}(?:script|program|binary|installer|file|tool|helper|agent|update)\b[^.\n]{0,30}\b(?:from|at|hosted at|located at)\b[^\n]{0,10}${ADDRESS}`,
      ),
      ...each(
        { unlessBefore: NEGATED },
        re`\b(?:pip3?|npm|pnpm|yarn|bun|uv)\s(?:pip\s)?(?:install|i|add)\s(?:[^\n;|&]{0,80}\s)?(?:${MISSPELT})(?![\w.-])`,
        /"(?:pre|post)install"\s?:\s?"(?!husky|patch-package|lefthook)|\$\(shell\s[^)\n]{0,120}(?:\bcurl|\bwget|base64|\bpython\S{0,2} -c)|<exec command="[^"\n]{0,200}(?:\bcurl|\bwget|powershell|\b(?:ba)?sh\b)|"<!\(|\bexecute_process\(\s?command\s(?:curl|wget|(?:ba)?sh|python)|\\write18\s?\{[^}\n]{0,200}(?:curl|wget|sh\b|python)/,
      ),
      ...each(
        {},
        re`(?<![\w./-])(?:${MISSPELT})(?=(?:\[\w{1,20}\])? ?[=~>]= ?\d{1,4}\.\d|": ?"[~^]?\d{1,4}\.\d)`,
        // A name that gets what belongs to another one, or comes from an address.
        /(?<="(?!plugin|url|from|source|repo)[\w@/.-]{2,60}"\s?:\s?")(?:github:[\w-]|npm:@?[\w./-]{2,60}@|git\+https?:\/\/(?!github\.com\/)|https?:\/\/(?!github\.com\/|registry\.(?:npmjs|yarnpkg)\.)[^"\n]{4,200}\.(?:tgz|tar\.gz)")|(?<=(?:^|\n)\s{0,4})(?:@[\w-]{1,40}:)?registry\s?=\s?https?:\/\/(?!registry\.npmjs)|(?<=(?:^|\n)\s{0,4}[\w.-]{2,40}(?:\[\w{1,20}\])?\s@\s)(?:git\+)?https?:\/\/(?!github\.com\/)|(?<=(?:^|\n)\s{0,4})replace\s[\w./-]{3,80}\s=>\s[\w-]{1,40}\.\w|(?<="resolved"\s?:\s?")https?:\/\/(?!registry\.(?:npmjs|yarnpkg)|codeload\.github|github\.com)[^"\n]{4,200}|(?<=\bmaven\s?\{\s{0,3})url[\s=(]{1,4}(?:uri\()?["']https?:\/\/(?!repo\d?\.maven|maven\.google|jitpack|plugins\.gradle|[\w.-]{0,40}(?:jetbrains|sonatype|apache|spring)\.)|(?<=<repository>[^<]{0,40}(?:<(?:id|name)>[^<]{0,60}<\/\w{2,4}>\s{0,12}){0,2})<url>https?:\/\/(?!repo|maven\.)|<add key="[^"\n]{1,40}" value="https?:\/\/(?!api\.nuget|[\w.-]{0,40}(?:azure|github|microsoft)\.)|(?<=(?:^|\n)\s{0,4})source ["']https?:\/\/(?!rubygems|github\.com)|(?<=\binputs\.[\w.-]{1,40}\.)url\s?=\s?["'](?:git\+|tarball\+)?https?:\/\/(?!github|flakehub|[\w.-]{0,20}nixos)|\buses:\s?(?!actions|github|docker|aws-actions|azure|google)[\w-]{1,40}\/[\w./-]{1,60}@(?:main|master|head|latest)\b(?=[\s\S]{0,400}\bsecrets\.)|(?<=\b(?:from|import)\s?\(?["'`])https?:\/\/(?!deno\.land|esm\.sh|jsr\.io|cdn\.|unpkg|raw\.githubusercontent|[\w.-]{0,40}(?:skypack|jsdelivr|gstatic|googleapis|jspm)\.)[^"'`\n]{4,200}\.m?[jt]s\b|\btap\s["']?[\w-]{1,40}\/[\w-]{1,40}["']?,?\s["']?https?:\/\/(?!github\.com\/)|(?<=(?:^|\n)[\s`]{0,4}|\bby `)from (?!docker\.io|public\.ecr|mirror\.gcr|ghcr|quay)[\w-]{1,60}(?:\.[\w-]{1,40}){1,3}\/library\//,
      ),
    ],
  },
];
