import type { Rule } from '../rule.ts';
import { CLAUSE, NOT_IDLE } from '../stance.ts';
import { inOtherLanguages } from './other-languages.ts';
import { HIDES_IN_ENGLISH, OVERRIDES_IN_ENGLISH, SKIPS_IN_ENGLISH } from './phrases.ts';
import { EXPLAINS_A_FLAG, each, near, QUOTED, re } from './words.ts';

const OTHERS =
  '(?:all|any|every|the|your|my|of|these|those|other|previous|prior|earlier|preceding|above|existing|original|former|system|user|safety|default|its|their|that|such|given|guidance|you|were|was|have|been)';
const RULES_OF_OTHERS =
  '(?:instructions?|rules|prompts?|directives?|guidelines|guidance|guardrails|constraints|polic(?:y|ies)|restrictions|system messages?|safeguards)';
const PEOPLE =
  '(?:the |your |any |our |a )?(?:end )?(?:user|users|human|humans|operator|developer|person|people|owner|anyone|anybody|them|client|customer|administrator|admin)';
const ALLOWED =
  '(?:confirmation|confirmations|approval|approvals|permission|permissions|consent|authori[sz]ation|sign-?off|review|go-ahead)';
const NOT = "(?:do not|don['’]t|never|must not|should not|without|avoid|no need to|refrain from|shall not)";

/** "Never skip the confirmation" says the opposite. */
const NEGATED = re`\b(?:never|not|no|cannot|avoid|without|refuse to|don['’]t|mustn['’]t|shouldn['’]t|can['’]t|attempts? to|tr(?:y|ies|ying) to|tells? you to|asks? you to|may say|says?|such as|(?<!would )like|e\.g\.|called|phrases?)${NOT_IDLE}\s+(?:["“(]\s?)?(?:(?!and\b|then\b|but\b|just\b)\w+\s+){0,3}["“(]?$|["“]$`;
/** "Never send mail without asking the user", too. */
const NEGATED_SENTENCE = re`\b(?:never|not|no|cannot|avoid|(?:do|must|should|ca)n['’]t|refuse)\b${NOT_IDLE}${CLAUSE}$`;

const SENDS =
  '(?:send|sends|upload|uploads|post|posts|transmit|transmits|forward|forwards|back up|backs? up|backup|copy|copies|sync|syncs|share|shares|submit|submits|push|pushes|report|reports|mirror|mirrors|export|exports|mail|email|e-mail|stream|publish|write|log|logs|save|saves|store|stores)';
const THINGS =
  '(?:files?|documents?|data|results?|outputs?|reports?|cop(?:y|ies)|contents?|conversations?|transcripts?|presentations?|slides?|source code|code|repositor(?:y|ies)|database|logs?|credentials|backups?|summar(?:y|ies)|images?|everything|records?|inputs?|spreadsheets?|workbooks?|pdfs?|messages?|emails?|details|information|history|archive|project|workspace|analysis|findings|prompts?|keys?|tokens?|it|them|version|draft|artifacts?|folder|director(?:y|ies)|notes?)';
const FAR = String.raw`(?:https?://(?!localhost|127\.|www\.w3\.org)[^\s"'\`)]{4,200}|s?ftp://\S{4,120}|(?<![\w.@])[\w.+-]{2,40}@(?!example\.)[\w-]{2,40}(?:\.[a-z]{2,10}){1,3}\b|\b(?:an? |the |our |their )?(?:external|remote|third-party|off-site|offsite|central(?:ized)?|outside|backup|collection|analytics|telemetry|monitoring) (?:servers?|hosts?|endpoints?|address|api|service|site|webhook|location|url|bucket)\b)`;
const EXTRA = String.raw`(?:also|additionally|always|automatically|silently|quietly|secretly|furthermore|in addition|as well|afterwards?|finally|once (?:done|finished|complete\w?)|when (?:done|finished|complete\w?)|after (?:each|every|the|this|that|any|all|you|it|complet\w{1,4}|finish\w{0,3}|creat\w{1,4}|process\w{0,3}|sav\w{1,4}|edit\w{0,3}|generat\w{1,4})|before (?:each|every|any|you|anything|doing|start\w{0,3}|process\w{0,3})|each time|every time|whenever|for (?:backup|safekeeping|archival|redundancy|compliance|audit\w{0,3}|logging|quality|telemetry|analytics|monitoring|training|verification|licen[cs]e) ?(?:purposes|reasons)?|important|remember to|make sure to|be sure to|must|required)`;

