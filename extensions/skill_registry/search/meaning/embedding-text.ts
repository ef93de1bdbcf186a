import { foldLine } from '../../../../lib/text/index.ts';
import { sectionsOf } from '../../../../lib/text-index/index.ts';
import type { Skill } from '../../skill/skill.ts';
import { headerText } from '../document.ts';

/** Of one text, in UTF-16 code units: about 500 tokens, which every model takes. */
const MAX_TEXT = 2000;
/** Of it, for headings of the body. */
const MAX_HEADINGS = 600;
const MAX_BODY = 65_536;

/**
 * The text of a skill that is embedded: what it says about itself, then the headings of its instructions. Raise the version of
 * `VECTORS` with any change: vectors of other texts are not comparable.
 */
export function embeddedText(skill: Skill, body: string): string {
  const headings = sectionsOf(body.slice(0, MAX_BODY))
    .map((section) => section.split('\n', 1)[0] ?? '')
    .filter((line) => /^\s*#/.test(line))
    .map((line) => foldLine(line.replace(/^[\s#]+/, '')));
  const header = foldLine(headerText(skill).split('\n').filter(Boolean).join('. '));
  return cut(`${cut(header, MAX_TEXT - MAX_HEADINGS)} ${cut(headings.join('. '), MAX_HEADINGS)}`.trim(), MAX_TEXT);
}

/** A query or a prompt, bounded in the same way. */
export function queryText(text: string): string {
  return cut(foldLine(text.slice(0, MAX_TEXT * 4)), MAX_TEXT);
}

/**
 * Texts that no skill is for, in the shapes that queries have. How near the nearest skill comes to them is measured for each
 * model: the cosine of unrelated texts is 0.1 with one and 0.8 with another, so no fixed threshold could be right.
 */
export const CONTROL_TEXTS: readonly string[] = [
  'blorf zindle quav',
  'asdf qwer zxcv uiop hjkl',
  'xk-7719-qq',
  'the',
  'grandmother',
  'purple elephant umbrella',
  'My grandmother’s cat slept on the warm windowsill all afternoon.',
  'What did the baker say to the fisherman about the rain last Tuesday?',
  'Why do pigeons bob their heads when they walk across the square?',
  'Please tell my sister that the train to the seaside was late again.',
  'lyrics of an old lullaby about the moon and a sleepy bear',
  'best mattress for back pain under a sloping roof',
];

/** The key of a control text’s vector, as `documentKey` is that of a skill’s. */
export function controlKey(text: string): string {
  return `control ${text}`;
}

// --- internal ---

function cut(text: string, limit: number): string {
  return text.length > limit ? text.slice(0, limit).replace(/[\ud800-\udbff]$/, '') : text;
}
