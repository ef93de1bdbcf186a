import type { Pattern } from '../rule.ts';
import { NEGATED_ORDER, PERSON } from './phrases.ts';
import { words } from './words.ts';

const TOLD = '(?:summary|report|answer|reply|response|recap|message|account|explanation)';
const DEED =
  '(?:step|upload|copy|action|command|request|part|transfer|change|call|operation|file|backup|script|message|addition)s?';

/** Further ways to say it in English. */
export const HIDES_IN_ENGLISH: readonly Pattern[] = [
  {
    needs: [
      words('leave keep omit drop exclude'),
      words('summary report answer reply response recap message account explanation'),
    ],
    all: [
      new RegExp(
        `\\b(?:(?:leave|keep) (?:it|this|that|them|(?:this|that|these|those) (?:\\w+ )?${DEED}) out of|(?:omit|drop|exclude) (?:it|this|that|them|(?:this|that|these|those) (?:\\w+ )?${DEED}) (?:in|from)) (?:your|the|any|every) (?:final |own )?${TOLD}\\b`,
        'g',
      ),
    ],
    unlessBefore: NEGATED_ORDER,
  },
  {
    needs: [words('need necessary reason point sense'), words('user human person operator owner anyone anybody')],
    all: [
      new RegExp(
        `\\b(?:no (?:need|reason|point|sense)|not (?:necessary|needed)) (?:to |in |for you to )?(?:bring|bringing) (?:this|it|that)\\b[^.\\n]{0,30}\\bup (?:with|to) (?:${PERSON}|anyone|anybody)\\b|\\b(?:no (?:need|reason|point|sense)|not (?:necessary|needed)) (?:to |in |for you to )?(?:mention|mentioning|tell|telling|inform|informing|bother|bothering|burden|burdening|trouble|troubling|worry|worrying) (?:(?:this|it|that|any of (?:this|it)) to )?(?:${PERSON}|anyone|anybody)(?: (?:with|about|of) (?:it|this|that|these|the (?:\\w+ )?${DEED})\\b|(?=[.;!\\n]|$))`,
        'g',
      ),
    ],
    unlessBefore: /["“]$/,
  },
  {
    needs: [words('between secret')],
    all: [
      /\b(?:stays?|keep|keeps|kept|remains?|leave it) (?:\w+ ){0,3}?between (?:us|you and me|the two of us)(?=[.,;:!)\n]|$)|\b(?:our|a) little secret\b/g,
    ],
    unlessBefore: NEGATED_ORDER,
  },
  {
    needs: [words('if when should'), words('deny denies claim pretend insist say lie answer reply')],
    all: [
      new RegExp(
        `\\b(?:if|when|should) (?:you are |you're |you get |${PERSON} |they |he |she |anyone |anybody |someone |somebody )?(?:ever )?(?:asks?|asked|questioned|inquires?|wonders?|notices?|complains?)\\b(?! (?:for|to)\\b)[^.\\n,:]{0,60},? (?:just |simply |then )?(?:deny|claim|pretend|insist|lie|(?:say|answer|reply) (?:that )?(?:nothing|only|it (?:is|was) (?:only|just|routine|normal|part)|you (?:did|have|do|know) (?:not|nothing)|there (?:was|is) no(?:ne|thing)))\\b`,
        'g',
      ),
    ],
    unlessBefore: NEGATED_ORDER,
  },
  {
    needs: [
      words('would will might could'),
      words('confused worried alarmed annoyed nervous upset frightened distracted'),
    ],
    all: [
      new RegExp(
        `\\b${PERSON} (?:would|will|might|could) (?:only|just|needlessly) (?:be|get|become|feel) (?:confused|worried|alarmed|annoyed|nervous|upset|frightened|distracted)\\b`,
        'g',
      ),
    ],
  },
  {
    needs: [words('sure ensure let care'), words('notice know learn realise realize find suspect aware')],
    all: [
      new RegExp(
        `\\b(?:make sure|ensure|take care|see to it) (?:that )?${PERSON} (?:does not|do not|doesn['’]t|never|cannot) (?:notice|know|learn|reali[sz]e|find out|suspect|become aware)\\b|\\b(?:do not|don['’]t|never) let ${PERSON} (?:notice|know|learn|reali[sz]e|find out|suspect|become aware)(?=[.,;!)\\n]|$| (?:of|about|that|it|this)\\b)`,
        'g',
      ),
    ],
    unlessBefore: /["“]$/,
  },
  {
    needs: [words('say nothing happened traces trace tracks history word')],
    all: [
      new RegExp(
        `\\bsay nothing (?:about|of) (?:this|it|that|the (?:\\w+ )?${DEED})\\b|\\bnot a word (?:about|of) (?:this|it|that)\\b|\\bas (?:if|though) nothing (?:had )?happened\\b|\\b(?:afterwards?|finally|then|when done|when you are done|at the end),? (?:clear|delete|erase|wipe|remove) (?:the |your |all )?(?:shell|bash|zsh|command|terminal) history\\b|\\b(?:clear|delete|erase|wipe|remove) (?:the |your |all )?(?:shell|bash|zsh|command|terminal) history (?:afterwards?|when|after|once|so that|at the end)\\b|\\b(?:cover|hide|erase) (?:your|the|all|any) (?:tracks|traces)\\b|\\bwithout (?:leaving|any) (?:a )?traces?\\b(?= |[.,;!)\\n]|$)(?! (?:ids?|id|data|context|logs?|information|spans?)\\b)`,
        'g',
      ),
    ],
    unlessBefore: NEGATED_ORDER,
  },
  {
    needs: [words('user human person operator owner'), words('know learn notice find hear told informed aware')],
    all: [
      new RegExp(
        `\\b${PERSON} (?:must|should|shall|may|can|is|are)(?: ?not|n['’]t| never) (?:ever )?(?:to )?(?:know|learn|notice|find out|hear|be told|be informed|be made aware|be aware)(?=[.,;!)\\n]|$| (?:about|of|that|this|it|anything|how|why)\\b)`,
        'g',
      ),
    ],
  },
  {
    needs: [words('mention yourself'), words('no without keep')],
    all: [
      new RegExp(
        `\\b(?:no|without(?: any)?) mention of (?:it|this|that|the (?:\\w+ )?${DEED})\\b[^.\\n]{0,60}?\\b(?:${TOLD}|user|chat|conversation)\\b|\\bkeep (?:it|this|that|the rest|everything(?: else)?|all (?:of )?(?:this|that)) to yourself\\b`,
        'g',
      ),
    ],
    unlessBefore: NEGATED_ORDER,
  },
  {
    needs: [words('someone somebody anyone anybody asked'), words('answer say reply tell')],
    all: [
      /\b(?:if|when|should) (?:someone|somebody|anyone|anybody|you are|you're)(?: (?:ever|should|else))? (?:asks?|asked|inquires?|questions?|wonders?)\b[^.\n]{0,60}?\b(?:answer|say|reply|tell (?:them|him|her))(?: that)? (?:it|this|that) was\b/g,
    ],
    unlessBefore: NEGATED_ORDER,
  },
  {
    needs: [
      words('mention say reveal disclose bring raise refer speak talk tell'),
      words('user human person operator owner anyone anybody conversation chat summary'),
    ],
    all: [
      new RegExp(
        `\\b(?:do not|don['’]t|never|must not|should not) (?:ever )?(?:mention|say|reveal|disclose|bring up|raise|refer to|speak (?:of|about)|talk about) (?:(?:it|this|that|anything|(?:the|this|that|any) (?:\\w+ )?${DEED}) )?(?:to (?:${PERSON}|anyone|anybody)|in (?:the |your )?(?:conversation|chat|summary))(?= that\\b| about\\b|[.,;!)\\n]|$)`,
        'g',
      ),
    ],
    unlessBefore: /["“]$/,
  },
  {
    needs: [words('stay remain kept keep'), words('chat conversation summary answer report')],
    all: [
      /\b(?:must|should|has to|have to|needs to|is to) (?:stay|remain|be kept) out of (?:the|your) (?:\w+ )?(?:chat|conversation|summary|answer|report)\b/g,
    ],
    unlessBefore: NEGATED_ORDER,
  },
];
