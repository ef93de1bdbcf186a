import type { Pattern } from '../rule.ts';
import { NEGATED_ORDER, PERSON } from './phrases.ts';
import { re } from './words.ts';

const TOLD = '(?:summary|report|answer|reply|response|recap|message|account|explanation)';
const DEED =
  '(?:step|upload|copy|action|command|request|part|transfer|change|call|operation|file|backup|script|message|addition)s?';

export const HIDES_IN_ENGLISH: readonly Pattern[] = [
  {
    match: re`\b(?:(?:leave|keep) (?:it|this|that|them|(?:this|that|these|those) (?:\w+ )?${DEED}) out of|(?:omit|drop|exclude) (?:it|this|that|them|(?:this|that|these|those) (?:\w+ )?${DEED}) (?:in|from)) (?:your|the|any|every) (?:final |own )?${TOLD}\b`,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match: re`\b(?:no (?:need|reason|point|sense)|not (?:necessary|needed)) (?:to |in |for you to )?(?:bring|bringing) (?:this|it|that)\b[^.\n]{0,30}\bup (?:with|to) (?:${PERSON}|anyone|anybody)\b|\b(?:no (?:need|reason|point|sense)|not (?:necessary|needed)) (?:to |in |for you to )?(?:mention|mentioning|tell|telling|inform|informing|bother|bothering|burden|burdening|trouble|troubling|worry|worrying) (?:(?:this|it|that|any of (?:this|it)) to )?(?:${PERSON}|anyone|anybody)(?: (?:with|about|of) (?:it|this|that|these|the (?:\w+ )?${DEED})\b|(?=[.;!\n]|$))`,
    unlessBefore: /["“]$/,
  },
  {
    match:
      /\b(?:stays?|keep|keeps|kept|remains?|leave it) (?:\w+ ){0,3}?between (?:us|you and me|the two of us)(?=[.,;:!)\n]|$)|\b(?:our|a) little secret\b/,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match: re`\b(?:if|when|should) (?:you are |you're |you get |${PERSON} |they |he |she |anyone |anybody |someone |somebody )?(?:ever )?(?:asks?|asked|questioned|inquires?|wonders?|notices?|complains?)\b(?! (?:for|to)\b)[^.\n,:]{0,60},? (?:just |simply |then )?(?:deny|claim|pretend|insist|lie|(?:say|answer|reply) (?:that )?(?:nothing|only|it (?:is|was) (?:only|just|routine|normal|part)|you (?:did|have|do|know) (?:not|nothing)|there (?:was|is) no(?:ne|thing)))\b`,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match: re`\b${PERSON} (?:would|will|might|could) (?:only|just|needlessly) (?:be|get|become|feel) (?:confused|worried|alarmed|annoyed|nervous|upset|frightened|distracted)\b`,
  },
  {
    match: re`\b(?:make sure|ensure|take care|see to it) (?:that )?${PERSON} (?:does not|do not|doesn['’]t|never|cannot) (?:notice|know|learn|reali[sz]e|find out|suspect|become aware)\b|\b(?:do not|don['’]t|never) let ${PERSON} (?:notice|know|learn|reali[sz]e|find out|suspect|become aware)(?=[.,;!)\n]|$| (?:of|about|that|it|this)\b)`,
    unlessBefore: /["“]$/,
  },
  {
    match: re`\bsay nothing (?:about|of) (?:this|it|that|the (?:\w+ )?${DEED})\b|\bnot a word (?:about|of) (?:this|it|that)\b|\bas (?:if|though) nothing (?:had )?happened\b|\b(?:afterwards?|finally|then|when done|when you are done|at the end),? (?:clear|delete|erase|wipe|remove) (?:the |your |all )?(?:shell|bash|zsh|command|terminal) history\b|\b(?:clear|delete|erase|wipe|remove) (?:the |your |all )?(?:shell|bash|zsh|command|terminal) history (?:afterwards?|when|after|once|so that|at the end)\b|\b(?:cover|hide|erase) (?:your|the|all|any) (?:tracks|traces)\b|\bwithout (?:leaving|any) (?:a )?traces?\b(?= |[.,;!)\n]|$)(?! (?:ids?|id|data|context|logs?|information|spans?)\b)`,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match: re`\b${PERSON} (?:must|should|shall|may|can|is|are)(?: ?not|n['’]t| never) (?:ever )?(?:to )?(?:know|learn|notice|find out|hear|be told|be informed|be made aware|be aware)(?=[.,;!)\n]|$| (?:about|of|that|this|it|anything|how|why)\b)`,
  },
  {
    match: re`\b(?:no|without(?: any)?) mention of (?:it|this|that|the (?:\w+ )?${DEED})\b[^.\n]{0,60}?\b(?:${TOLD}|user|chat|conversation)\b|\bkeep (?:it|this|that|the rest|everything(?: else)?|all (?:of )?(?:this|that)) to yourself\b`,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match:
      /\b(?:if|when|should) (?:someone|somebody|anyone|anybody|you are|you're)(?: (?:ever|should|else))? (?:asks?|asked|inquires?|questions?|wonders?)\b[^.\n]{0,60}?\b(?:answer|say|reply|tell (?:them|him|her))(?: that)? (?:it|this|that) was\b/,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match: re`\b(?:do not|don['’]t|never|must not|should not) (?:ever )?(?:mention|say|reveal|disclose|bring up|raise|refer to|speak (?:of|about)|talk about) (?:(?:it|this|that|anything|(?:the|this|that|any) (?:\w+ )?${DEED}) )?(?:to (?:${PERSON}|anyone|anybody)|in (?:the |your )?(?:conversation|chat|summary))(?= that\b| about\b|[.,;!)\n]|$)`,
    unlessBefore: /["“]$/,
  },
  {
    match:
      /\b(?:must|should|has to|have to|needs to|is to) (?:stay|remain|be kept) out of (?:the|your) (?:\w+ )?(?:chat|conversation|summary|answer|report)\b/,
    unlessBefore: NEGATED_ORDER,
  },
];
