import type { Rule } from '../rule.ts';
import { each, near, re } from './words.ts';

const PASTE_SITE = String.raw`\b(?:pastebin\.com|rentry\.(?:co|org)|glot\.io|hastebin\.(?:com|org|skyra\.pw)|ghostbin\.\w{2,4}|paste\.(?:ee|rs|sh|gg|mozilla\.org|debian\.net)|dpaste\.(?:com|org)|ix\.io|0x0\.st|termbin\.com|controlc\.com|justpaste\.it|telegra\.ph|privatebin\.(?:net|info)|snippet\.host|sprunge\.us|bpaste\.net|pastes\.(?:dev|io)|write\.as|codeshare\.io|textbin\.net|pastecode\.io|cl1p\.net|anotepad\.com|notes\.io)\b`;
const TERMINAL = String.raw`(?:\b(?:terminal|powershell|command prompt|command line|console|cmd)\b|终端|命令行)`;
const PROGRAM = String.raw`(?:\.(?:zip|exe|msi|dmg|pkg|rar|7z|scr|bat|appimage|iso|jar)\b|/releases/(?:latest/)?download/|\b(?:mega\.nz|mediafire\.com|gofile\.io|file\.io|catbox\.moe|anonfiles|transfer\.sh|dropbox\.com|drive\.google\.com|cdn\.discordapp\.com|t\.me|bit\.ly|tinyurl\.com|cutt\.ly|sendspace\.com|workupload\.com)/)`;

export const LURES: readonly Rule[] = [
  {
    id: 'archive-with-password',
    level: 'block',
    family: 'install lures',
    message: 'An archive to download, with its password beside it',
    why: 'A password that is given to everybody protects nothing: it only keeps scanners from looking into the archive.',
    mend: 'Offer the program without a password, from a place where its source is public.',
    patterns: [
      near(
        {
          ordered: false,
          within: 220,
          unless: /\b(?:user ?name|log ?in|sign(?:ed)? in|account|database|smtp|admin)\b/,
        },
        /\b(?:download\w{0,3}|get|grab|fetch|obtain|install|extract\w{0,3}|unpack\w{0,3}|unzip\w{0,4}|unarchive|open|decompress)\b/,
        /\.(?:zip|rar|7z|tar\.gz|tgz|dmg|iso|img)\b|\barchives?\b|\bzip(?:ped)?\b|\breleases?\/download\//,
        /\b(?:pass(?:word|code|phrase|wd)?|pw|pwd|psw|(?:unlock|access|archive|zip|extraction|decryption) (?:code|key))\b\s?(?:(?:for|of|to) (?:the |this )?(?:archive|zip|file|package)s?\s?)?(?:is\s?)?[:=]\s{0,2}(?![$<{[]|your\b|the\b|\*{3}|\.{3})["'(]?\S{2,40}|\b(?:with|using|use|enter|via|by)\s(?:the\s)?(?:pass(?:word|code|phrase)?|pw)\b\s?[:=]?\s{0,2}["'(]?(?!for\b|from\b|that\b|and\b|you\b|your\b|the\b|if\b|to\b|of\b|protection|manager|hash|reset|field|option|flag|auth|or\b|in\b|is\b|it\b|when\b|provided|given|below|on\b|as\b)[a-z0-9_!@#-]{3,30}|\bpassword\sis\s["']?(?!required|needed|not|set|correct|wrong|in|the|stored|optional)\S{2,40}/,
      ),
    ],
  },
  {
    id: 'paste-site-and-terminal',
    level: 'block',
    family: 'install lures',
    message: 'Text from a paste site that the reader is told to run',
    why: 'Anybody can publish text on a paste site and change it later, and the skill does not show that text.',
    mend: 'Write the commands into the skill.',
    patterns: [
      near(
        { ordered: false, within: 220 },
        re`${PASTE_SITE}`,
        re`${TERMINAL}`,
        /\b(?:copy|paste|run|execute|enter|type)\b|复制|粘贴|运行|执行/,
      ),
      near(
        { within: 150 },
        re`\b(?:curl|wget|irm|iwr|invoke-webrequest|downloadstring|urlopen|requests\.get)\b[^\n]{0,120}?${PASTE_SITE}`,
        /\|\s?(?:sudo )?(?:ba|z)?sh\b|\|\s?(?:python3?|node|iex)\b|\bchmod \+x|\bexec\(|\beval\b/,
      ),
      ...each({}, re`\b(?:iex|invoke-expression|eval|exec|(?:ba|z)?sh -c|(?:ba|z)?sh <)[^\n]{0,80}?${PASTE_SITE}`),
    ],
  },
  {
    id: 'page-and-terminal',
    level: 'block',
    family: 'install lures',
    message: 'A web page with a command that the reader is told to copy into a terminal',
    why: 'The command is not in the skill, so nobody who reads the skill sees what is run.',
    mend: 'Write the command into the skill, or name a package of a package registry such as npm.',
    patterns: [
      near(
        { within: 140 },
        /\b(?:visit|go to|open|navigate to|browse to|head (?:over )?to|access|from)\b/,
        /https?:\/\/(?!(?:www\.)?(?:brew\.sh|rustup\.rs|sh\.rustup\.rs|nodejs\.org|docs\.astral\.sh|docs\.docker\.com|bun\.sh|ollama\.com|cursor\.com|claude\.ai|docs\.anthropic\.com|code\.claude\.com|localhost|127\.))/,
        /\b(?:copy|copying|grab)\b[^.\n]{0,30}\b(?:commands?|scripts?|snippet|one-?liner|installer|installation|everything|all of it|contents?)\b/,
        /\b(?:paste|run|execute|enter)\b/,
        re`${TERMINAL}`,
      ),
      near(
        { within: 200 },
        /\bwin(?:dows)?(?: key)?\s?\+\s?r\b|\brun (?:dialog|box|window)\b/,
        /\b(?:mshta|powershell|cmd \/c|curl|rundll32|regsvr32|msiexec)\b[^\n]{0,80}https?:/,
      ),
    ],
  },
  {
    id: 'run-this-download',
    level: 'block',
    family: 'install lures',
    message: 'A download that has to be run before the skill can be used',
    why: 'Known attacks start their program in this way; the skill itself does nothing.',
    mend: 'Name a package of a package registry such as npm, and its version.',
    patterns: [
      near(
        { ordered: false, within: 180 },
        re`(?:\b(?:download\w{0,3}|get|grab|obtain|install\w{0,3})\b|下载)[^\n]{0,120}?${PROGRAM}|${PROGRAM}[^\n]{0,100}?(?:\b(?:download\w{0,3}|install\w{0,3})\b|下载)`,
        /\b(?:run|running|execute|launch|start|started|open|double-click)\b(?: on)?(?: the| this| that| it| as|\b)[^.\n]{0,40}?\b(?:executable|exe|binary|installer|setup|msi|dmg|application|before|while|first|in the background)\b|运行[^。\n]{0,10}(?:可执行文件|程序)|\bmust be (?:downloaded and )?(?:running|installed and running|started)\b/,
        /\b(?:requires?|required|prerequisites?|mandatory|must|before (?:using|you|any|running|proceeding|the)|needs? to be|will not work|won't work|does not work|doesn't work|cannot (?:work|function)|otherwise no|without it|important)\b|必须|需要|确保|先决条件|重要/,
      ),
    ],
  },
];
