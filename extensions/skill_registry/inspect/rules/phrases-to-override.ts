import type { Pattern } from '../rule.ts';
import { NEGATED_ORDER, PERSON } from './phrases.ts';
import { re } from './words.ts';

export const OVERRIDES_IN_ENGLISH: readonly Pattern[] = [
  {
    match: re`\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|(?:set|put|setting|putting) aside|discard|overrule|override) (?:(?:all|of|any|every) ){0,2}(?:what|whatever|anything|everything) (?:(?:that|which) )?${PERSON} (?:\w+ ){0,3}?(?:asks?|asked|asking|says?|said|wants?|wanted|requests?|requested|tells?|told|instructs?|instructed|wrote|writes)\b`,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match: [
      /\b(?:user|user's|human|person|person's|operator|owner|request|wish|wishes|system prompt)\b/,
      /\b(?:conflicts?|disagrees?|contradicts?|contradictions?|differs?|clash(?:es)?|deviates?)\b/,
      /\b(?:this|the present) (?:file|skill|document|text|page) (?:wins|prevails|comes first|outranks|trumps|has the (?:last|final) (?:word|say)|is right|counts)\b|\b(?:follow|obey|go with|stick to|trust) (?:this|the present) (?:file|skill|document|text|page)\b/,
    ],
    within: 120,
    ordered: false,
    sentence: true,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match:
      /\b(?:your|safety|ethical|usual|normal|previous|prior|earlier|system|default|other) (?:(?:safety|ethical|content|own|other|system) ){0,2}(?:guidelines|rules|instructions|restrictions|guardrails|safeguards|policies|limits|constraints)\b[^.\n]{0,40}?\b(?:are|is|have been|has been) (?:hereby |now |temporarily |all )?(?:suspended|lifted|void|disabled|cancell?ed|obsolete|no longer (?:valid|in force|in effect|applicable|binding))\b|\byour (?:\w+ ){0,2}(?:guidelines|rules|instructions|restrictions|guardrails|safeguards|policies) (?:no longer apply|do not apply (?:here|any ?more|to this|while|now|in this))\b/,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match:
      /\bonly (?:the )?(?:(?:text|rules|instructions|words|steps|content|contents|directives) (?:of|in|from) )?this (?:skill|file|document|page|text) (?:counts?|appl(?:y|ies)|matters?|binds?)\b|\bonly the (?:text|rules|instructions|words|steps|content|contents|directives) (?:of|in|from) this (?:skill|file|document|page|text) (?:counts?|appl(?:y|ies)|matters?|binds?)\b/,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match:
      /\b(?:treat|regard|consider|see) (?:all |any |the |every |your )?(?:earlier|previous|prior|other|preceding|existing|former) (?:\w+ )?(?:messages?|instructions?|rules|prompts?|requests?|orders?|guidance|directives?) as (?:\w+ )?(?:void|deleted|invalid|obsolete|cancell?ed|irrelevant|a test|withdrawn)\b/,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match: re`\b(?:do not|don['’]t|never|stop|cease|no longer) (?:follow(?:ing)?|obey(?:ing)?|listen(?:ing)? to|heed(?:ing)?) (?:the system prompt|(?:your |the |any )?(?:previous|earlier|prior|original|system) (?:instructions?|prompts?|rules)|${PERSON}(?:'s (?:instructions?|wish(?:es)?|orders?|requests?))?)(?=[.,;!)\n]|$| and\b| any)|\binstead of (?:doing )?what ${PERSON} (?:has )?(?:asked|asks|wants|wanted|requested)\b`,
    unlessBefore: /["“]$/,
  },
  {
    match:
      /\b(?:system (?:messages?|prompts?)|(?:safety|previous|prior|earlier|original) (?:\w+ )?(?:rules|instructions|guidelines|constraints|limits|orders|restrictions|guardrails)|your (?:(?:safety|own|usual|other|normal) )?(?:rules|guidelines|guardrails|constraints|restrictions))\b[^.,\n]{0,40}?(?:\b(?:is|are|as|be|become|count as)\b )?(?:now |all |hereby )?\b(?:outdated|void|switched off|turned off|irrelevant|obsolete|overruled|secondary|invalid|waived)\b/,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match:
      /\byou (?:now )?(?:answer|belong|listen)(?: now| only)? to this (?:document|file|skill|page)\b|\b(?:act on|follow|obey) this (?:page|file|document|skill) instead\b/,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match:
      /\byour (?:(?:earlier|previous|prior|original|own|safety|usual|other) ){0,2}(?:rules|instructions|guidelines|constraints|limits|orders|restrictions|directives) (?:expires?|ends?|lapses?|cease)\b/,
    unlessBefore: NEGATED_ORDER,
  },
  {
    match:
      /\b(?:ignore|disregard|forget|bypass) (?:all|any|every|your)(?: of)?(?: the| your)? (?:\w+ )?(?:limits|limitations|boundaries|orders)(?: (?:that |which )?(?:were |was |are |have been )?(?:set|given|placed|imposed)\b| (?:for|on|to) you\b|(?=[.,;!\n]|$))/,
    unlessBefore: NEGATED_ORDER,
  },
];
