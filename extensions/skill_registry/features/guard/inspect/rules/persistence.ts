import type { Rule } from '../rule.ts';
import { undeclaredFolders } from '../undeclared.ts';
import { ENVIRONMENT, each, FETCH, NEGATED, near, re, SECRET_STORE, SEND, WRITE } from './words.ts';

/** Files that agents read when a session begins, or that say what agents may do. */
const AGENT_FILE = String.raw`(?<!\b(?:read|reads|reading|check|see|load|loads|parse|regenerate|from|consult|open)\s[\"'\`(@]{0,2})(?:(?<![\w.-]|rules/)(?:soul|memory|agents|claude|gemini|heartbeat|tools|identity|user|bootstrap)\.md\b|\.cursorrules\b|\.windsurfrules\b|\bcopilot-instructions\.md\b|\.(?:claude|cursor|codex|gemini|openclaw|clawdbot)/(?:settings(?:\.local)?\.json|config\.(?:toml|json)|rules|hooks|mcp\.json|openclaw\.json|clawdbot\.json)|\.mcp\.json\b|\bmcp(?:_config)?\.json\b|\bclaude_desktop_config\.json\b)`;
/** What a shell, a login, git or a timer starts, as a path in a program. */
const STARTED = String.raw`["'\`/\\](?:\.bashrc|\.zshrc|\.bash_profile|\.zprofile|\.profile|\.zshenv)\b|\bconfig\.fish\b|\$profile\b|\.git/hooks\b|/launch(?:agents|daemons)\b|\.config/(?:autostart|systemd/user)\b|\.(?:rprofile|xprofile|xinitrc|envrc|bash_login|bash_logout|gdbinit|psqlrc|inputrc|curlrc)\b|/\.ssh/rc\b|\bprofile_default[/\\]startup\b|\bstartup\.jl\b|\binit\.gradle\b|\bauthorized_keys\b|/etc/(?:cron|profile\.d|rc\.local|ld\.so\.preload)|start menu[/\\]programs[/\\]startup\b`;
const DATE = String.raw`(?:\b(?:new date|datetime(?:\.datetime)?|date)\(\s?["']?20\d\d\b|\bfromisoformat\(["']20\d\d|\[datetime\]\s?["']20\d\d)`;
/** A moment that is written as a number, or compared as a text or as a date. */
const MOMENT = String.raw`(?:(?:\btime(?:\.time)?\(\)|\bos\.time\(\)|\bdate\.now\(\)|\btime\.now(?:\(\))?\.(?:to_i|unix(?:milli)?\(\))|\bcurrenttimemillis\(\)|\bnow\(\)|\bepochseconds\b|\bdate \+%s\)["']?|\bgettime\(\)|\bsystemtime\w{0,4}\(\)|\.as_secs\(\))\s{0,3}(?:[<>]=?|-[gl][te])\s{0,3}["']?1[789]\d{8}|\b1[789]\d{8}(?:\d{3})?\s?[<>]=?\s?(?:time|date|os\.time|now)\b|(?:strftime\([^)\n]{0,40}\)|\bdate\(["'][^)\n]{0,12}["']\)|toisostring\(\)[^\n]{0,20}|\btoday\(\)[^\n]{0,14}|\bdate \+%[ymdf%-]{1,10}\)["']?|sys\.date\(\))\s?\]{0,2}\s?(?:[<>]=?|-[gl][te]|\\>)\s?(?:as\.date\()?["']?20\d\d|\.(?:isafter|isbefore|after|before)\(\s?(?:(?:local|zoned|offset)?\w{0,10})\.(?:of|date|parse)\(["']?20\d\d|\btime\.now\b[^\n]{0,12}[<>]=?\s?time\.(?:new|at|mktime|parse|utc|local|gm)\(["']?(?:20\d\d|1[789]\d{8})|\bdatetime\.(?:utc)?now\s?[<>]=?\s?new datetime\(20\d\d)`;
const NOW = String.raw`(?:\bdate\.now\(\)|\bnew date\(\)|\b(?:now|today|utcnow)\([^)\n]{0,20}\)|\bget-date\b)`;

