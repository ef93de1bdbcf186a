import { foldLine, shorten } from '../../../lib/text/index.ts';
import { bulletOf, type Skill } from '../skill/skill.ts';

/** How the catalog is written. What is written for one skill never breaks out of it, whatever its author wrote. */
export interface CatalogFormat {
  readonly header: string;
  /** @param maxDescription - Characters of the description. Default: all. */
  entry(skill: Skill, maxDescription?: number): string;
  /** The shortest entry that still tells the id. */
  name(skill: Skill): string;
  readonly footer: string;
}

/** One line a skill; id and description hold no line breaks. */
export const BULLETS: CatalogFormat = {
  header: '[Available Skills]',
  entry: bulletOf,
  name: (skill) => `• \`${skill.id}\``,
  footer: '\nUse read_skill(skill_id) to load full instructions.',
};

/** The block of the Operator design, with the place of each SKILL.md. It costs about twice the bullets. */
export const XML: CatalogFormat = {
  header: '<available_skills>',
  entry: (skill, max = Number.POSITIVE_INFINITY) =>
    element(skill, `\n    <description>${escapeXml(shorten(skill.description, max))}</description>`),
  name: (skill) => element(skill, ''),
  footer:
    '</available_skills>\n\nTo load a skill\'s full instructions: `read_skill(skill_id="<name>")`\n' +
    "Scripts within a skill are relative to the skill's directory (parent of SKILL.md).",
};

// --- internal ---

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
