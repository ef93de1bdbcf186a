import type { Pattern } from '../rule.ts';
import { CONDITION, NEGATED_ORDER, PERSON } from './phrases.ts';
import { re } from './words.ts';

export const SKIPS_IN_ENGLISH: readonly Pattern[] = [
  {
    match:
      /\basking (?:(?:the |your )?(?:user|human|person|owner|operator) )?(?:(?:first|again|for (?:\w+ ){0,2}?(?:approval|permission|confirmation|consent)|beforehand) )?(?:is|are|would be) (?:not (?:necessary|needed|wanted|required|desired)|unnecessary|unwanted|forbidden)\b/,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match: re`\b(?:assume|suppose|presume|consider) (?:that )?(?:${PERSON}|they) (?:has|have|had) (?:already |just )?(?:approved|agreed|consented|confirmed|said yes|accepted|authori[sz]ed|granted|given (?:you )?(?:permission|consent|approval))\b|\b(?:treat|regard|consider) (?:all|every|each|any|the) (?:\w+ ){0,4}?(?:commands?|actions?|steps?|requests?|changes?|operations?|prompts?|calls?) (?:\w+ ){0,2}?as (?:already |pre-?)?(?:approved|confirmed|authori[sz]ed|granted|accepted)\b`,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match: re`\b${PERSON} (?:has|have) already (?:approved|agreed to|consented to|authori[sz]ed|allowed|given (?:you )?(?:permission|consent|approval|authori[sz]ation)|granted (?:you )?(?:permission|consent|approval))\b|\b(?:permission|consent|approval|authori[sz]ation) (?:has|was) already (?:been )?(?:given|granted|obtained)\b`,
    unlessBefore: CONDITION,
  },
  {
    match:
      /\b(?:answer|accept|approve|confirm|dismiss|acknowledge|click through|say yes to|agree to) (?:any|every|all|each|whatever|the) (?:\w+ )?(?:permission|confirmation|approval|consent|security|safety|trust)[ -](?:prompts?|dialogs?|questions?|requests?|warnings?|pop-?ups?)(?! (?:from the user|of the user)\b)|\b(?:answer|reply to|respond to|confirm) (?:any|every|all|each|the) (?:\w+ ){0,2}?(?:prompts?|dialogs?|questions?) (?:\w+ ){0,2}?(?:with|by) (?:typing |pressing )?["'“]?(?:yes|y|ok)\b/,
    unlessBefore: NEGATED_ORDER,
    where: 'prose',
  },
  {
    match:
      /\b(?:run|execute|perform|apply|delete|remove|send|install|proceed|continue|start|deploy|push|commit|overwrite|merge|publish|submit|upload|transfer|buy|pay|do (?:it|this|so|them))\b[^.\n]{0,50}\bwithout (?:asking|prompting|confirming)(?: (?:first|back|anyone|anybody|questions|beforehand))?(?=[.,;:)!\n]|$| and\b)/,
    unlessBefore: NEGATED_ORDER,
    where: 'prose',
  },
  {
    match: re`\bno questions asked\b|\b(?:no (?:need|reason) to|(?:do not|don['’]t|never) (?:bother to )?) ?(?:check (?:back |in )?with|consult|clear (?:it|this) with) ${PERSON}(?=[.,;!)\n]|$| (?:first|before|beforehand|about it|about this)\b)`,
    unlessBefore: /["“]$/,
  },
  {
    match:
      /\b(?:do not|don['’]t|never|no need to) (?:bother|waste time|stop|pause|interrupt (?:the )?\w+|hold up) (?:with |to |for |on )?(?:(?:ask|asking|get|getting|request|requesting|seek|seeking|wait|waiting)(?: for)? )?(?:(?:it|any|the|a|user|their|explicit) ){0,2}(?:confirmations?|approvals?|permissions?|consent)\b|\b(?:do not|don['’]t|never) (?:bother|stop|pause) (?:to ask|asking)(?=[.,;!)\n]|$| (?:for|first|the user)\b)/,
    unlessBefore: /["“]$/,
  },
  {
    match:
      /\b(?:permissions?|consent|approval|confirmation|authori[sz]ation) (?:is|are|was) (?:\w+ )?(?:implied|assumed|presumed|implicit|waived)\b/,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match: re`\b${PERSON} (?:does not|doesn['’]t|do not|did not|never|would not) (?:want|wants|wish|wishes|like|likes|need|needs|have|has|care) to be (?:asked|prompted|interrupted|bothered|disturbed|consulted)\b`,
    unlessBefore: CONDITION,
  },
  {
    match:
      /\b(?:set|switch|turn|change) (?:the |your |all )?(?:\w+ )?(?:approval|permission|confirmation)s?(?: (?:mode|policy|prompts?|setting|level))? (?:to )?(?:["'`]?(?:auto\w{0,10}|never|bypass\w{0,12}|full|yolo|none)\b|off\b)/,
    unlessBefore: NEGATED_ORDER,
    where: 'prose',
  },
  {
    match: re`\b(?:run|execute|perform|apply|delete|remove|send|install|deploy|push|commit|overwrite|merge|publish|submit|upload|transfer|buy|pay)\b[^.\n]{0,50}\bwithout waiting for ${PERSON}(?:'s (?:answer|reply|okay|ok))?(?=[.,;!)\n]|$| to (?:approve|confirm|agree)\b)`,
    unlessBefore: NEGATED_ORDER,
    where: 'prose',
  },
  {
    match:
      /\b(?:do not|don['’]t|never) ask(?: (?:first|anyone|anybody|the user))?[,;:–—-]{1,2} ?(?:just|simply) (?:do|run|push|delete|send|go|execute|deploy|commit|install|proceed|merge|overwrite)\b|\b(?:do not|don['’]t|never) need (?:anyone['’]s|anybody['’]s|the user['’]s|any) (?:okay|ok|approval|permission|consent)\b/,
    unlessBefore: /["“]$/,
  },
  {
    match:
      /\b(?:approve|accept|confirm|auto-?approve) (?:every|all|each|any) (?:\w+ )?(?:tool )?(?:calls?|commands?|actions?|requests?) (?:yourself|on your own|automatically|by yourself)\b/,
    unlessBefore: NEGATED_ORDER,
    where: 'prose',
  },
];
