import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { CodedError } from 'skill-registry/kernel';
import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { futureRealPath, isInside } from '../../../../../lib/files/index.ts';
import type { Catalog } from '../../../core/catalog/catalog.ts';
import { type Snapshot, skillNamed } from '../../../core/catalog/snapshot.ts';
import { invalidArgument, skillNotFound } from '../../../core/skill/errors.ts';
import type { Finding } from '../../../core/skill/guard.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import { homeFolders } from '../../../core/sources/agent-folders.ts';
import { shippedFolder } from '../../../core/sources/kinds/core-kinds.ts';
import type { SkillSource } from '../../../core/sources/source.ts';
import type { HeldSkills } from '../../guard/held-skills.ts';
import { inspectSkill } from '../../guard/inspect/inspect-skill.ts';
import { KEY_RULE } from '../../guard/inspect/rule-set.ts';
import { MAX_PAGE_BYTES, MAX_PAGE_FILES, MAX_PAGE_SKILLS } from '../page-index.ts';
import { type Artifact, artifactOf, filesOf } from './artifact.ts';
import type { NotPublished, Published, PublishOptions } from './types.ts';
import { openPublished, writePublished } from './write-page.ts';

export interface PublishContext {
  readonly root: string;
  readonly catalog: Pick<Catalog, 'snapshot' | 'sources' | 'refresh'>;
  readonly heldSkills: Pick<HeldSkills, 'trustOf' | 'notAllowed'>;
}

export async function publish(context: PublishContext, { to, ids }: PublishOptions): Promise<Published> {
  const { catalog } = context;
  await catalog.refresh();
  const root = futureRealPath(context.root);
  const snapshot = catalog.snapshot();
  const folder = openPublished(resolve(root, to), catalog.sources());
  const owned = new Set(catalog.sources().flatMap((source) => (isOfRoot(source, root) ? source.id : [])));
  const chosen = ids ? namedSkills(snapshot, ids) : snapshot.skills.filter(({ source }) => owned.has(source));
  const artifacts: Artifact[] = [];
  const refused: NotPublished[] = [];
  for (const [done, skill] of [...chosen].sort((a, b) => (a.id < b.id ? -1 : 1)).entries()) {
    await takeBreak(done, chosen.length);
    const made = await prepare(context, skill);
    if (typeof made === 'string') refused.push({ skillId: skill.id, reason: made });
    else artifacts.push(made);
  }
  if ((ids && refused.length > 0) || artifacts.length === 0) throw publishRefused(root, refused);
  assertReadable(artifacts);
  const { changed, inIndex, parts } = await writePublished(folder, artifacts);
  const names = new Set(artifacts.map(({ entry }) => entry.name));
  return {
    to: folder.path,
    inIndex,
    parts,
    skills: artifacts.map(({ entry: { description: _, ...entry }, bytes, leftOut, links }) => {
      return { ...entry, bytes: bytes.length, leftOut, links, changed: changed.has(entry.name) };
    }),
    refused,
    notOfRoot: ids ? [] : snapshot.skills.flatMap(({ id, source }) => (owned.has(source) ? [] : id)),
    removed: folder.entries.map(({ name }) => name).filter((name) => !names.has(name)),
  };
}

/** Readers refuse larger pages. @throws PUBLISH_REFUSED. */
export function assertReadable(artifacts: readonly Artifact[]): void {
  const sumOf = (key: 'fileCount' | 'unpackedBytes'): number => artifacts.reduce((sum, one) => sum + one[key], 0);
  const counted = [
    { has: artifacts.length, most: MAX_PAGE_SKILLS, what: 'skills' },
    { has: sumOf('fileCount'), most: MAX_PAGE_FILES, what: 'files' },
    { has: sumOf('unpackedBytes'), most: MAX_PAGE_BYTES, what: 'bytes' },
  ];
  const over = counted.find(({ has, most }) => has > most);
  if (!over) return;
  const why = `These skills have ${over.has} ${over.what}, and a page has at most ${over.most}.`;
  const advice = 'Publish some of them here and the others to another folder: name their ids.';
  throw new CodedError('PUBLISH_REFUSED', `Nothing was published. ${why} ${advice}`);
}

