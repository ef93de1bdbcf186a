import type { Problem } from 'skill-registry/kernel';
import { originRefused } from '../../../lib/fetch/index.ts';
import { countTokens } from '../../../lib/text/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import type { Actor, Revision } from '../history/types.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import { textProblems } from '../validate/validate-skill.ts';
import { type Origin, parseOrigin, shownOrigin } from './address.ts';
import { type Choice, chooseSkills, type ReadableSkill } from './choose.ts';
import { computedHash, lockedFiles } from './digest.ts';
import { type LockEntry, readLock, sourceFields } from './lock.ts';
import { type IncomingFile, type Offer, takeSkill } from './offer.ts';
import { openOrigin } from './open-origin.ts';
import { locationFor, type SkillToWrite, writeSkills } from './write-skill.ts';

export interface AddOptions extends Choice {
  /** What relative paths are relative to. Default: the root. */
  readonly cwd?: string | undefined;
  /** Folder of the source that is to have them. Default: the first source that may be written. */
  readonly to?: string | undefined;
}

/** One skill that would be installed, for a person to look at. */
export interface SkillToAdd {
  readonly id: string;
  /** What it calls itself. */
  readonly name: string;
  readonly description: string;
  /** Of its body. */
  readonly tokens: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** Files that are not taken along: secrets by their names, and leftovers. */
  readonly leftOut: number;
  /** Files that may be run. */
  readonly scripts: readonly string[];
  readonly allowedTools: readonly string[];
  /** It is taken because another one requires it. */
  readonly alongWith: boolean;
  /** What it requires and neither the origin nor this registry has. */
  readonly missing: readonly string[];
  /** Absolute path of the folder it gets. */
  readonly folder: string;
  /** What its id does to skills that exist: they lose it, or it never gets it. */
  readonly collides: string | undefined;
  readonly problems: readonly Problem[];
}

/** What `add` would do. Contents are kept: what is written is what was shown. */
export interface AddPlan {
  readonly origin: string;
  readonly skills: readonly SkillToAdd[];
  /** Paths that say they are skills and cannot be read as one. */
  readonly unreadable: readonly string[];
  /** Writes them. @throws as `writeSkills`. */
  apply(actor: Actor): Promise<readonly Revision[]>;
}

/** Looks at an origin and says what would be installed. Writes nothing. @throws ORIGIN_INVALID, ORIGIN_UNAVAILABLE, ORIGIN_REFUSED. */
export async function planAdd(context: ChangeContext, what: string, options: AddOptions = {}): Promise<AddPlan> {
  const origin = parseOrigin(what, options.cwd ?? context.root);
  const shown = shownOrigin(origin);
  const offer = await openOrigin(origin, options.all ? undefined : options.skills);
  try {
    const below = origin.kind === 'git' ? (origin.path ?? '') : '';
    const { chosen, alongWith, unreadable } = await chooseSkills(offer, below, options, shown);
    const taken: { readonly view: SkillToAdd; readonly write: SkillToWrite }[] = [];
    for (const skill of chosen) taken.push(await takeOne(context, offer, skill, options, chosen, alongWith));
    return {
      ...{ origin: shown, skills: taken.map(({ view }) => view), unreadable },
      apply: async ({ by, reason = `from ${shown}` }) =>
        writeSkills(
          context,
          taken.map(({ write }) => write),
          { by, reason },
        ),
    };
  } finally {
    offer.close();
  }
}

/** What the lock says of a skill. */
export function entryOf(
  { origin, at }: Pick<Offer, 'origin' | 'at'>,
  { skillFile, header }: Pick<ReadableSkill, 'skillFile' | 'header'>,
  files: readonly IncomingFile[],
  root: string,
): LockEntry {
  const { commit, version, digest, digests } = at;
  const wellKnownDigest = digests?.get(header.name);
  return {
    ...sourceFields(origin, root),
    ...(origin.kind === 'well-known' ? {} : { skillPath: skillFile }),
    ...(version === undefined ? {} : { version }),
    ...(wellKnownDigest === undefined ? {} : { wellKnownDigest }),
    ...(digest === undefined ? {} : { archiveDigest: digest }),
    computedHash: computedHash(files),
    registry: { ...(commit === undefined ? {} : { commit }), ...lockedFiles(files) },
  };
}

// --- internal ---

async function takeOne(
  context: ChangeContext,
  offer: Offer,
  skill: ReadableSkill,
  { to }: AddOptions,
  chosen: readonly ReadableSkill[],
  alongWith: ReadonlySet<string>,
): Promise<{ readonly view: SkillToAdd; readonly write: SkillToWrite }> {
  const { id, header } = skill;
  assertNotLocked(context, header.name, offer.origin);
  const location = locationFor(context, id, to);
  const { files, leftOut } = await takeSkill(offer, skill);
  const text = files.find(({ path }) => path === 'SKILL.md')?.bytes.toString('utf8') ?? '';
  const { byId } = context.snapshot();
  const there = byId.get(id);
  const order = context.sources().map((source) => source.id);
  const collides =
    there &&
    (order.indexOf(location.source) < order.indexOf(there.source)
      ? `${there.qualifiedId} is called so as well, and is read by its qualified id from then on`
      : `${there.qualifiedId} is called so as well and comes first, so agents go on seeing that one`);
  return {
    view: {
      ...{ id, name: header.name, description: header.description, leftOut, collides },
      tokens: await countTokens(bodyOf(text)),
      files: files.map(({ path, bytes }) => ({ path, size: bytes.length })),
      scripts: files.filter(isScript).map(({ path }) => path),
      allowedTools: header.allowedTools,
      alongWith: alongWith.has(id),
      missing: header.requires.filter((one) => !byId.has(one) && !chosen.some((other) => other.id === one)),
      folder: `${location.base}/${location.below}`,
      problems: textProblems(text, id, location.validation),
    },
    write: {
      ...{ location, files, gone: [], conflicts: [] },
      kind: 'installed',
      name: header.name,
      entry: entryOf(offer, skill, files, context.root),
    },
  };
}

/** @throws ORIGIN_REFUSED when the lock has a skill of that name already. */
function assertNotLocked({ root }: ChangeContext, name: string, origin: Origin): void {
  const entry = readLock(root).skills.get(name);
  if (!entry) return;
  const fields = sourceFields(origin, root);
  const remedy =
    fields.source === entry.source
      ? `It is installed from there: skill-registry update ${JSON.stringify(name)}.`
      : `It is installed from ${entry.source}; remove that one first.`;
  throw originRefused(`"${name}"`, remedy);
}

function isScript({ path, executable, bytes }: IncomingFile): boolean {
  return (
    executable ||
    /\.(sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|ps1|bat|cmd|exe)$/i.test(path) ||
    bytes.subarray(0, 2).toString() === '#!'
  );
}
