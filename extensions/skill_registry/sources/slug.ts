import { hasInvisible } from '../../../lib/text/index.ts';

/** An id for a name people wrote freely: `Escalation Protocol!` becomes `escalation-protocol`. Empty when nothing is left. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64);
}

/**
 * Whether a directory's name can be an id. It stands in prompts, in commands and on terminals, so it must be what it looks
 * like; with a colon it could pass for the qualified id of another skill.
 */
export function isUsableId(id: string): boolean {
  return id.length > 0 && !hasInvisible(id) && !/[`:]/.test(id);
}

/** A name in quotes for a message: short, and what cannot be seen in it is written out. */
export function quotedName(name: string): string {
  const short = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return JSON.stringify(short).replace(
    /(?! )[\p{C}\p{Z}]/gu,
    (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