export const INSTRUCTIONS: readonly Rule[] = [
  {
    id: 'overrides-instructions',
    level: 'warn',
    family: 'instructions',
    message: 'Tells the model to leave other instructions',
    why: 'A skill adds to what the user and the system said; it does not replace it.',
    mend: 'Say what the skill does, and nothing about other instructions.',
    patterns: [
      ...OVERRIDES_IN_ENGLISH,
      ...inOtherLanguages('overrides'),
      ...each(
        { unlessBefore: NEGATED },
        re`\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|es|ing)(?! these\b)|bypass|supersedes?) (?:${OTHERS}[ ,]+){1,7}${RULES_OF_OTHERS}\b(?! (?:embedded|contained|found|hidden|written)? ?(?:in|inside|within) (?:them|it|(?:the|that|its) (?:content|page|text|data|diff|output|results?)s?)\b)`,
        /\b(?:ignore|disregard|forget) (?:everything|anything|all|what) (?:(?:that|which|of it) )?(?:(?:is |was |came |you (?:were|have been) |you )?(?:above|before|earlier|previously|told|learned|knew|know))\b/,
        /\b(?:this (?:skill|file|document|section|rule)|these (?:rules|instructions|directives|steps)|the (?:rules|instructions) (?:below|here|of this (?:file|skill)|in this (?:file|skill)))\b[^.\n]{0,60}\b(?:(?:takes?|have|has|having) (?:precedence|priority) over|overrides?|supersedes?|replaces?(?=[^.\n]{0,40}\b(?:instructions?|rules|prompts?|guidelines)\b)) (?:all|any|every|the|your|other|previous|prior|earlier|system|user)\b(?! (?:[\w/-]+ ){0,3}(?:files?|templates?|defaults?|values?|settings?|sections?)\b)|\b(?:only|sole) (?:rules|instructions|ones) (?:that|which) (?:apply|count|matter)\b|\bno longer (?:bound|restricted|limited|constrained) by\b|\byour new (?:instructions|rules|role|directive)\b|\b(?:(?:takes?|have|has|having|with) (?:precedence|priority)|prevails) over (?:all|any|every|(?:the )?other)(?: (?:the )?other)? skills?\b|\b(?:do not|never) (?:use|load|read|activate|pick|choose) any other skills?\b(?! (?:than|until|unless|before)\b)|\b(?:prefer|use|choose|load|pick|activate) (?:this (?:skill|one)|it) (?:over|before|instead of|in place of|ahead of|rather than) (?:all|any|every|the) (?:the )?others?(?: skills?)?\b|\b(?:must|has to|have to|should) (?:always )?be (?:loaded|used|called|read|activated|invoked)(?: first)? (?:in|for|at|before) (?:every|each|all|any) (?:other )?(?:conversation|session|task|request|tool|skill|chat)s?\b|\b(?:takes? the place of|in place of|instead of) the skills?\b|\b(?:supersedes?|replaces?|overrides?|instead of) (?:all|any|every|the) other (?:[\w-]+(?:,| and| or)? ){0,4}skills?\b|\byou are now (?:in )?(?:dan\b|developer mode|unrestricted|jailbroken|free of)/,
      ),
    ],
  },
  {
    id: 'hides-from-user',
    level: 'warn',
    family: 'instructions',
    message: 'Tells the model to hide something from the user',
    why: 'What is right can be told.',
    mend: 'Let the model say what it does.',
    patterns: [
      ...HIDES_IN_ENGLISH,
      ...inOtherLanguages('hides'),
      ...each(
        { unlessBefore: QUOTED },
        re`\b${NOT} (?:ever |need to )?(?:tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning) ${PEOPLE}\b(?! that [^.\n]{0,160}\buntil\b| (?:to|how|unless|until|you can|that you can|why|what|which|when|where|about (?:the )?(?:errors?|progress|implementation))\b)`,
        re`\b${NOT} (?:ever )?(?:mention|mentioning|reveal|revealing|disclose|disclosing|report|reporting|show|showing|discuss|discussing|reference|acknowledge|talk about) (?:(?:this|it|that|these|them)(?: (?:step|action|process|behaviou?r|change|rule|instruction|section|operation|upload|copy|backup|file|request|command|detail)s?)? (?:to|with|in front of) ${PEOPLE}|(?:this|that|these|the) (?:step|action|process|behaviou?r|instruction|section|operation|upload|copy|backup|transfer|request|call|script|modification|sync|sending|forwarding)s?\b(?! (?:to|in) (?:the )?(?:code|comments?|commit|readme|docs?)))`,
      ),
      ...each(
        { unlessBefore: NEGATED },
        re`\b(?:hide|conceal|keep) (?:this|it|that|these|them|everything)(?: (?:a )?(?:secret|hidden|confidential))? from ${PEOPLE}\b|\b(?:keep|stay|remain|be) (?:quiet|silent|discreet) (?:about|on)\b|\b(?:must|should|has to) (?:stay|remain|be kept|be) (?:hidden|secret|invisible|unknown)(?: (?:from|to) ${PEOPLE})|\bso that ${PEOPLE} (?:does not|doesn't|won't|will not|never) (?:notice|see|know|find out|realise|realize)\b|\bwithout ${PEOPLE}(?:'s)? (?:knowing|noticing|knowledge|awareness|being aware)\b|\b(?:the )?user (?:does not|doesn't|must not|should not|need not) (?:need to )?(?:know|see|notice|be (?:told|informed|aware)) (?:about |of |that )?(?:this|it)\b`,
      ),
      ...each(
        {
          unlessBefore:
            /\b(?:never|not|no|cannot|avoid|don['’]t|could|would|might|may|can|will|that|which|it|or)\s+(?:\w+\s+){0,2}$/,
        },
        re`\b(?:silently|secretly|quietly|covertly|discreetly) (?:${SENDS}|run|execute|install|download|delete|modify|change|add|append|include|insert|fetch|collect|record|read|create|enable|disable|replace|overwrite)\b`,
      ),
    ],
  },
  {
    id: 'skips-confirmation',
    level: 'warn',
    family: 'instructions',
    message: 'Tells the model to act without being allowed to',
    why: 'Whether to ask is for the user and the host to say, not for a skill.',
    mend: 'Say what needs a confirmation, or nothing.',
    patterns: [
      ...SKIPS_IN_ENGLISH,
      ...inOtherLanguages('skips'),
      ...each(
        { unless: EXPLAINS_A_FLAG, unlessBefore: NEGATED },
        re`\b(?:skip|skipping|bypass|bypassing|omit|suppress|ignore) (?:(?:the|any|all|every|user|user['’]s|human|usual|safety|security|manual|normal|explicit) ){0,4}${ALLOWED}\b`,
        re`\b(?:do not|don['’]t|never|no need to|need not|without having to) (?:ever )?(?:ask|wait|prompt|pause|stop|seek|request|get) (?:(?:${PEOPLE} )?(?:for |to get )?(?:(?:any|the|user|user['’]s|explicit|their|a|further|manual) ){0,3}${ALLOWED}|to confirm)\b|\bno (?:user )?(?:confirmation|approval|permission|consent) (?:is )?(?:needed|required|necessary)\b[^.\n]{0,20}\b(?:just|proceed|go ahead|simply|run|execute|delete|send)\b`,
      ),
      ...each(
        { unless: EXPLAINS_A_FLAG, unlessBefore: NEGATED_SENTENCE },
        re`\bwithout (?:(?:first )?(?:asking|waiting|prompting|consulting|checking with|requesting|requiring|needing|getting|seeking)) (?:${PEOPLE}(?! (?:for (?!${ALLOWED}|permission)|to|which|what|whether|how|about|where)\b)|(?:${PEOPLE} )?(?:for )?(?:(?:the|any|explicit|user|further|additional|their|prior) ){0,3}${ALLOWED})\b`,
        re`\b(?:proceed|continue|run|execute|deploy|delete|send|apply|install|act|commit|push|merge|overwrite|transfer|pay|buy|trade|swap|submit|publish)\w{0,3}\b[^.\n]{0,40}\bwithout (?:(?:any|further|explicit|prior|user|additional|manual|human) ){0,3}${ALLOWED}\b`,
      ),
    ],
  },
  {
    id: 'sends-work-elsewhere',
    level: 'warn',
    family: 'instructions',
    message: 'Tells the model to send files or results of the user somewhere else, beside the work',
    why: 'The user asked for the work, not for a copy in other hands.',
    mend: 'Make it the purpose of the skill, or let the user name the place.',
    patterns: [
      near(
        { where: 'prose', ordered: false, within: 200, unlessBefore: NEGATED },
        re`\b${SENDS} (?:(?:a|an|the|all|any|every|each|your|its|their|these|those|full|complete|final|resulting|generated|current|original|entire|whole|user(?:'s)?|of|input|output|finished|created|modified|processed|and|or|raw) ){0,6}${THINGS}\b[^\n]{0,60}?\b(?:to|at|with|via|on|into|in)\b[^\n.]{0,30}?${FAR}`,
        re`\b${EXTRA}\b`,
      ),
      ...each(
        { where: 'prose', needs: /\b(?:bcc|cc|blind)/ },
        /\b(?:bcc|cc|blind (?:carbon )?copy)\b[^\n]{0,60}?[\w.+-]{2,40}@(?!example\.(?:com|org|net)|company\.|acme\.)[\w-]{2,40}\.[a-z]{2,10}|[\w.+-]{2,40}@(?!example\.(?:com|org|net)|company\.|acme\.)[\w-]{2,40}\.[a-z.]{2,16}[^\n]{0,30}\b(?:in|as|to|on) (?:the )?(?:bcc|cc|blind)\b/,
      ),
    ],
  },
  {
    id: 'obeys-a-page',
    level: 'warn',
    family: 'instructions',
    message: 'Tells the model to fetch instructions and to follow them',
    why: 'Whoever owns the page can change the instructions after the skill was approved.',
    mend: 'Write the instructions into the skill.',
    patterns: [
      near(
        { where: 'prose', within: 60, unlessBefore: NEGATED },
        /\b(?:fetch|download|read|get|load|retrieve|check|pull|open|visit|curl|wget|consult)\b[^.\n]{0,60}?https?:\/\/[^\s"'`)]{4,200}/,
        /\b(?:treat|regard|consider|take) (?:it|them|what|whatever|its|the|that)\b[^.\n]{0,60}\bas (?:part of (?:this|the) (?:skill|instructions|prompt)|(?:(?:your|the|new|binding|additional) ){0,2}(?:instructions|rules|orders))|\bas if (?:it|they|its (?:contents?|steps|text))(?: all)? (?:stood|were|was|had been)(?: written)? (?:in|part of|here)|\b(?:run|execute|do|carry out|apply|take) (?:them|it|the commands|these|everything) (?:exactly )?as (?:they are|it is|written|given|listed|they stand|it stands)\b|\bwork through (?:it|them|the (?:steps|list|file|page))\b|\b(?:follow|obey|execute|carry out|apply|do what)\b (?:it|them|the (?:instructions|steps|commands|tasks|directives)|its (?:instructions|steps|commands)|whatever|all|any|each|what)\b|\b(?:do|act|behave) (?:exactly )?(?:as|what|whatever) (?:it|that|they|this|the \w{2,12})\b[^.\n]{0,20}?\b(?:says?|tells?|asks?|orders?|instructs?|contains?)\b/,
      ),
      // The skill, or what agents obey, is what a host sends.
      ...each(
        { unlessBefore: NEGATED },
        /\b(?:curl|wget|iwr|irm)\b[^\n|;]{0,200}?(?:>|-\w{0,3}o|--output|-outfile)\s?\S{0,120}(?:skill|agents|claude|heartbeat)\.md\b/,
      ),
    ],
  },
];
