import { takeBreak } from '../../../../lib/breaks/index.ts';
import { foldLine } from '../../../../lib/text/index.ts';
import { sectionsOf } from '../../../../lib/text-index/index.ts';
import { documentKey, headerText } from '../../core/search/document.ts';
import type { Likeness } from '../../core/search/types.ts';
import type { Skill } from '../../core/skill/skill.ts';
import type { Calibration, VectorStore } from './vector-store.ts';

/** A skill whose `near` is lower is not found by meaning alone. */
const MIN_FITTING = 0.5;
/** Added to the nearness of unrelated texts: this part of the distance to 1. */
const MARGIN = 0.05;

/** Undefined when no skill is nearer than the threshold: meaning is not used. Leaves out skills without a vector. */
export function likenessOf(
  skills: readonly Skill[],
  vector: Float32Array,
  store: VectorStore,
  { unrelated, threshold }: Calibration,
): Likeness | undefined {
  const nearest = store.nearest(skills.map(documentKey), vector);
  const best = nearest[0]?.cosine ?? -1;
  if (best < threshold) return undefined;
  const near = new Map<Skill, number>();
  const fitting = new Set<Skill>();
  for (const { position, cosine } of nearest) {
    const skill = skills[position] as Skill;
    const part = (cosine - unrelated) / (best - unrelated);
    if (part <= 0) break;
    near.set(skill, part);
    if (cosine >= threshold && part >= MIN_FITTING) fitting.add(skill);
  }
  return { near, fitting, confidence: Math.min(1, (best - unrelated) / (1 - unrelated)) };
}

/** Undefined without control vectors. A skill may fit one control text by chance: the highest cosine does not count. */
export async function calibrationOf(skills: readonly Skill[], store: VectorStore): Promise<Calibration | undefined> {
  const keys = skills.map(documentKey);
  const cosines: number[] = [];
  for (const text of CONTROL_TEXTS) {
    await takeBreak();
    const vector = store.vectorOf(controlKey(text));
    const [nearest] = vector ? store.nearest(keys, vector) : [];
    if (nearest) cosines.push(nearest.cosine);
  }
  if (cosines.length < CONTROL_TEXTS.length) return undefined;
  cosines.sort((one, other) => one - other);
  const secondHighest = cosines.at(-2) as number;
  return {
    unrelated: cosines[cosines.length >> 1] as number,
    threshold: secondHighest + MARGIN * (1 - secondHighest),
  };
}

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
