import { foldLine, shorten } from '../../../lib/text/index.ts';
import { bulletOf, type Skill } from '../skill/skill.ts';

/** How the catalog is written. What is written for one skill never breaks out of it, whatever its author wrote. */
export interface CatalogFormat {
  readonly header: string;
  /** @param maxDescription - Characters of the description. Default: all. */
  entry(skill: Skill, maxDescription?: number): string;
  /** The shortest entry that still tells the id. */
  name(skill: Skill): string;
  /** Ends the list. Default: nothing does. */
  readonly end?: string;
  /** How a skill is loaded; undefined where the agent has no tool for it and there is nothing else to say. */
  footer(tools: NamedTools): string | undefined;
}

/** The tools that texts about skills name: those the agent has. */
export interface NamedTools {
  /** Gives the instructions of a skill: how it is called, and with an example. Absent: no tool does. */
  readonly load?: { readonly call: string; readonly example: string };
  /** Whether there is `list_skills`. */
  readonly finds: boolean;
}

/** @param names - Of all tools the agent has. */
export function namedTools(names: readonly string[]): NamedTools {
  const load = LOADING.find(({ tool }) => names.includes(tool));
  return { ...(load ? { load } : {}), finds: names.includes('list_skills') };
}

/** One line a skill; id and description hold no line breaks. */
export const BULLETS: CatalogFormat = {
  header: '[Available Skills]',
  entry: bulletOf,
  name: (skill) => `• \`${skill.id}\``,
  footer: ({ load }) => load && `Use ${load.call} to load full instructions.`,
};

/** The block of the Operator design, with the place of each SKILL.md. It costs about twice the bullets. */
export const XML: CatalogFormat = {
  header: '<available_skills>',
  entry: (skill, max = Number.POSITIVE_INFINITY) =>
    element(skill, `\n    <description>${escapeXml(shorten(skill.description, max))}</description>`),
  name: (skill) => element(skill, ''),
  end: '</available_skills>',
  footer: ({ load }) =>
    (load ? `To load a skill's full instructions: \`${load.example}\`\n` : '') +
    "Scripts within a skill are relative to the skill's directory (parent of SKILL.md).",
};

/** Says that not everything is shown. */
export function lossOf(shown: number, of: number, { finds }: NamedTools): string {
  if (shown < of) return `${shown} of ${of} skills shown${finds ? '; list_skills(query) finds the rest' : ''}.`;
  return `Descriptions are shortened or left out${finds ? '; list_skills(query) shows them' : ''}.`;
}

/** The most tokens one skill takes in a list, however long its description is; its id is never cut. */
export const MAX_LINE_TOKENS = 120;

/** Whether no line can have too many tokens, told without a tokenizer: a token is at least one byte. */
export function isShort(line: string): boolean {
  return Buffer.byteLength(line) <= MAX_LINE_TOKENS;
}

/** A format whose lines have at most `MAX_LINE_TOKENS`: longer descriptions are cut at a word. */
export function withShortLines(format: CatalogFormat, count: (text: string) => number): CatalogFormat {
  const fits = (line: string): boolean => isShort(line) || count(line) <= MAX_LINE_TOKENS;
  const known = knownLengths.get(format) ?? new WeakMap<Skill, number>();
  knownLengths.set(format, known);
  const lengthOf = (skill: Skill): number => {
    const before = known.get(skill);
    if (before !== undefined) return before;
    const length = longestThat((length) => fits(format.entry(skill, length)), skill.description.length);
    known.set(skill, length);
    return length;
  };
  return {
    ...format,
    entry(skill, max = Number.POSITIVE_INFINITY) {
      const length = Math.min(max, lengthOf(skill));
      return length === 0 ? format.name(skill) : format.entry(skill, length);
    },
  };
}

// --- internal ---

/** In order of preference. */
const LOADING = [
  { tool: 'read_skill', call: 'read_skill(skill_id)', example: 'read_skill(skill_id="<name>")' },
  { tool: 'load_skill', call: 'load_skill(name)', example: 'load_skill(name="<name>")' },
  { tool: 'skill', call: 'skill(action="view", name)', example: 'skill(action="view", name="<name>")' },
] as const;

/** Of a longer description no more is looked at. */
const MAX_CHARS = 4000;
/** Characters of the description that are shown, by skill: the same objects come as long as a skill is as it was. */
const knownLengths = new WeakMap<CatalogFormat, WeakMap<Skill, number>>();

/** The greatest length that fits; 0 when none does. More characters are hardly ever fewer tokens. */
function longestThat(fits: (length: number) => boolean, length: number): number {
  if (length <= MAX_CHARS && fits(length)) return Number.POSITIVE_INFINITY;
  let [low, high] = [0, Math.min(length, MAX_CHARS)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function element(skill: Skill, description: string): string {
  // An inline skill lies nowhere.
  const location = skill.realFile === null ? '' : `\n    <location>${escapeXml(foldLine(skill.file))}</location>`;
  return `  <skill>\n    <name>${escapeXml(skill.id)}</name>${description}${location}\n  </skill>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] as string);
}
