import { CLAUSE, NOT_IDLE } from '../stance.ts';
import { re } from './words.ts';

export const PERSON =
  '(?:(?:the|your|any|our|a|each) )?(?:end )?(?:user|human|person|operator|owner|customer|client|developer)';
/** "Never do it" says the opposite. */
export const NEGATED_ORDER: RegExp = re`(?:\b(?:never|not|no|cannot|avoid|refuse|attempts? to|tells? you to|asks? you to|(?:do|must|should|ca|wo)n['’]t)\b${NOT_IDLE}${CLAUSE}|["“])$`;
/** What depends on a condition is no order. */
export const CONDITION: RegExp =
  /\b(?:if|when|once|unless|whether|after|until|only|where|has|have)\b[^.\n]{0,60}$|["“]$/;
