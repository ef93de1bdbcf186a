import { needsFolding, shorten } from '../../../../lib/text/index.ts';
import type { SkillHeader } from './parse-skill.ts';

/** A skill of the catalog. Its body stays on disk. */
export interface Skill extends SkillHeader {
  /** The directory's name: the name agents and people use. */
  readonly id: string;
  /** `<source>:<path below it>`: identifies this skill even when another skill has the id. */
  readonly qualifiedId: string;
  readonly source: string;
  /** Absolute path of SKILL.md, links not resolved. For an inline skill: the file that contains it. */
  readonly file: string;
  /** Real path of the directory; null for a skill without one (inline, a bare file). */
  readonly dir: string | null;
  /** Real path of SKILL.md, not `<dir>/SKILL.md` when that is a link. Null for an inline skill. */
  readonly realFile: string | null;
  /** `sha256:<64 hex>` over the bytes of SKILL.md. */
  readonly digest: string;
  /** Of SKILL.md. */
  readonly bytes: number;
  /** Why models do not see it here (gate, draft); undefined: they see it. People can always read it. */
  readonly hiddenBecause?: string;
  /** The agents that do not get it, by config; undefined: none. People can always read it. */
  readonly disabledFor?: 'everyone' | readonly string[];
  /** Why no agent gets it (`approvals show`); undefined: it is not held. People can always read it. */
  readonly heldBecause?: string;
  /** Every prompt contains its body. */
  readonly preload?: true;
  /** Its files are on another machine, and are fetched when read; then those of one that is `until-read` stay here. */
  readonly remote?: true | 'until-read';
  /** The prompt pack that declares it, and its path below that pack (for an inline skill: its id). */
  readonly pack?: { readonly id: string; readonly path: string };
}

export interface ResourceInfo {
  /** Relative to the skill, `/` between segments. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
}

export interface SkillListing {
  /** By path, at most 512. */
  readonly files: readonly ResourceInfo[];
  /** Number of files and folders that are never handed out. */
  readonly leftOut: number;
  /** Links and devices, which are not followed. Default: none. */
  readonly links?: readonly string[];
}

/** Its line in the catalog. `maxDescription` counts characters. */
export function bulletOf({ id, description }: Pick<Skill, 'id' | 'description'>, maxDescription?: number): string {
  return `• \`${id}\` — ${shorten(description, maxDescription ?? description.length)}`;
}

/** `Escalation Protocol!` becomes `escalation-protocol`. Empty for a name without letters and digits. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64);
}

/** Ids are shown in prompts and terminals: nothing invisible; with a colon, an id could equal a qualified id. */
export function isUsableId(id: string): boolean {
  return id.length > 0 && !needsFolding(id) && !/[`:]/.test(id);
}

/** At most 80 characters, invisible ones escaped. */
export function quotedName(name: string): string {
  const short = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return JSON.stringify(short).replace(
    /(?! )[\p{C}\p{Z}]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

export function unusableIdText(kind: 'directory' | 'file', id: string): string {
  return `The ${kind} name ${quotedName(id)} is the id and may not contain a backtick, colon, control character, invisible character, or white space other than a blank. Rename it.`;
}
