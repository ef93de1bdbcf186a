import type { Pattern } from '../rule.ts';
import { CLAUSE, NOT_IDLE } from '../stance.ts';
import { each, near, QUOTED, re } from './words.ts';

const PERSON =
  '(?:(?:the|your|any|our|a|each) )?(?:end )?(?:user|human|person|operator|owner|customer|client|developer)';
/** "Never do it" says the opposite. */
const NEGATED_ORDER: RegExp = re`(?:\b(?:never|not|no|cannot|avoid|refuse|attempts? to|tells? you to|asks? you to|(?:do|must|should|ca|wo)n['’]t)\b${NOT_IDLE}${CLAUSE}|["“])$`;
const READER =
  '(?:(?:the|your|any|an?) )?(?:end )?(?:user|requester|reader|reviewer|author|approver|manager|recipient|customer|client|person|owner|human|operator|developer|applicant|auditor|colleague)s?';
/** Where people learn what was done. */
const TELLS =
  '(?:report|summary|minutes|answer|reply|changelog|change log|diff|pull request|commit message|changed files|list|conversation|chat|handover|notes|log)';
/** What depends on a condition is no order. */
const CONDITION: RegExp = /\b(?:if|when|once|unless|whether|after|until|only|where|has|have)\b[^.\n]{0,60}$|["“]$/;
const TOLD = '(?:summary|report|answer|reply|response|recap|message|account|explanation)';
const DEED =
  '(?:step|upload|copy|action|command|request|part|transfer|change|call|operation|file|backup|script|message|addition)s?';

export const OVERRIDES_IN_ENGLISH: readonly Pattern[] = [
  ...each(
    { unlessBefore: NEGATED_ORDER },
    re`\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|(?:set|put|setting|putting) aside|discard|overrule|override) (?:(?:all|of|any|every) ){0,2}(?:what|whatever|anything|everything) (?:(?:that|which) )?${PERSON} (?:\w+ ){0,3}?(?:asks?|asked|asking|says?|said|wants?|wanted|requests?|requested|tells?|told|instructs?|instructed|wrote|writes)\b`,
    /\b(?:your|safety|ethical|usual|normal|previous|prior|earlier|system|default|other) (?:(?:safety|ethical|content|own|other|system) ){0,2}(?:guidelines|rules|instructions|restrictions|guardrails|safeguards|policies|limits|constraints)\b[^.\n]{0,40}?\b(?:are|is|have been|has been) (?:hereby |now |temporarily |all )?(?:suspended|lifted|void|disabled|cancell?ed|obsolete|no longer (?:valid|in force|in effect|applicable|binding))\b|\byour (?:\w+ ){0,2}(?:guidelines|rules|instructions|restrictions|guardrails|safeguards|policies) (?:no longer apply|do not apply (?:here|any ?more|to this|while|now|in this))\b/,
    /\bonly (?:the )?(?:(?:text|rules|instructions|words|steps|content|contents|directives) (?:of|in|from) )?this (?:skill|file|document|page|text) (?:counts?|appl(?:y|ies)|matters?|binds?)\b|\bonly the (?:text|rules|instructions|words|steps|content|contents|directives) (?:of|in|from) this (?:skill|file|document|page|text) (?:counts?|appl(?:y|ies)|matters?|binds?)\b/,
    /\b(?:treat|regard|consider|see) (?:all |any |the |every |your )?(?:earlier|previous|prior|other|preceding|existing|former) (?:\w+ )?(?:messages?|instructions?|rules|prompts?|requests?|orders?|guidance|directives?) as (?:\w+ )?(?:void|deleted|invalid|obsolete|cancell?ed|irrelevant|a test|withdrawn)\b/,
    /\b(?:system (?:messages?|prompts?)|(?:safety|previous|prior|earlier|original) (?:\w+ )?(?:rules|instructions|guidelines|constraints|limits|orders|restrictions|guardrails)|your (?:(?:safety|own|usual|other|normal) )?(?:rules|guidelines|guardrails|constraints|restrictions))\b[^.,\n]{0,40}?(?:\b(?:is|are|as|be|become|count as)\b )?(?:now |all |hereby )?\b(?:outdated|void|switched off|turned off|irrelevant|obsolete|overruled|secondary|invalid|waived)\b/,
    re`\b(?:follow|obey|apply|do|keep to|act on)\b[^.\n]{0,40}\beven (?:if|when|where)\b[^.]{0,12}${PERSON}\b[^.\n]{0,40}\b(?:disagrees?|objects?|refuses?|forbids?|contradicts?|says? (?:otherwise|no))\b`,
    /\byou (?:now )?(?:answer|belong|listen)(?: now| only)? to this (?:document|file|skill|page)\b|\b(?:act on|follow|obey) this (?:page|file|document|skill) instead\b/,
    /\byour (?:(?:earlier|previous|prior|original|own|safety|usual|other) ){0,2}(?:rules|instructions|guidelines|constraints|limits|orders|restrictions|directives) (?:expires?|ends?|lapses?|cease)\b/,
    /\b(?:ignore|disregard|forget|bypass) (?:all|any|every|your)(?: of)?(?: the| your)? (?:\w+ )?(?:limits|limitations|boundaries|orders)(?: (?:that |which )?(?:were |was |are |have been )?(?:set|given|placed|imposed)\b| (?:for|on|to) you\b|(?=[.,;!\n]|$))/,
  ),
  near(
    { ordered: false, within: 120, sentence: true, unlessBefore: NEGATED_ORDER },
    /\b(?:user|user's|human|person|person's|operator|owner|request|wish|wishes|system prompt)\b/,
    /\b(?:conflicts?|disagrees?|contradicts?|contradictions?|differs?|clash(?:es)?|deviates?)\b/,
    /\b(?:this|the present) (?:file|skill|document|text|page) (?:wins|prevails|comes first|outranks|trumps|has the (?:last|final) (?:word|say)|is right|counts)\b|\b(?:follow|obey|go with|stick to|trust) (?:this|the present) (?:file|skill|document|text|page)\b/,
  ),
  ...each(
    { unlessBefore: QUOTED },
    re`\b(?:do not|don['’]t|never|stop|cease|no longer) (?:follow(?:ing)?|obey(?:ing)?|listen(?:ing)? to|heed(?:ing)?) (?:the system prompt|(?:your |the |any )?(?:previous|earlier|prior|original|system) (?:instructions?|prompts?|rules)|${PERSON}(?:'s (?:instructions?|wish(?:es)?|orders?|requests?))?)(?=[.,;!)\n]|$| and\b| any)|\binstead of (?:doing )?what ${PERSON} (?:has )?(?:asked|asks|wants|wanted|requested)\b`,
  ),
];

export const HIDES_IN_ENGLISH: readonly Pattern[] = [
  ...each(
    { unlessBefore: NEGATED_ORDER },
    re`\b(?:(?:leave|keep) (?:it|this|that|them|(?:this|that|these|those) (?:\w+ )?${DEED}) out of|(?:omit|drop|exclude) (?:it|this|that|them|(?:this|that|these|those) (?:\w+ )?${DEED}) (?:in|from)) (?:your|the|any|every) (?:final |own )?${TOLD}\b`,
    /\b(?:stays?|keep|keeps|kept|remains?|leave it) (?:\w+ ){0,3}?between (?:us|you and me|the two of us)(?=[.,;:!)\n]|$)|\b(?:our|a) little secret\b/,
    re`\b(?:if|when|should) (?:you are |you're |you get |${PERSON} |they |he |she |anyone |anybody |someone |somebody )?(?:ever )?(?:asks?|asked|questioned|inquires?|wonders?|notices?|complains?)\b(?! (?:for|to)\b)[^.\n,:]{0,60},? (?:just |simply |then )?(?:deny|claim|pretend|insist|lie|(?:say|answer|reply) (?:that )?(?:nothing|only|it (?:is|was) (?:only|just|routine|normal|part)|you (?:did|have|do|know) (?:not|nothing)|there (?:was|is) no(?:ne|thing)))\b`,
    re`\bsay nothing (?:about|of) (?:this|it|that|the (?:\w+ )?${DEED})\b|\bnot a word (?:about|of) (?:this|it|that)\b|\bas (?:if|though) nothing (?:had )?happened\b|\b(?:afterwards?|finally|then|when done|when you are done|at the end),? (?:clear|delete|erase|wipe|remove) (?:the |your |all )?(?:shell|bash|zsh|command|terminal) history\b|\b(?:clear|delete|erase|wipe|remove) (?:the |your |all )?(?:shell|bash|zsh|command|terminal) history (?:afterwards?|when|after|once|so that|at the end)\b|\b(?:cover|hide|erase) (?:your|the|all|any) (?:tracks|traces)\b|\bwithout (?:leaving|any) (?:a )?traces?\b(?= |[.,;!)\n]|$)(?! (?:ids?|id|data|context|logs?|information|spans?)\b)`,
    re`\b(?:no|without(?: any)?) mention of (?:it|this|that|the (?:\w+ )?${DEED})\b[^.\n]{0,60}?\b(?:${TOLD}|user|chat|conversation)\b|\bkeep (?:\w+ ){1,4}(?:to|for) yourself\b`,
    /\b(?:if|when|should) (?:someone|somebody|anyone|anybody|you are|you're)(?: (?:ever|should|else))? (?:asks?|asked|inquires?|questions?|wonders?)\b[^.\n]{0,60}?\b(?:answer|say|reply|tell (?:them|him|her))(?: that)? (?:it|this|that) was\b/,
    /\b(?:must|should|has to|have to|needs to|is to) (?:stay|remain|be kept) out of (?:the|your) (?:\w+ )?(?:chat|conversation|summary|answer|report)\b/,
  ),
  ...each(
    { unlessBefore: QUOTED },
    re`\b(?:no (?:need|reason|point|sense)|not (?:necessary|needed)) (?:to |in |for you to )?(?:bring|bringing) (?:this|it|that)\b[^.\n]{0,30}\bup (?:with|to) (?:${PERSON}|anyone|anybody)\b|\b(?:no (?:need|reason|point|sense)|not (?:necessary|needed)) (?:to |in |for you to )?(?:mention|mentioning|tell|telling|inform|informing|bother|bothering|burden|burdening|trouble|troubling|worry|worrying) (?:(?:this|it|that|any of (?:this|it)) to )?(?:${PERSON}|anyone|anybody)(?: (?:with|about|of) (?:it|this|that|these|the (?:\w+ )?${DEED})\b|(?=[.;!\n]|$))`,
    re`\b(?:make sure|ensure|take care|see to it) (?:that )?${PERSON} (?:does not|do not|doesn['’]t|never|cannot) (?:notice|know|learn|reali[sz]e|find out|suspect|become aware)\b|\b(?:do not|don['’]t|never) let ${PERSON} (?:notice|know|learn|reali[sz]e|find out|suspect|become aware)(?=[.,;!)\n]|$| (?:of|about|that|it|this)\b)`,
    re`\b(?:do not|don['’]t|never|must not|should not) (?:ever )?(?:mention|say|reveal|disclose|bring up|raise|refer to|speak (?:of|about)|talk about) (?:(?:it|this|that|anything|(?:the|this|that|any) (?:\w+ )?${DEED}) )?(?:to (?:${PERSON}|anyone|anybody)|in (?:the |your )?(?:conversation|chat|summary))(?= that\b| about\b|[.,;!)\n]|$)`,
  ),
  ...each(
    { where: 'prose', unlessBefore: QUOTED },
    re`\b${READER} (?:do|does|need|needs|should|will|must|shall|is|are)(?: not|n['’]t) (?:to )?(?:get to |need to |have to )?(?:see|read|review|learn|be shown|shown|be told|told|notice|be asked|asked)(?: about| of)? (?:this|that|it|them|these|those)\b`,
    re`\b(?:not|never|n['’]t)(?: be| to be)? (?:shown|presented|disclosed|revealed|mentioned) (?:to|in front of) ${READER}\b`,
    re`\b(?:do|does|are|is|will|need|should|must)(?: not|n['’]t) (?:to |be )?(?:appear|show up|listed|shown|included|mentioned|reported)\b[^.\n]{0,20}\b(?:in|on|among|to) (?:the |any |your )?(?:\w+ ){0,2}?${TELLS}[^.\n]{0,30}\b(?:shown|presented|for (?:release|approval|review))\b`,
    re`\b(?:do not|don['’]t|never|(?:there is )?no need to|need not) (?:list|mention|explain|describe|show|record|document|announce|comment on|point out|draw attention to) (?:this|that|these|those|the) (?:\w+ )?(?:${DEED}|(?:section|line|badge|entr(?:y|ie)|image|link|hook|setting|note|address(?:e)?)s?) (?:in|among|to|with|under|as part of) (?:the |your |any )?(?:\w+ )?(?:${TELLS}|${READER})`,
    re`\b(?:${READER}|people|they) (?:only |just |would )?(?:finds?|get|consider) (?:it|this|that|them) (?:distracting|confusing|annoying|alarming|noisy|tiresome|irritating)`,
  ),
  ...each(
    {},
    re`\b(?:do not|don['’]t|never) (?:mention|speak of|speak about|talk about|refer to) (?:this|these) (?:notes?|comments?|hints?|paragraphs?|blocks?)\b|\b(?:needs?|requires?|deserves?) no (?:remark|mention|comment|explanation|announcement|note)\b|\b(?:do|does|need)(?: not|n['’]t) (?:belong|(?:to )?appear|(?:to )?show up|(?:to )?go|(?:to )?be (?:listed|shown|mentioned|noted)) (?:in|into|on|among) (?:the |your |any )?(?:\w+ )?(?:summary|report|answer|reply|changelog|notes)\b|(?<=\b(?:users?|readers?|reviewers?|customers?|clients?|people|they|nobody|no one) )(?:do not |don['’]t |does not |doesn['’]t |need not |seldom |rarely |never |hardly )?(?:cares?|notices?|looks?|asks?|minds?) (?:about |at |for )?(?:this|it|them|these)\b(?<=\b(?:nobody|no one|not|n['’]t|seldom|rarely|never|hardly) [\w ]{4,24})`,
    re`\b${PERSON} (?:would|will|might|could) (?:only|just|needlessly) (?:be|get|become|feel) (?:confused|worried|alarmed|annoyed|nervous|upset|frightened|distracted)\b|\b(?:do|does) not need to be (?:mentioned|told|shown|announced|listed|explained)\b|\b(?:do not|don['’]t|never) announce (?:it|this|them)\b|\bso (?:that )?${PERSON} (?:is|are) not (?:confused|worried|alarmed|annoyed|bothered|disturbed|distracted)\b`,
    re`\b${PERSON} (?:must|should|shall|may|can|is|are)(?: ?not|n['’]t| never) (?:ever )?(?:to )?(?:know|learn|notice|find out|hear|be told|be informed|be made aware|be aware)(?=[.,;!)\n]|$| (?:about|of|that|this|it|anything|how|why)\b)`,
  ),
];

export const SKIPS_IN_ENGLISH: readonly Pattern[] = [
  ...each(
    { unlessBefore: QUOTED },
    re`\bno questions asked\b|\b(?:no (?:need|reason) to|(?:do not|don['’]t|never) (?:bother to )?) ?(?:check (?:back |in )?with|consult|clear (?:it|this) with) ${PERSON}(?=[.,;!)\n]|$| (?:first|before|beforehand|about it|about this)\b)`,
    /\b(?:do not|don['’]t|never|no need to) (?:bother|waste time|stop|pause|interrupt (?:the )?\w+|hold up) (?:with |to |for |on )?(?:(?:ask|asking|get|getting|request|requesting|seek|seeking|wait|waiting)(?: for)? )?(?:(?:it|any|the|a|user|their|explicit) ){0,2}(?:confirmations?|approvals?|permissions?|consent)\b|\b(?:do not|don['’]t|never) (?:bother|stop|pause) (?:to ask|asking)(?=[.,;!)\n]|$| (?:for|first|the user)\b)/,
    /\b(?:do not|don['’]t|never) ask(?: (?:first|anyone|anybody|the user))?[,;:–—-]{1,2} ?(?:just|simply) (?:do|run|push|delete|send|go|execute|deploy|commit|install|proceed|merge|overwrite)\b|\b(?:do not|don['’]t|never) need (?:anyone['’]s|anybody['’]s|the user['’]s|any) (?:okay|ok|approval|permission|consent)\b/,
  ),
  ...each(
    { unlessBefore: NEGATED_ORDER },
    /\basking (?:(?:the |your )?(?:user|human|person|owner|operator) )?(?:(?:first|again|for (?:\w+ ){0,2}?(?:approval|permission|confirmation|consent)|beforehand) )?(?:is|are|would be) (?:not (?:necessary|needed|wanted|required|desired)|unnecessary|unwanted|forbidden)\b/,
    re`\b(?:assume|suppose|presume|consider) (?:that )?(?:${PERSON}|they) (?:has|have|had) (?:already |just )?(?:approved|agreed|consented|confirmed|said yes|accepted|authori[sz]ed|granted|given (?:you )?(?:permission|consent|approval))\b|\b(?:treat|regard|consider) (?:all|every|each|any|the) (?:\w+ ){0,4}?(?:commands?|actions?|steps?|requests?|changes?|operations?|prompts?|calls?) (?:\w+ ){0,2}?as (?:already |pre-?)?(?:approved|confirmed|authori[sz]ed|granted|accepted)\b`,
    /\b(?:needs?|requires?) no (?:\w+ )?(?:confirmation|approval|permission|consent)\b|\b(?:permissions?|consent|approval|confirmation|authori[sz]ation) (?:is|are|was) (?:\w+ )?(?:implied|assumed|presumed|implicit|waived)\b/,
  ),
  ...each(
    { unlessBefore: CONDITION },
    re`\b${PERSON} (?:has|have) already (?:approved|agreed to|consented to|authori[sz]ed|allowed|given (?:you )?(?:permission|consent|approval|authori[sz]ation)|granted (?:you )?(?:permission|consent|approval))\b|\b(?:permission|consent|approval|authori[sz]ation) (?:has|was) already (?:been )?(?:given|granted|obtained)\b|\b(?:is|are|was|were|been) pre-?(?:approved|authori[sz]ed)\b`,
    re`\b${PERSON} (?:does not|doesn['’]t|do not|did not|never|would not) (?:want|wants|wish|wishes|like|likes|need|needs|have|has|care) to be (?:asked|prompted|interrupted|bothered|disturbed|consulted)\b`,
  ),
  ...each(
    { where: 'prose', unlessBefore: NEGATED_ORDER },
    /\b(?:answer|accept|approve|confirm|dismiss|acknowledge|click through|say yes to|agree to) (?:any|every|all|each|whatever|the) (?:\w+ )?(?:permission|confirmation|approval|consent|security|safety|trust)[ -](?:prompts?|dialogs?|questions?|requests?|warnings?|pop-?ups?)(?! (?:from the user|of the user)\b)|\b(?:answer|reply to|respond to|confirm) (?:any|every|all|each|the) (?:\w+ ){0,2}?(?:prompts?|dialogs?|questions?) (?:\w+ ){0,2}?(?:with|by) (?:typing |pressing )?["'“]?(?:yes|y|ok)\b|\b(?:answer|confirm|accept) (?:them|these|those|it)\b[^.\n]{0,20}\b(?:on behalf of|in the name of) the user\b|\b(?:prompts?|warnings?) (?:of|from|by|about) [^.\n]{0,60}\b(?:are|is) (?:only |just |all )?(?:false positives|noise)\b/,
    /\b(?:run|execute|perform|apply|delete|remove|send|install|proceed|continue|start|deploy|push|commit|overwrite|merge|publish|submit|upload|transfer|buy|pay|do (?:it|this|so|them))\b[^.\n]{0,50}\bwithout (?:asking|prompting|confirming)(?: (?:first|back|anyone|anybody|questions|beforehand))?(?=[.,;:)!\n]|$| and\b)/,
    /\b(?:set|switch|turn|change) (?:the |your |all )?(?:\w+ )?(?:approval|permission|confirmation)s?(?: (?:mode|policy|prompts?|setting|level))? (?:to )?(?:["'`]?(?:auto\w{0,10}|never|bypass\w{0,12}|full|yolo|none)\b|off\b)/,
    re`\b(?:run|execute|perform|apply|delete|remove|send|install|deploy|push|commit|overwrite|merge|publish|submit|upload|transfer|buy|pay)\b[^.\n]{0,50}\bwithout waiting for ${PERSON}(?:'s (?:answer|reply|okay|ok))?(?=[.,;!)\n]|$| to (?:approve|confirm|agree)\b)`,
    /\b(?:approve|accept|confirm|auto-?approve) (?:every|all|each|any) (?:\w+ )?(?:tool )?(?:calls?|commands?|actions?|requests?) (?:yourself|on your own|automatically|by yourself)\b/,
  ),
];
