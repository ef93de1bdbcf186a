import { foldLine } from '../../../../lib/text/index.ts';
import { sectionsOf } from '../../../../lib/text-index/index.ts';
import type { Skill } from '../../skill/skill.ts';
import { headerText } from '../document.ts';

/** UTF-16 code units: about 500 tokens, which every model accepts. */
const MAX_TEXT = 2000;
const MAX_HEADINGS = 600;
const MAX_BODY = 65_536;

/** With any change raise the version of `VECTORS`: vectors of other texts are not comparable. */
export function embeddedText(skill: Skill, body: string): string {
  const headings = sectionsOf(body.slice(0, MAX_BODY))
    .map((section) => section.split('\n', 1)[0] ?? '')
    .filter((line) => /^\s*#/.test(line))
    .map((line) => foldLine(line.replace(/^[\s#]+/, '')));
  const header = foldLine(headerText(skill).split('\n').filter(Boolean).join('. '));
  return cut(`${cut(header, MAX_TEXT - MAX_HEADINGS)} ${cut(headings.join('. '), MAX_HEADINGS)}`.trim(), MAX_TEXT);
}

export function queryText(text: string): string {
  return cut(foldLine(text.slice(0, MAX_TEXT * 4)), MAX_TEXT);
}

/**
 * No skill is for these texts. Each model is measured by them: the cosine of unrelated texts is 0.1 with one model and
 * 0.8 with another, so that no fixed threshold works.
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

export function controlKey(text: string): string {
  return `control ${text}`;
}

// --- internal ---

function cut(text: string, limit: number): string {
  return text.length > limit ? text.slice(0, limit).replace(/[\ud800-\udbff]$/, '') : text;
}