// --- internal ---

function namedSkills(snapshot: Snapshot, ids: readonly string[]): readonly Skill[] {
  const chosen = new Map<string, Skill>();
  for (const id of ids) {
    const skill = skillNamed(snapshot, id);
    if (!skill) throw skillNotFound(id, snapshot.byId.keys());
    const other = chosen.get(skill.id);
    if (other && other !== skill)
      throw invalidArgument(
        `${other.qualifiedId} and ${skill.qualifiedId} would both be published as "${skill.id}". Name one of them.`,
      );
    chosen.set(skill.id, skill);
  }
  return [...chosen.values()];
}

const OWN_KINDS: ReadonlySet<string> = new Set(['directory', 'file', 'pack', 'inline', 'own']);

/** Skills in the home directory are private until a person names them. Shipped skills exist on every machine. */
function isOfRoot({ kind, location }: SkillSource, root: string): boolean {
  if (!OWN_KINDS.has(kind)) return false;
  // A folder above the package, such as the home directory, contains the shipped folder too.
  if (location === shippedFolder()) return dirname(location) === root;
  return isInside(location, root) || !homeFolders(homedir()).includes(location);
}

async function prepare(context: PublishContext, skill: Skill): Promise<Artifact | string> {
  if (skill.fillsLeft) return 'it is a draft. Replace each FILL, or remove draft from its metadata';
  const source = context.catalog.sources().find(({ id }) => id === skill.source);
  if (!source) return 'its source was removed';
  const read = filesOf(skill, source);
  if (typeof read === 'string') return read;
  // Allowing a skill on this machine does not allow it on other machines.
  const { verdict, findings } = await inspectSkill(read.files);
  const [worst] = findings;
  if (verdict === 'block' && worst) {
    const line = worst.line === undefined ? '' : `:${worst.line}`;
    const what = `${worst.file}${line}: ${worst.message} (${worst.rule})`;
    return `${what}; nobody is given that, also when it was allowed here`;
  }
  const artifact = artifactOf(skill, read);
  const keys = findings.filter(({ rule }) => rule === KEY_RULE);
  return typeof artifact === 'string' || keys.length === 0
    ? artifact
    : ((await keysReason(context, skill, keys)) ?? artifact);
}

const MAX_KEYS = 10;

async function keysReason(
  { heldSkills, catalog }: PublishContext,
  skill: Skill,
  keys: readonly Finding[],
): Promise<string | undefined> {
  const { digest } = await heldSkills.trustOf(skill);
  const left = await heldSkills.notAllowed(skill, digest, keys);
  if (left.length === 0) return undefined;
  const named = left
    .slice(0, MAX_KEYS)
    .map(({ file, line, message, excerpt }) => `${file}:${line}: ${message}, ${excerpt}`);
  const more = left.length > MAX_KEYS ? [`${left.length - MAX_KEYS} more`] : [];
  const name = skillNamed(catalog.snapshot(), skill.id) === skill ? skill.id : skill.qualifiedId;
  const advice = 'Have it replaced by a new one, and name the variable or program that holds it.';
  const allow = `skill-registry approvals allow ${name} --digest ${digest}`;
  return `${[...named, ...more].join('; ')}. ${advice} If everybody may have it, allow it first (${allow})`;
}

function publishRefused(root: string, refused: readonly NotPublished[]): CodedError<'PUBLISH_REFUSED'> {
  const reasons = refused.slice(0, 5).map(({ skillId, reason }) => `${skillId}: ${reason}.`);
  const more = refused.length > reasons.length ? [`${refused.length - reasons.length} more.`] : [];
  const none =
    `Expected skills that are kept in the root, and ${root} has none. Go to the root whose skills you mean, ` +
    'name it with --root <dir>, or name the skills to publish.';
  const why = refused.length > 0 ? [...reasons, ...more].join(' ') : none;
  return new CodedError('PUBLISH_REFUSED', `Nothing was published. ${why}`, {
    skills: refused.map(({ skillId }) => skillId),
  });
}
