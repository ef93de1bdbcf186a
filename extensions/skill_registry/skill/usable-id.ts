import { needsFolding } from '../../../lib/text/index.ts';

/**
 * Whether a name can be an id. Ids are shown in prompts, commands and terminals, so they must not contain invisible characters;
 * with a colon an id could be equal to the qualified id of another skill.
 */
export function isUsableId(id: string): boolean {
  return id.length > 0 && !needsFolding(id) && !/[`:]/.test(id);
}

/** A name in quotes for a message: at most 80 characters, with invisible characters escaped. */
export function quotedName(name: string): string {
  const short = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return JSON.stringify(short).replace(
    /(?! )[\p{C}\p{Z}]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** Why a skill is not loaded whose directory or file has this name, for SKILL_ID_INVALID. */
export function unusableIdText(kind: 'directory' | 'file', id: string): string {
  return `The ${kind} name ${quotedName(id)} is the id and may not contain a backtick, colon, control character, invisible character, or white space other than a blank. Rename it.`;
}
