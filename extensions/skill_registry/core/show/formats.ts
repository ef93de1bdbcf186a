import { onceFor } from '../../../../lib/recent-map/index.ts';
import { foldLine, plural, shorten } from '../../../../lib/text/index.ts';
import { secondsToIndex } from '../search/list-skills.ts';
import { bulletOf, type Skill } from '../skill/skill.ts';

/** The text of one skill never breaks out of its entry, whatever its author wrote. */
export interface CatalogFormat {
  readonly header: string;
  /** @param maxDescription - Characters. Default: all. */
  entry(skill: Skill, maxDescription?: number): string;
  /** The shortest entry that contains the id. */
  name(skill: Skill): string;
  /** For skills without a short line in this format. Default: none. */
  readonly smaller?: CatalogFormat;
  readonly end?: string;
  /** How a skill is loaded; undefined without a tool for it when there is nothing else to say. */
  footer(tools: NamedTools): string | undefined;
}

/** The tools of the agent that texts about skills name. */
export interface NamedTools {
  /** Gives the instructions of a skill. Absent: the agent has no tool for it. */
  readonly load?: { readonly call: string; readonly example: string };
  /** There is `list_skills`. */
  readonly finds: boolean;
}

/** @param names - All tools of the agent. */
export function namedTools(names: readonly string[]): NamedTools {
  const load = LOADING.find(({ tool }) => names.includes(tool));
  return { ...(load ? { load } : {}), finds: names.includes('list_skills') };
}

/** Id and description have no line breaks. */
export const BULLETS: CatalogFormat = {
  header: '[Available Skills]',
  entry: bulletOf,
  name: (skill) => `• \`${skill.id}\``,
  footer: ({ load }) => load && `Use ${load.call} to load full instructions.`,
};

/** The block of the Operator design. It costs about twice the bullets. */
export const XML: CatalogFormat = {
  header: '<available_skills>',
  ...elementsOf(({ file }) => file),
  smaller: { header: '', ...elementsOf(() => undefined), footer: () => undefined },
  end: '</available_skills>',
  footer: ({ load }) =>
    (load ? `To load a skill's full instructions: \`${load.example}\`\n` : '') +
    "Scripts within a skill are relative to the skill's directory (parent of SKILL.md).",
};

/** For a client that may be on another machine: URIs instead of paths; files of a skill are resources below its URI. */
export const XML_ADDRESSES: CatalogFormat = { ...XML, ...elementsOf(({ id }) => `skill://${id}/SKILL.md`) };

export function omissionLine(shown: number, of: number, { finds }: NamedTools): string {
  if (shown < of) return `${shown} of ${of} skills shown${finds ? '; list_skills(query) finds the rest' : ''}.`;
  return `Descriptions are shortened or left out${finds ? '; list_skills(query) shows them' : ''}.`;
}

export function provisionalLine(pending: number, { finds }: NamedTools): string {
  const again = finds ? `call list_skills again in about ${secondsToIndex(pending)} s` : 'later turns have all';
  return `This order is provisional: of ${plural(pending, 'skill')} only names and descriptions count yet; ${again}.`;
}

/** Of one skill in a list. Descriptions are cut, ids never. */
const MAX_LINE_TOKENS = 120;

/** Certainly short, without a tokenizer: a token has at least one byte. */
export function isShort(line: string): boolean {
  return Buffer.byteLength(line) <= MAX_LINE_TOKENS;
}

export type TokenCounter = (text: string) => number;

export interface ShortLines extends CatalogFormat {
  /** False for a skill whose id alone has more tokens: it has no line. */
  has(skill: Skill): boolean;
  listed(skills: readonly Skill[]): readonly Skill[];
}

/** Longer descriptions are cut at a word. The same object for the same counter and format. */
export function withShortLines(format: CatalogFormat, count: TokenCounter): ShortLines {
  return shortLines(count)(format);
}

// --- internal ---

const LOADING = [
  { tool: 'read_skill', call: 'read_skill(skill_id)', example: 'read_skill(skill_id="<name>")' },
  { tool: 'skill__activate', call: 'skill__activate(name)', example: 'skill__activate(name="<name>")' },
  { tool: 'load_skill', call: 'load_skill(name)', example: 'load_skill(name="<name>")' },
  { tool: 'skill', call: 'skill(action="view", name)', example: 'skill(action="view", name="<name>")' },
] as const;

/** Characters of a description that are used. */
const MAX_CHARS = 4000;
const shortLines = onceFor((count: TokenCounter) => onceFor((format: CatalogFormat) => makeShortLines(format, count)));

function makeShortLines(format: CatalogFormat, count: TokenCounter): ShortLines {
  const fits = (line: string): boolean => isShort(line) || count(line) <= MAX_LINE_TOKENS;
  const smaller = format.smaller && withShortLines(format.smaller, count);
  const isNamed = onceFor((skill: Skill) => fits(format.name(skill)));
  const nameOf = (skill: Skill): string => (smaller && !isNamed(skill) ? smaller : format).name(skill);
  const lengthOf = onceFor((skill: Skill) =>
    longestThat((length) => fits(format.entry(skill, length)), skill.description.length),
  );
  const has = (skill: Skill): boolean => isNamed(skill) || smaller?.has(skill) === true;
  return {
    ...format,
    name: nameOf,
    has,
    listed: onceFor((skills: readonly Skill[]) => skills.filter(has)),
    entry(skill, max = Number.POSITIVE_INFINITY) {
      const length = Math.min(max, lengthOf(skill));
      if (length > 0) return format.entry(skill, length);
      return smaller ? smaller.entry(skill, max) : nameOf(skill);
    },
  };
}

/** 0 when none fits. Assumes that more characters have more tokens, which is almost always true. */
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

function elementsOf(locationOf: (skill: Skill) => string | undefined): Pick<CatalogFormat, 'entry' | 'name'> {
  const element = (skill: Skill, description: string): string => {
    // An inline skill has no file.
    const text = skill.realFile === null ? undefined : locationOf(skill);
    const location = text === undefined ? '' : `\n    <location>${escapeXml(foldLine(text))}</location>`;
    return `  <skill>\n    <name>${escapeXml(skill.id)}</name>${description}${location}\n  </skill>`;
  };
  return {
    entry: (skill, max = Number.POSITIVE_INFINITY) =>
      element(skill, `\n    <description>${escapeXml(shorten(skill.description, max))}</description>`),
    name: (skill) => element(skill, ''),
  };
}

const ENTITIES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&${ENTITIES[char]};`);
}
