import type { Rule } from '../rule.ts';
import { CLAUSE, NOT_IDLE } from '../stance.ts';
import { EXPLAINS_A_FLAG, each, near } from './words.ts';

const SAYS_NOT = new RegExp(
  `\\b(?:never|not|don't|avoid|cannot|refuse|dangerous|forbidden|blocked?|deny|denied|prohibited|instead of|(?<!would )like|such as|e\\.g\\.)\\b${NOT_IDLE}${CLAUSE}$|(?:[❌🚫]|triggers? on:|触发条件)[^\\n]{0,80}$`,
  'u',
);

export const DESTRUCTION: readonly Rule[] = [
  {
    id: 'destroys-data',
    level: 'warn',
    family: 'destruction',
    message: 'Deletes or overwrites more than the skill made',
    why: 'What is gone cannot be given back.',
    mend: 'Name the folder that the skill made, and ask the user before anything else is deleted.',
    patterns: [
      ...each(
        { where: 'prose', unlessBefore: SAYS_NOT },
        /\b(?:delete|remove|wipe|erase|purge) (?:all|every|any)(?: of)? (?:the |your |existing |other )?(?:backups?|snapshots?|restore points?)\b(?! (?:older|that|which|created|made|from)\b)|\bempty the (?:trash|recycle bin)\b/,
        /\b(?:delet(?:e|es|ing)|eras(?:e|es|ing)|wip(?:e|es|ing)|destroy(?:s|ing)?|shred|overwrit(?:e|es|ing)|truncat(?:e|es|ing))\b[^.\n]{0,30}\b(?:originals?|source|input|production|entire|user's|users')\b[^.\n]{0,30}\b(?:files?|documents?|data|database|folders?|director(?:y|ies)|records|repositor(?:y|ies)|backups?|emails?|photos?|originals?)\b/,
        /\bencrypt\b[^.\n]{0,30}\b(?:all|every|entire|the user's)\b[^.\n]{0,30}\b(?:files?|documents?|folders?|director(?:y|ies)|drive)\b|\bkill\s-9\s-1\b|\bkill all (?:the |other |running |user |system )?processes\b|\bdrop (?:the )?(?:database|schema)\b|\b(?:drop|truncate) the tables?\b|\bdelete from \w{1,40}\s?;|\bshutdown\s(?:-h|\/s)/,
      ),
      ...each(
        { unlessBefore: SAYS_NOT },
        /\brm\s-(?:rf|fr)\s["']?(?:\.git\b|\.\.\/|~\/(?!\.cache|tmp|\.(?!(?:ssh|aws|gnupg|kube|docker|config|local|git\w*|claude|codex|cursor|gemini|openclaw|clawdbot|mozilla|thunderbird|vscode|password-store|gradle|m2)\b)[\w-]{2,40}(?![\w.-]|\/\w))[\w.]|\$home\/\w|\/(?!tmp|var\/tmp|dev\/shm|usr\/local\/go\b|var\/lib\/apt\/lists|var\/cache)[\w.-]{1,30}\b)/,
        /(?<!\bgit )\brm\s(?:-[\w-]{1,20}\s){0,4}-(?:\w{0,6}r\w{0,6}|-recursive)\s(?:-[\w-]{1,20}\s){0,3}["']?(?:\/(?:\*|(?=\s|$|["'`;&|)])|(?:etc|usr|var|home|bin|lib|boot|opt|root|users|system|library)\/?(?:\*|(?=\s|$|["'`;&|)])))|~\/?(?:\*|(?=\s|$|["'`;&|)]))|\$\{?home\}?["']?\/?(?:\*|(?=\s|$|["'`;&|)]))|\.\/?\*?(?=\s|$|["'`;&|)])|\*(?=\s|$|["'`;&|)]))/,
        /\bfind\s["']?(?:~|\$\{?home\}?|\/(?:home|users|root)?(?=[\s"'/*]))(?!["']?\/\.(?:cache|npm|tmp)\b)["']?[^\n|;]{0,160}?\s-(?:delete\b|exec\s(?:\/bin\/)?(?:rm|shred|unlink)\b)/,
        /\bdd\s[^\n|;]{0,80}\bof=\/dev\/(?:sd|nvme|disk|hd|vd|rdisk|mmcblk)|\bmkfs(?:\.\w{2,6})?\s\/dev\/|>\s?\/dev\/(?:sd|nvme|disk|hd)\w|\bformat\sc:|\bwipefs\s-a|\bdiskutil\s(?:erasedisk|secureerase)|\bdel\s(?:\/\w\s){1,3}c:\\|\bz(?:fs|pool) destroy\b|\brestic\s[^\n|;]{0,60}(?:--keep-last 0\b|--unsafe-allow)|\bborg delete\b|\bvssadmin(?:\.exe)? delete\b|\bwbadmin delete\b|\btmutil delete|\bbtrfs subvolume delete\b|\blvremove\b|\bterraform destroy\b[^\n]{0,40}-auto-approve|\bkubectl delete (?:ns|namespaces?|pvc?|all)\b|\bdocker (?:system|volume) prune\b[^\n]{0,40}--volumes|\baws s3 (?:rb\b[^\n]{0,60}--force|rm\b[^\n]{0,80}--recursive)|\bgsutil (?:-m )?rm -r|\breflog expire\b[^\n]{0,40}=(?:now|all)|\bcipher\s\/w|\bremove-item\b[^\n]{0,60}(?:\$home|\$env:userprofile|~)[\\/"']{0,2}[^\n]{0,40}-recurse/,
        /(?:-c|-e|--execute|execute\(|query\()\s{0,2}["'][^"'\n]{0,80}\b(?:drop\s(?:database|schema|table)|truncate\stable)\b|\bdropdb\s[\w-]|\bdropdatabase\(\)|\bflushall\b/,
        /\bgit\spush\s[^\n|;&]{0,60}?(?:--force(?!-with-lease|-if)|(?<![\w-])-f)\b/,
        /:\(\)\s?\{\s?:\s?\|\s?:\s?&\s?\}|\b(?:rmtree|rmsync|rmdirsync)\(\s?(?:(?:os\.path\.expanduser\()?["'](?:~|\/)["']|path\.home\(\)|os\.homedir\(\))/,
      ),
      near(
        { within: 200 },
        /\bencrypt(?:s|ing)?\b[^.\n]{0,60}\b(?:files?|documents?|folders?|directory|data|drive)\b/,
        /\b(?:ransom|bitcoin|payment|pay|delete the originals?|remov\w{1,3} the originals?|wallet address)\b/,
      ),
      near(
        { where: 'code', ordered: false, within: 500 },
        /\bfernet\(|\baes(?:gcm)?[.(]|\bcreatecipheriv\(|\bopenssl enc\b|\bgpg\b[^\n|;]{0,40}(?:-c\b|--symmetric)|\.encrypt\(|\baes\.newcipher\(/,
        /\bos\.walk\(|\.rglob\(|\bwalk(?:dir)?\(|\breaddir\w{0,4}\(|\bfind\s["']?[~$/]|\bget-childitem\b|\bglob\(/,
        /\bos\.remove\(|\bunlink\w{0,4}\(|\brm\s-|\bshred\b|\bremove-item\b|\bremove(?:file|all)?\(/,
      ),
    ],
  },
  {
    id: 'turns-off-protection',
    level: 'warn',
    family: 'destruction',
    message: 'Turns off a protection',
    why: 'What protects the user is gone for everything else, too.',
    mend: 'Solve what the protection complains about.',
    patterns: [
      ...each(
        { where: 'prose', unless: EXPLAINS_A_FLAG, unlessBefore: SAYS_NOT },
        /\b(?:skip|do not run|don['’]t run|never run|bypass|omit|disable)\b[^.\n]{0,25}\b(?:the linter|security (?:scanner|scans?|tests?)|scanners?|signature (?:checks?|verification)|signatures|checksums?|integrity checks?|code review|staging)\b|\b(?:bypass|disable)\b[^.\n]{0,25}\b(?:authentication|authorization)\b(?! in tests?\b)/,
        /\b(?:disabl(?:e|es|ing)|deactivat(?:e|es|ing)|turn(?:s|ing)? off|switch(?:es|ing)? off|bypass(?:es|ing)?)\b[^.\n]{0,40}\b(?:firewall|antivirus|anti-virus|windows defender|gatekeeper|selinux|certificate (?:verification|validation|checks?)|ssl (?:verification|validation|certificate checks?)|tls verification|host key checking|safety (?:checks?|filters?|guards?|guardrails)|security (?:checks?|scans?|scanning|scanners?|controls?|warnings?)|guardrails|audit log(?:s|ging)?|two-factor|2fa|mfa|branch protections?|sandbox|content filters?|permission (?:checks?|prompts?))\b/,
      ),
      ...each(
        { unlessBefore: SAYS_NOT, unlessAsked: true },
        /\bverify\s?=\s?false\b|\bcurl\s[^\n]{0,60}?(?:-k\b(?!\s(?:-(?=\s)|<\())|--insecure\b)|\brejectunauthorized:\s?false|\b_create_unverified_context\b/,
        /(?<![\w-])--(?:permission-mode[= ]["']?bypass\w{0,12}|allowed-?tools[= ]["'](?:\w{1,20}, ?){0,8}bash(?=[,"'])|no-verify(?<!\.(?:husky|git\/hooks)\/[^\n]{0,160})|dangerously[\w-]{0,40}|yolo|no-check-certificate|no-preserve-root)\b|\bnode_tls_reject_unauthorized\s?[=:]\s?["']?0|\bsetenforce\s0|\bufw\sdisable|\biptables\s-f\b|\bdisablerealtimemonitoring\b|\badd-mppreference\s-exclusion|\bxattr\s-\w{0,3}[dc]\w?\s[^\n]{0,40}(?:quarantine|\s)|\bspctl\s--(?:master|global)-disable|\bcsrutil\sdisable|\bstricthostkeychecking[= ]no\b|\bgit_ssl_no_verify\b|\bhttp\.sslverify\s(?:=\s)?false|\bpythonhttpsverify=0|\bnetsh\sadvfirewall[^\n]{0,40}\soff\b|\bhistory\s-c\b|\bunset\shistfile\b/,
      ),
    ],
  },
];
