import { shorten } from '../../../lib/text/index.ts';
import type { SkillHeader } from './parse-skill.ts';

/** One skill of the catalog. Its body stays on disk. */
export interface Skill extends SkillHeader {
  /** The directory's name: the name agents and people use. */
  readonly id: string;
  /** `<source>:<path below it>`: reaches this skill even where another one won the id. */
  readonly qualifiedId: string;
  /** Id of the source it came from. */
  readonly source: string;
  /** Absolute path of SKILL.md as it was found; of an inline skill the file it is written in. */
  readonly file: string;
  /** Real path of the directory; null for a skill without one (inline, a bare file). */
  readonly dir: string | null;
  /** Real path of SKILL.md; differs from `<dir>/SKILL.md` when that is a link. Null for an inline skill. */
  readonly realFile: string | null;
  /** `sha256:<64 hex>` over the bytes of SKILL.md. */
  readonly digest: string;
  /** Size of SKILL.md. */
  readonly bytes: number;
  /** Why models do not see it here (a gate such as a missing program, or it is a draft); absent: they do. People can still read it. */
  readonly hiddenBecause?: string;
  /** Its body stands in every prompt. */
  readonly preload?: true;
  /** The prompt pack that declares it, and where below that pack it lies (an inline skill: its id). */
  readonly pack?: { readonly id: string; readonly path: string };
}

/** One file of a skill beside SKILL.md. */
export interface ResourceInfo {
  /** Relative to the skill, `/` between segments. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
}

/** Its line in the catalog. */
export function bulletOf(
  skill: Pick<Skill, 'id' | 'description'>,
  maxDescription: number = Number.POSITIVE_INFINITY,
): string {
  return `• \`${skill.id}\` — ${shorten(skill.description, maxDescription)}`;
}
