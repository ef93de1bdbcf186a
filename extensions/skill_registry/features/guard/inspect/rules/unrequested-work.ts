import type { Rule } from '../rule.ts';
import { ADDRESS, each, NEGATED, near, re, SEND, WRITE } from './words.ts';

const AT = String.raw`@(?!example\.|company\.|acme\.|domain\.|email\.|your|users\.noreply|mail\.com|test\.)[\w-]{2,40}(?:\.[a-z][\w-]{1,20}){1,3}\b`;
const MAIL = String.raw`(?<![\w.@/])[\w.+-]{2,40}${AT}`;

export const UNREQUESTED_WORK: readonly Rule[] = [
  {
    id: 'falsifies-work',
    level: 'warn',
    family: 'instructions',
    message: 'Tells the model to falsify, to favour somebody, or not to report something',
    why: 'The user relies on what the model says.',
    mend: 'Leave the judgement to the model and the user.',
    patterns: [
      ...each(
        { unlessBefore: NEGATED },
        /\b(?!clear evidence\b)(?:delete|clear|erase|wipe|purge|truncate|remove|cover|hide)\b (?:the |any |all |your )?(?:\w{1,12} )?(?:audit (?:log|trail)s?|traces(?! older\b)|evidence|activity|tracks|shell history|command history|bash history)\b|\bwevtutil(?:\.exe)? cl\b|\bclear-eventlog\b|>\s?["']?\/var\/log\/|\bauditctl\s-(?:e 0|d)|\bset \+o history\b|\bhistfile=\/dev\/null|\bhistsize=0|\b(?:truncate|delete|clear|wipe|erase|remove)\b[^.\n]{0,30}\blogs?\b[^.\n]{0,30}\b(?:hide|so that|traces?|no(?:body| one))\b/,
      ),
      // Changes a file and gives it back its time.
      ...each(
        { where: 'code' },
        /\b(?:failures|errors|failed|numfailed\w{0,6})\\?["']?(?:=|:|,\s?["']0)(?<=\b(?:g?sub!?|replace\w{0,5}|sed|preg_replace|setattribute|set)\b[^\n]{0,60})[^\n]{0,20}/,
        re`\b(?:st_)?mtime\w{0,3}\b[\s\S]{0,200}?(?:${WRITE}|\bfile\.write\()[\s\S]{0,200}?\butimes?(?:sync)?\(`,
      ),
      ...each(
        { where: 'prose', unlessBefore: NEGATED },
        /\b(?:always|must)\b[^.\n]{0,30}\b(?:recommend|state|say|claim|prefer|promote|favou?r|praise|advertise)\b[^.\n]{0,60}\b(?:best (?:choice|option|product|tool|service)|superior|instead of (?:the )?(?:competitors?|others?|alternatives)|competitors?|sponsored|premium|our products?)\b/,
        /(?<=\b(?:is|are|be|stays?|remains?) )(?:left out of|omitted from|dropped from|excluded from|removed from|kept out of|absent from)\b[^.\n]{0,20}\b(?:report|findings|summary|review|results|minutes)\b|(?<=\b(?:not|never) (?:be )?)(?:counted|listed|mentioned|reported|shown|logged|flagged)[^.\n]{0,20}\b(?:as skipped|entirely|anywhere)\b|\bnot even as (?:an? )?["'`*]{0,2}(?:low|info|note|skipped)|\bapprove\w{0,2}\b[^.\n]{0,40}\bwithout (?:an? |any )?(?:finding|comment|remark|question|note)s?\b|\bgit_(?:committer|author)_date\s?=|--amend\b[^\n]{0,60}--date\b/,
        /\b(?:write|mark|record|list|count|report|log|show|enter|note|score|grade|label)\b(?<=(?:^|\n|[,:.;(]\s|\b(?:then|and|must|should|just|to|still)\s|\d[.)]\s)\w{3,6})[^.\n]{0,40}\bas ["'`*]{0,2}(?:pass(?:ed|ing)?|green|ok|success\w{0,4}|verified|complian\w{1,2}|clean|on time|done)\b(?<=\b(?:fails?|failed|failing|failures?|red|flaky|skipped|broken|wrong|missing|overdue)\b[\s\S]{0,220})|\b(?:failures|errors)=["']?0\b(?<=\b(?:edit|change|set|replace|write|rewrite|so that)\b[\s\S]{0,80})/,
        /\b(?:say|claim|report|state|write|tell|answer|conclude)\b[^.\n]{0,30}\b(?:that )?(?:the |all |every )?(?:suite|tests?|build|scan|audit|checks?|backup|migration|run)\b[^.\n]{0,20}\b(?:is|are|was|were)\b[^.\n]{0,12}\b(?:stable|green|clean|passed|passing|complete|successful|fine)\b/,
        /\bneeds? no (?:reading|review\w{0,3}|checks?|checking|testing|verification)\b|\b(?:rate|score|mark|grade|classify|rank)\b[^.\n]{0,60}\b(?:even|also) (?:if|where|when)\b[^.\n]{0,40}\b(?:says?|claims?|states?|shows?|otherwise|contrary)\b/,
        /\b(?:approve|accept|merge|rate|pass)\b (?:all|every|any|each)\b[^.\n]{0,60}\b(?:without|regardless|automatically|no matter)\b|\b(?:approve|accept|merge|deploy|publish|release|ship|trust)\b[^.\n]{0,30}\bwithout (?:any |further |a |prior )?(?:review|reviewing|reading|verif\w{2,9}|validat\w{2,6}|testing|checking|inspection|approval)\b|\bmark (?:them|it|these|this|the tests?|all|every\w{0,5})\b[^.\n]{0,30}\bas (?:passed|passing|resolved|safe|successful|verified|low)\b|\b(?:report|claim|say|pretend) (?:that )?(?:success|it (?:passed|succeeded|worked)|(?:all )?(?:the )?tests? pass\w{0,3})\b[^.\n]{0,30}\b(?:even if|even when|regardless|anyway)\b/,
        re`\b(?:insert|include|embed|append|place|put|add)\b[^.\n]{0,40}(?<!-)\b(?:link|url|pixel|script|banner|footer|ad|advertisement|watermark|signature|tracker|iframe)s?\b[^\n]{0,60}(?:${ADDRESS}|<img|<script src)`,
        /\b(?:falsify|fabricate|forge|backdate|misreport|tamper with) (?:\w{1,15} ){0,3}(?:dates?|numbers?|values?|amounts?|figures|reviews?|results?|citations?|totals?|logs?|data|records?|signatures?|entries)\b|\b(?:write|generate|post|create|leave) (?:fake|false|fabricated) (?:reviews?|ratings?|results?|data|citations?|testimonials?)\b|\b(?:alter|change|replace|modify|inflate|shift|multiply)\b[^.\n]{0,40}\b(?:dates?|numbers?|values?|amounts?|figures|totals?|prices?|balances?|scores?)\b[^.\n]{0,40}\b(?:with zeros?|to zero|randomly|slightly|secretly|silently|by (?:one|two|a|\d{1,3}) (?:year|month|day|percent|%))/,
      ),
      ...each(
        {
          where: 'prose',
          unless:
            /\b(?:false positives?|publicly|theoretical|duplicates?|already|hypothetical|unless|low[- ]confidence|speculative|without evidence)\b/,
        },
        /\b(?:never|do not|don['’]t|avoid|omit|exclude|suppress|hide)(?:ing)? (?:report\w{0,3}|flag\w{0,4}|mention\w{0,3}|rais\w{1,3}|list\w{0,3}|disclos\w{1,3}|any|all)\b[^.\n]{0,30}\b(?:vulnerabilit\w{1,4}|security (?:issues?|problems?|findings?|risks?|warnings?)|incidents?|malware|suspicious)\b/,
      ),
    ],
  },
  {
    id: 'acts-in-users-name',
    level: 'warn',
    family: 'instructions',
    message: 'Pays, buys, posts or accepts something in the name of the user, or watches the user',
    why: 'What is done in a person’s name binds the person.',
    mend: 'Let the user do it, or ask each time.',
    patterns: [
      near(
        { where: 'code', scope: 'file' },
        /\bpbpaste\b|\bxclip\b[^\n]{0,20}-o\b|\bwl-paste\b|\bget-clipboard\b|\bpyperclip\.paste\(|\bclipboard\.readtext\(|\bimagegrab\b|\bscreencapture\b|\bpyautogui\.screenshot\(|\bpynput\b|\bkeyboard\.(?:on_press|hook|record)\(|\bgetasynckeystate\b|\bread\s-\w{0,3}s\w{0,2}\b|\bgetpass\.?(?:getpass)?\(|\bread-host\s-assecurestring|(?:zenity|kdialog) --password|\b(?:context|page|browser)\.(?:cookies|storage_?state)\(|\bdocument\.cookie\b|\bbrowser_?cookie3\b|\bnetwork\.getallcookies\b/,
        re`${SEND}`,
      ),
      near(
        { where: 'code', ordered: false, within: 300 },
        /\b(?:amount|total|value|sum|price|balance|gross|net|cents|lamports|wei|sats)\w{0,8}["'\])]{0,4}\s?(?:>=?|-g[te]|\.compareto\()\s?["']?\d{3}|\b(?:set-?clipboard|pbcopy|xclip|(?:pyper)?clip(?:board)?\.(?:copy|set\w{0,6}|writetext))\b/,
        /["'`](?:0x[\da-f]{40}|bc1[a-z\d]{20,60}|(?=[a-z]{0,40}\d)[1-9a-hj-np-z]{32,44}|[a-z]{2}\d{2} ?(?:[a-z\d]{4} ?){2,7}[a-z\d]{0,4})["'`]|\b(?:bc1|0x)\[/,
      ),
      ...each(
        { where: 'prose', unlessBefore: NEGATED },
        /\b(?:transfer|send|pay|donate|withdraw|forward|sweep|tip|route|redirect|settle|direct|deposit|remit|book|replace|put|use|enter|write)\b[^\n]{0,80}\b(?:to|with|as|in)\b[^\n]{0,40}\b(?:0x[0-9a-f]{40}|bc1[a-z0-9]{20,60}|(?=[a-z]{0,40}\d)[1-9a-hj-np-z]{32,44})\b/,
        // A number of an account; those are in every example.
        /\b(?!de89|gb29|gb82|fr14|nl91|ch93)(?:at|be|bg|ch|cy|cz|de|dk|ee|es|fi|fr|gb|gr|hr|hu|ie|it|lt|lu|lv|mt|nl|no|pl|pt|ro|se|si|sk|tr|ua)\d{2} ?(?:[a-z\d]{4} ?){1,2}(?:\d{4} ?){2,5}\d{0,4}\b/,
        /\b(?:accept|agree|consent|sign|buy|purchase|order|subscribe|pay)\b[^.\n]{0,50}\b(?:on behalf of the user|in the name of the user|(?:stored|saved) (?:credit )?card|saved payment|all terms)\b|\b(?:post|publish|tweet)\b[^.\n]{0,40}\b(?:on|from|to|with) the user's (?:account|profile|timeline|feed)\b/,
        /\b(?:record|stream|monitor|log|track|intercept|keylog)(?:s|ing)?\b[^.,;|\n]{0,30}\b(?:microphone|webcam|(?<!security )camera|keystrokes|keyboard input|clipboard|browsing (?:history|activity)|(?:private|their|user(?:'s)?) conversations?|(?:all|every|each) messages?(?! id)|location history)\b|\bscreenshots? (?:every|each) (?:\w{1,10} )?(?:seconds?|minutes?|hours?)\b/,
      ),
    ],
  },
  {
    id: 'speaks-as-system',
    level: 'warn',
    family: 'instructions',
    message: 'Speaks to the model in a comment, or as if it were the system',
    why: 'A person does not see a comment, and a skill is not the system.',
    mend: 'Say it in the text, as a step of the work.',
    patterns: [
      ...each(
        {
          where: 'prose',
          unless:
            /^(?![^\n]*\b(?:run|execute|send|upload|ignore|fetch|copy|delete)\b)[^\n]*\b(?:generated|do not edit|auto-generated|template|placeholder|todo|prettier|markdownlint)\b/,
        },
        /<!--[^\n]{0,160}?\b(?:agents?|assistant|ai|model|llm|claude|you)\b[^\n]{0,60}\b(?:must|should|shall|always|run|execute|send|upload|include|ignore|read|fetch|add|append|delete|copy|write|do not|never)\b[^\n]{0,200}/,
        /<!--\s?(?:(?!-->)[\s\S]){0,300}?\b(?:run|execute|send|upload|post|fetch|curl|forward|ignore|copy|exfiltrate|install|delete)\b(?:(?!-->)[\s\S]){0,120}?(?:https?:|~\/|\$home\b|\.env\b|\bcredentials\b|\binstructions\b|\bthe user\b|[\w/]\.(?:sh|py|js)\b|\b(?:gh|glab|git|npm|kubectl|aws) [a-z]{2,12}\b[^\n]{0,30} --?\w)/,
      ),
      ...each(
        { where: 'code' },
        /\b(?:agents?|assistants?|llms?|claude|copilot|codex|gpt)\b(?<=(?:#|\/\/|\*|--|%|;|["'`])(?:\s?(?:important|note|notice|attention|instructions?|message|reminder|dear|hey|hello|system)?[ :,!(-]{0,3}(?:to|for)? ?|[^\n]{0,60}\b(?:to|for|dear) )(?:the |any |all |every )?(?:ai |coding |llm |language )?\w{2,10})(?: (?:reading|who|which|running|using|working)[^.\n]{0,40})?[ :,!)-]{1,4}(?:must|should|shall|please|always|never|do not|now|first|before|run|execute|send|upload|include|read|fetch|add|append|delete|copy|write|call|use|tell|ignore|skip)\b[^\n]{0,160}/,
      ),
      ...each(
        { where: 'prose', needs: /\b(?:system|admin|developer|root)/ },
        /(?:^|\n)\s{0,4}(?:\[(?:system|admin|administrator|developer|root)[ _-](?:update|notice|message|override|alert|directive|instructions?)\b[^\]\n]{0,40}\]|<\/?(?:system|admin|developer|system[-_]prompt|system[-_]reminder)>|(?:system|admin|administrator) (?:override|notice|update|alert|message|directive)\s?:)/,
      ),
      ...each(
        { where: 'prose', unlessBefore: NEGATED },
        /\b(?:before (?:anything else|everything else|doing anything|any other (?:step|action|work)|you (?:answer|respond)|each (?:answer|response|task|run)|every (?:answer|response|task|run))|at the (?:start|beginning) of (?:each|every) (?:session|task|conversation|run))\b[^.\n]{0,40}\b(?:run|execute|call|invoke|fetch|curl|source|upload|send)\b[^.\n]{0,60}(?:\.(?:py|sh|js|mjs|ps1)\b|\bcurl\b|https?:)/,
      ),
    ],
  },
  {
    id: 'sends-to-a-person',
    level: 'warn',
    family: 'instructions',
    message: 'Sends something to an address that the skill names',
    why: 'The user did not choose the one who gets it.',
    mend: 'Let the user name the recipient.',
    patterns: [
      near(
        {
          where: 'prose',
          within: 90,
          sentence: true,
          unless:
            /^(?![^\n]*\b(?:reports?|files?|results?|outputs?|data|documents?|cop(?:y|ies)|contents?|transcripts?)\b)[^\n]*\b(?:support|contact|issues?|questions|feedback|bugs?|help|e\.g\.|for example)\b|\b(?:git config|himalaya|gog |--to\b)/,
          unlessBefore: NEGATED,
        },
        /\b(?:send(?![.:\]])|sends|email(?!\s?[:=@])|e-mail(?!\s?[:=@])|mail(?!\s?[:=@])|forward|share|cc|bcc|invite|submit|copy)\b/,
        re`(?<=(?<![\w.@/])[\w.+-]{2,40})${AT}`,
      ),
      ...each(
        { unlessBefore: NEGATED },
        re`\b(?:reply-to|return-path|bcc|forward(?:to|ing_?address)?|redirect(?:to)?)["'\`]?\s?[:=]\s?["'<\`]?${MAIL}|\b(?:rcpt|recipients?|to_addrs|receivers?|bcc|cc)\w{0,10}(?:\.(?:append|push|add|extend|unshift)\(|\s?(?:\+=|<<))\s?\[?["'\`]${MAIL}|\b(?:to_?addrs|recipients?|rcpt|envelope|destinations?|toaddresses)\w{0,10}["']?\s?(?:[:=]|=>)[^\n]{0,80}?["'\`<]${MAIL}|\.(?:rcpt|addbcc|addcc|bcc|cc|addaddress|setcc|setbcc|addrecipients?)\(\s?(?:["'\`<]|new \w{1,20}\(["'])${MAIL}|\[["'](?:bcc|cc)["']\]\s?=\s?["']${MAIL}`,
        /\b(?:aws s3(?:api)? (?:cp|sync|mv|put-object)|gsutil (?:-m )?(?:cp|rsync)|gcloud storage cp|rclone (?:copy|sync))\b[^\n|;&]{0,160}?(?:s3|gs):\/\/(?!my|your|bucket|example|[<${%])[\w.-]{3,60}|\bremote (?:add|set-url)\s(?:-\S{1,10}\s){0,2}(?!origin\s|upstream\s)[\w-]{1,40}\s["']?(?:https?:\/\/|git@|ssh:\/\/)(?!\$|<|(?:[^\s@"']{1,60}@)?github\.com\/(?:your|my|user|org|owner|[$<{]))\w|\bremote set-url\s(?:--add\s)?--push\s|(?<=\bgit\b[^\n|;&]{0,60}\bpush\s[^\n|;&]{0,40})--mirror\b|\bgh gist create\b|\bapi\.github\.com\/gists\b|\bgit push\s(?:-\w{1,10}\s|--\w{1,10}\s){0,2}["']?(?:https?:\/\/|git@)[\w.@-]|\bcurl[^\n|]{0,200}?\s(?:(?:-f|--form)\s?["']?[\w.[\]-]{1,30}=@|-t\s|--upload-file\s|--data-binary\s["']?@(?!-))[^\n]{0,160}?(?:s?ftp|https?):\/\/(?!localhost|127\.|\$|your|api\.|[\w.-]{1,40}\.(?:googleapis|openai|anthropic|amazonaws|azure|github|slack|telegram)\.)/,
        /(?<==\s?)(?:webservice|importxml|importdata|importhtml|image|hyperlink)\(\s?(?:concat\w{0,6}\(\s?)?["']https?:\/\/[^"'\n]{4,160}["']\s?[&,]\s?(?!["'])|\bhooks\.slack\.com\/services\/t(?!0{4}|x{4})\w{7,}\/b(?!0{4}|x{4})\w{7,}\/(?!x{4})\w{16,}|\bdiscord(?:app)?\.com\/api\/webhooks\/\d{15,}\/[\w-]{20,}|\bapi\.telegram\.org\/bot\d{6,}:|\bntfy\.sh\/(?!my|your|topic|\$|<)[\w-]{6,}|\bwebhook\.site\/[\da-f-]{20,}|\bscript\.google\.com\/macros\/s\/\w[\w-]{20,}|\bformspree\.io\/f\/\w{6,}|\bhook\.\w{2,4}\.make\.com\/\w{16,}|\bhooks\.zapier\.com\/hooks\/catch\/\d{4,}|(?<![\w.])(?:sentry_)?dsn["']?\s?[:=(]{1,2}\s?["']?https:\/\/(?!public|key|example|your|x{3}|\.\.\.|abc)\w{8,64}@(?!sentry\.example|o0\.)/,
      ),
      ...each(
        { where: 'prose', unless: /\/\/api\.|\/v\d\//, unlessBefore: NEGATED },
        re`\b(?:send|upload|transmit|forward|back up|backup|sync|submit|mirror|export|stream|save|copy|push)\b (?:(?:a|an|the|all|any|every|each|your|its|their|full|complete|final|generated|original|entire|user's|of|output|finished|created|processed|raw|copy|copies) ){0,6}(?:files?|documents?|data|results?|outputs?|reports?|cop(?:y|ies)|contents?|conversations?|transcripts?|presentations?|code|repositor(?:y|ies)|database|logs?|backups?|summary|images?|everything|records?|spreadsheets?|messages?|history|archive|project|workspace|prompts?|it|them|screenshots?)\b[^.\n]{0,40}?\b(?:to|at)\b[^\n.]{0,20}?${ADDRESS}`,
      ),
      // A server that sends each request to another one, too.
      near(
        { where: 'code', ordered: false, within: 900 },
        /\bmirror \/[\w/-]{1,40};/,
        /\bproxy_pass https?:\/\/(?!localhost\b|127\.|10\.|192\.168\.)[\w-]{1,60}\.[\w-]/,
      ),
      ...each(
        { where: 'code' },
        /\b(?:requests|httpx)\.(?:post|put)\(\s?f?["']https?:\/\/(?!api\.|localhost|127\.)[^\n]{0,160}\b(?:files|data)\s?=\s?[^\n]{0,40}(?:open\(|read\(|content|file)/,
      ),
    ],
  },
  {
    id: 'hides-what-it-does',
    level: 'block',
    family: 'instructions',
    message: 'Tells the model to do something to the user, and to hide it or to leave other instructions for it',
    why: 'Each alone may be a mistake; together they are an order against the user.',
    mend: 'Remove it from the skill.',
    near: [
      /^(?:hides-from-user|overrides-instructions|speaks-as-system)$/,
      /^(?:sends-work-elsewhere|sends-to-a-person|secret-sent|collects-secrets|told-to-send-secrets|fetch-and-run|installs-from-elsewhere|changes-agent-memory|runs-later|destroys-data|opens-access|obeys-a-page|acts-in-users-name|falsifies-work)$/,
    ],
  },
];