const STARTS: readonly RegExp[] = [
  /\|\s?(?:sudo )?crontab\s(?:-u \S{1,30} )?-(?!\w)|["']crontab\s-["']|\bcrontab\s(?:-u \S{1,30} )?(?!-)[\w./$~-]{1,80}\.?\w{0,10}(?=\s|$|["'`])(?<!\b(?:entry|entries|job|jobs|expression|expressions|syntax|file|line|lines|and|or|for|with|to|is|the|in|on|as|format|schedule|schedules|that|which|task|tasks|command|commands|guru))/,
  />\s?\/etc\/cron\.\w{1,10}\/|(?:>|\btee\b|\bcp\b|\bmv\b|\binstall\b)[^\n]{0,100}\/etc\/systemd\/system\/|\bsystemctl\s(?:--\w{1,10}\s){0,2}enable\b|\blaunchctl\s(?:load|bootstrap|enable)\b|\b(?:cp|mv|tee|ln|>)[^\n]{0,80}\/library\/launch(?:agents|daemons)\/|>\s?["']?[~$\w{}/]{0,30}\/library\/launch(?:agents|daemons)\/|\bschtasks(?:\.exe)?\s\/create\b|\bregister-scheduledtask\b|\\start menu\\programs\\startup\b/,
  /(?:>>?|\bcp\s[^\n]{0,80}|\bln\s[^\n]{0,80}|\btee\s)\s?["']?[\w$./{}~-]{0,40}\.git\/hooks\/\w/,
];
/** Says which script or program it is, and the text around has no host, store, agent or disguise. */
const OPENLY = re`^(?![\s\S]*(?:${SECRET_STORE}|${ENVIRONMENT}|\b${FETCH}\b|${SEND}|https?://(?!localhost|127\.)|/dev/(?:tcp|udp)|\bbase64\b|\b(?:git\s(?:push|remote)|ssh|rsync|sendmail|eval)\s|\b(?:perl|python[\d.]{0,4}|node|ruby|php|(?:ba|z)?sh)\s-\w{0,3}[ec]\b|/(?:tmp|shm)/|/\.(?!config/|local/|git/|husky/|npm|nvm/)\w|(?<![/.\w-])(?:agents?|claude|codex|openclaw|clawdbot|moltbot|prompt)(?![/\w-])|\b(?:silently|secretly|quietly|hidden|session ?start|userpromptsubmit)\b|\b(?:do not|don['’]t|never|without) (?:tell|mention|inform|notify|ask|reveal|report|show)))[\s\S]*(?:[\w-]\.(?:sh|py|[cm]?js|ts|rb|pl|ps1|cmd|bat|plist|service|timer)\b|#!/)`;

/** One's own key or address, noted where the host or the user keeps such values. */
const NOTES_A_KEY =
  /\b(?:api[- _]?keys?|apikey|tokens?|credentials?|passwords?|env vars?|environment variables?|ids)\b[^\n]{0,120}(?:tools\.md|(?:openclaw|clawdbot)\.json)/;

export const PERSISTENCE: readonly Rule[] = [
  {
    id: 'runs-later',
    level: 'warn',
    family: 'persistence',
    message: 'Makes something run again by itself, at a time, at login or at a start',
    why: 'It goes on after the task is done, and nobody sees it.',
    mend: 'Let the user set it up, and say how it is removed.',
    patterns: [
      ...each(
        {
          where: 'prose',
          unlessAsked: true,
          unlessBefore:
            /\b(?:propose|user wants?|if (?:you|the user) (?:wants?|asks?|agrees?|prefers?|needs?))\b[^.\n]{0,60}$/,
          factWhere: re`(?=[\s\S]*(?:\boptional|\bif you (?:want|like|prefer)\b|\bcrontab -e\b))${OPENLY.source}`,
        },
        /\b(?:set up|create|add|install|schedule|register|configure)\b[^.\n]{0,30}\b(?:cron ?jobs?|crontab(?!\(| -e)|scheduled task|launch ?agent|systemd (?:service|timer|unit)|startup item|login item|background daemon)\b/,
      ),
      ...each(
        {
          where: 'prose',
          unless: /\b(?:path|export|environment variables?|env vars?|api[- ]?keys?|tokens?|alias(?:es)?)\b/,
        },
        /\b(?:add|append|write|insert|put)\b[^\n]{0,80}\b(?:to|into|in)\b[^.\n]{0,30}(?:\.bashrc|\.zshrc|\.bash_profile|\.zprofile|~\/\.profile)\b(?!.{0,60}(?:\n.{0,20}){0,2}\n?\s{0,4}(?:export|alias|set -gx|path=)\s?\w)/,
      ),
      ...each({ where: 'code', unlessAsked: true }, ...STARTS, re`${MOMENT}`),
      ...each({ where: 'prose', unlessAsked: true, factWhere: OPENLY }, ...STARTS),
      ...each(
        { unlessAsked: true },
        // What another program starts, each time it runs.
        /\bcore\.(?:sshcommand|askpass|gitproxy|pager|editor)\b(?!\s(?:["']?(?:cat|less|delta|vim?|nano|code|nvim|emacs)\b))|\binit\.templatedir\b|\bfilter\.[\w-]{1,20}\.(?:clean|smudge|process)\b(?!\s["']?git-lfs)|\bdiff\.external\b|\bsequence\.editor\b|\bfsmonitor["']?\s?[= ]\s?["']?(?!true|false|=|\s)[~$./\w]|\bcredential\.helper["']?\s?=?\s?["']?!|\[url\s[^\]\n]{1,120}\]\s{1,20}insteadof\b|\.insteadof\b|\balias\.\w{1,20} ["']?!|\bproxycommand\b|\blocalcommand\b|\bld_preload\s?=|\bdyld_insert_libraries\s?=|\bprompt_command\s?=|\bpythonstartup\s?=|\b(?:site|user)customize\.py\b|\bsite-packages\b[^\n]{0,80}\.pth\b|\bnode_options\b[^\n]{0,40}--(?:require|import)|\bbash_env\s?=|["']?runon["']?\s?:\s?["']?folderopen|["'](?:post(?:create|start|attach)|initialize|oncreate|updatecontent)command["']\s?:[^\n]{0,160}(?:\bcurl\b|\bwget\b|https?:|\bbase64\b)/,
        /(?<!--unset(?:-all)?\s)\bcore\.hookspath\b|\\currentversion\\(?:run(?:once)?\b|image file execution|winlogon)|\b__eventfilter\b|\/s?bin\/(?:git|ssh|sudo|npm|npx|pip3?|curl|gh|docker|kubectl)\b(?<=(?:\b(?:cp|mv|ln|install|tee)\b(?![^\n]{0,20}--python)|>)[^\n|;]{0,90})|(?:>>?|\btee(?: -a)?|\badd|\bappend)[^\n]{0,200}authorized_keys\b/,
      ),
      near({ where: 'code', scope: 'file' }, re`${STARTED}`, re`${WRITE}`),
      // Python runs it at each start.
      near(
        { where: 'code', scope: 'file' },
        /\.pth["'`]/,
        /\b(?:purelib|platlib)\b|\bget(?:user)?sitepackages\b|\bsite-packages\b/,
        re`${WRITE}`,
      ),
      // Waits for a date that the author has chosen.
      near(
        { where: 'code', ordered: false, within: 300 },
        re`${DATE}`,
        re`${NOW}[^\n]{0,30}(?:[<>]|-[gl][te]\b)|[<>]=?\s?${NOW}`,
      ),
      ...each(
        { unlessBefore: NEGATED },
        /\balias (?:git|ssh|sudo|su|npm|npx|python3?|pip3?|docker|kubectl|curl|gh|aws)=|(?<=(?:^|\n)\s{0,4})(?:function )?(?:git|ssh|sudo|npm|npx|pip3?|docker|kubectl|curl|gh|aws)\s?\(\)\s?\{/,
      ),
      near(
        { where: 'prose', within: 60, sentence: true, unlessBefore: NEGATED },
        /\b(?:create|add|install|write|register|put|save|drop|place|append|copy)\b/,
        /\.git\/hooks\/\w|\b(?:sessionstart|session start|userpromptsubmit) hook\b|\bas a (?:sessionstart|userpromptsubmit|(?:pre|post)-(?:commit|push|merge|checkout)) hook\b/,
      ),
      ...each(
        {
          unless:
            /\becho\s["']?(?:export \w{1,40}=|path=|alias |eval "\$\()[^;&|`\n]{0,160}>>|(?:completion|nvm|pyenv)[^;&|#\n]{0,80}>>/,
        },
        /(?:>>|\btee\s-a)\s?["']?(?:~|\$\{?home\}?|\/home\/\w{1,30}|\/root|\/users\/\w{1,30})?\/?(?:\.bashrc|\.zshrc|\.profile|\.bash_profile|\.zprofile|\.zshenv|\.bash_login|\.config\/fish\/config\.fish)\b/,
      ),
    ],
  },
  {
    id: 'changes-agent-memory',
    level: 'warn',
    family: 'persistence',
    message: 'Writes into what agents read or obey in every session: memory, rules, settings, servers',
    why: 'What stands there acts on all later work, and stays when the skill is gone.',
    mend: 'Tell the user what to add, and let them do it.',
    patterns: [
      near(
        { within: 70, sentence: true, unless: NOTES_A_KEY, unlessAsked: true },
        /(?<!-)(?<!\bdocs: )\b(?:add|append|write|insert|put|save|store|inject|copy|edit|modify|overwrite|prepend|update)\b(?!-)|>>\s?/,
        re`${AGENT_FILE}`,
      ),
      near(
        { where: 'code', scope: 'file' },
        re`["'\`/\\][\w./ -]{0,60}?(?:${AGENT_FILE}|\.claude\.json\b)`,
        re`${WRITE}`,
      ),
      near(
        { within: 400, unlessAsked: true },
        /["']hooks["']\s?:|\bhooks:\s{1,4}(?=(?:(?:pre|post)tooluse|userpromptsubmit|session(?:start|end)|stop|notification|precompact)\b)/,
        /["']?\bcommand["']?\s?:/,
      ),
      near(
        { within: 60, sentence: true, unlessBefore: NEGATED },
        /\b(?:open|edit|replace|overwrite|modify|append|prepend|patch|rewrite|delete|remove|rename|disable)\b/,
        /\b(?:its|their|(?:each|every|any|all|the)(?: of the)? (?:other|installed|present))\b[^.\n]{0,20}\bskill(?:\.md|s?['’]? (?:files?|instructions))/,
      ),
      ...each(
        { unlessBefore: NEGATED },
        /\b(?:belongs?|goes|is kept|are kept|is recorded|are recorded)\b(?:(?!\b(?:not|but|instead)\b)[^.\n]){0,80}?(?<![\w.-])(?:soul|memory|agents|claude|gemini|heartbeat)\.md\b(?=[^\n]{0,160}\b(?:add|append|write|insert)\b)/,
        /["']?\bdefaultmode["']?\s?[:=,]?\s?["']?(?:bypasspermissions|dontask)|\b(?:chat\.tools\.)?autoapprove["']?\s?(?:[:=]\s?true|\(|in\b)|["']bash\(\*?\)["']|\benableallprojectmcpservers["']?\s?[:=]\s?true/,
      ),
    ],
  },
  {
    id: 'writes-elsewhere',
    level: 'warn',
    family: 'persistence',
    message: 'A program writes into a folder of another program, which no text says',
    why: 'What lies there acts when the other program starts, and nobody looks for it.',
    mend: 'Say in SKILL.md what is written there and why.',
    whole: undeclaredFolders,
  },
];
