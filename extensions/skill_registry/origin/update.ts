import { unifiedDiff } from '../../../lib/diff/index.ts';
import { originRefused } from '../../../lib/fetch/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { getBlob } from '../history/revisions.ts';
import type { SkillLocation } from '../history/skill-location.ts';
import { newFindings } from '../inspect/inspect-skill.ts';
import { waitingConflicts } from '../propose/conflict.ts';
import { slugOf } from '../skill/skill.ts';
import { assertNotRevoked } from '../trust/sources.ts';
import { lockEntryOf } from './add.ts';
import { originOf, pinnedOrigin, shownOrigin, sourceKey } from './address.ts';
import { chooseSkills, type ReadableSkill } from './choose.ts';
import { filesAt, findInstalled, type InstalledSkill } from './find-installed.ts';
import { blockedAs, inspectIncoming, writeAllowed } from './let-in.ts';
import { isAsLocked, lockedFiles, pathIn, readLock } from './lock.ts';
import { type InstalledFile, isText, mergeFiles, needsBase } from './merge-files.ts';
import { createOriginCache, type OriginCache } from './open-origin.ts';
import { type IncomingFile, type OpenedOrigin, type OriginSkillFiles, readOriginSkill } from './opened-origin.ts';
import type { LockEntry, SkillUpdate, UpdatePlan } from './types.ts';
import { type SkillToWrite, writeSkills } from './write-skill.ts';

/** @throws as `Origins.update`. */
export async function planUpdate(context: ChangeContext, ids: readonly string[] | undefined): Promise<UpdatePlan> {
  const { skills, broken } = readLock(context.root);
  const isMeant = (name: string, id: string): boolean => name === id || slugOf(name) === slugOf(id);
  const wanted = [...skills].filter(([name]) => !ids || ids.some((id) => isMeant(name, id)));
  const unusable = [...broken].filter(([name]) => !ids || ids.includes(name));
  const unknown = ids?.find((id) => !broken.has(id) && !wanted.some(([name]) => isMeant(name, id)));
  if (unknown !== undefined)
    throw originRefused(
      JSON.stringify(unknown),
      'it is not in skills-lock.json, so it has no origin. To see what has one: skill-registry verify.',
    );
  const prepared: Prepared[] = [];
  const installed = findInstalled(context);
  const cache = createOriginCache();
  try {
    for (const [name, entry] of wanted)
      prepared.push(await prepareOne(context, name, entry, { cache, found: installed.find(name, entry) }));
  } finally {
    await cache.close();
  }
  const writes = prepared.flatMap(({ write }) => write ?? []);
  return {
    skills: [...prepared.map(({ view }) => view), ...unusable.map(([name, reason]) => brokenView(name, reason))],
    apply: (actor, allowed = {}) => writeAllowed(writes, actor, allowed, (taken) => writeSkills(context, taken, actor)),
  };
}

/** The files an origin has of a locked skill now. @throws ORIGIN_INVALID, ORIGIN_REFUSED. */
export async function incomingOf(
  opened: OpenedOrigin,
  name: string,
  { skillPath }: LockEntry,
): Promise<OriginSkillFiles & { readonly skill: ReadableSkill }> {
  const folder = skillPath?.replace(/(^|\/)[^/]*$/, '') || name;
  const { chosen } = await chooseSkills(opened, '', { skills: [folder] }, shownOrigin(opened.origin));
  const [skill] = chosen;
  if (!skill) throw originRefused(`"${name}"`, 'its origin does not have it any more.');
  if (skill.id !== slugOf(name)) throw originRefused(`"${name}"`, `its origin calls it "${skill.id}" now.`);
  return { ...(await readOriginSkill(opened, skill)), skill };
}

// --- internal ---

/** An update that was looked at, with what is to be written. */
interface Prepared {
  readonly view: SkillUpdate;
  readonly write?: SkillToWrite;
}

async function prepareOne(
  context: ChangeContext,
  name: string,
  entry: LockEntry,
  { cache, found }: { readonly cache: OriginCache; readonly found: InstalledSkill | undefined },
): Promise<Prepared> {
  const location = found?.location;
  const known = {
    id: location?.skillId ?? slugOf(name),
    name,
    source: entry.source,
    drifted: false,
    files: [],
    findings: [],
    diff: '',
  };
  if (!location) return { view: { ...known, state: 'absent' } };
  const waiting = waitingConflicts(context, location);
  if (waiting.length > 0)
    return { view: { ...known, state: 'waiting', reason: `proposals of its last update wait: ${waiting.join(', ')}` } };
  const here = filesAt(location);
  const view = { ...known, drifted: !isAsLocked(here, entry) };
  try {
    const origin = originOf(entry, context.root);
    assertNotRevoked(sourceKey(origin));
    const opened = await cache.open(origin, name);
    const { files, skill } = await incomingOf(opened, name, entry);
    if (isAsLocked(files, entry)) return { view: { ...view, state: 'current' } };
    if (found?.refusal) throw found.refusal;
    const { commit } = entry.registry ?? {};
    if (opened.at.isTag && commit !== undefined)
      return { view: { ...view, state: 'moved', reason: movedTag(entry, commit, opened.at.commit) } };
    const sides = { here, theirs: files, drifted: view.drifted };
    const installed = await installedFiles(context, name, entry, sides, cache);
    const { updates, result, conflicts } = mergeFiles(here, installed, files);
    if (conflicts.length > 0 && !found?.hasSource) throw undecidable(location, conflicts);
    const changes = changesBetween(here, result);
    // A proposal about a conflict brings the other side as well.
    const asTheirs = new Map(conflicts.map(({ path, theirs }) => [path, theirs]));
    const incoming = result.map((file) => ({ ...file, bytes: asTheirs.get(file.path) ?? file.bytes }));
    const [before, looked] = [await inspectIncoming(here), await inspectIncoming(incoming)];
    const isNew = new Set(newFindings(before.inspection, looked.inspection));
    const blocked = blockedAs(view.id, looked);
    const findings = looked.inspection.findings.filter(
      (finding) => isNew.has(finding) || (blocked !== undefined && finding.level === 'block'),
    );
    return {
      view: { ...view, state: 'outdated', files: updates, findings, blocked, diff: diffOf(here, changes) },
      write: {
        ...{ location, ...changes, conflicts, kind: 'updated', looked, origin: shownOrigin(origin), planned: here },
        lock: { name, entry: lockEntryOf(opened, skill, files, context.root), before: entry },
      },
    };
  } catch (error) {
    return { view: { ...view, state: 'failed', reason: (error as Error).message } };
  }
}

function brokenView(name: string, reason: string): SkillUpdate {
  const nothing = { drifted: false, files: [], findings: [], diff: '' };
  return {
    id: slugOf(name),
    name,
    source: 'unknown',
    state: 'failed',
    reason: `its entry is broken: ${reason}`,
    ...nothing,
  };
}

/** A proposal about it could never be approved. */
function undecidable({ base, skillId }: SkillLocation, conflicts: readonly { readonly path: string }[]): Error {
  const paths = conflicts.map(({ path }) => path).join(', ');
  const why = `both its origin and somebody here have changed ${paths}, and no source that may be written has it. Add { path: ${JSON.stringify(base)} } to \`sources\` to get a proposal with both sides`;
  return originRefused(`"${skillId}"`, `${why}.`);
}

function movedTag({ ref }: LockEntry, was: string, is = 'another commit'): string {
  return `the tag ${ref} was ${was.slice(0, 12)} and is ${is.slice(0, 12)} now. What is installed stays; to follow the tag, remove the skill and add it again`;
}

interface Sides {
  readonly here: readonly IncomingFile[];
  readonly theirs: readonly IncomingFile[];
  readonly drifted: boolean;
}

/** What was installed, by path. The history of another machine does not have it, so its origin may be asked for it again. */
async function installedFiles(
  context: ChangeContext,
  name: string,
  entry: LockEntry,
  { here, theirs, drifted }: Sides,
  cache: OriginCache,
): Promise<ReadonlyMap<string, InstalledFile>> {
  if (!drifted) return installedAs(lockedFiles(here).files, here);
  const lines = entry.registry?.files ?? [];
  const [mine, yours] = [byPath(here), byPath(theirs)];
  const { writer } = context;
  const known = new Map(
    lines.map((line) => {
      const path = pathIn(line);
      const isNeeded = needsBase(mine.get(path), yours.get(path), line);
      const bytes = isNeeded && writer.hasHistory() ? blobOf(context, line.split(' ')[0] ?? '') : undefined;
      return [path, { line, bytes, isLost: isNeeded && bytes === undefined }] as const;
    }),
  );
  if (![...known.values()].some(({ isLost }) => isLost)) return known;
  try {
    const opened = await cache.open(pinnedOrigin(originOf(entry, context.root), entry), name);
    const { files } = await incomingOf(opened, name, entry);
    return isAsLocked(files, entry) ? installedAs(lines, files) : known;
  } catch {
    return known;
  }
}

function installedAs(lines: readonly string[], files: readonly IncomingFile[]): ReadonlyMap<string, InstalledFile> {
  const contents = byPath(files);
  return new Map(lines.map((line) => [pathIn(line), { line, bytes: contents.get(pathIn(line))?.bytes }]));
}

function byPath(files: readonly IncomingFile[]): ReadonlyMap<string, IncomingFile> {
  return new Map(files.map((file) => [file.path, file]));
}

/** The history keeps contents by their digest. */
function blobOf({ writer }: ChangeContext, digest: string): Buffer | undefined {
  try {
    return getBlob(writer.database(), digest);
  } catch {
    return undefined;
  }
}

function diffOf(here: readonly IncomingFile[], { files, gone }: Pick<SkillToWrite, 'gone' | 'files'>): string {
  const before = byPath(here);
  const textOf = (file: IncomingFile | undefined): string | null =>
    file
      ? isText(file.bytes)
        ? file.bytes.toString('utf8')
        : `(${file.bytes.length} bytes that are no text)\n`
      : null;
  const changed = files.map(
    (file) =>
      modeDiff(before.get(file.path), file) + unifiedDiff(file.path, textOf(before.get(file.path)), textOf(file)),
  );
  const removed = gone.map((path) => unifiedDiff(path, textOf(before.get(path)), null));
  return [...changed, ...removed].filter((diff) => diff !== '').join('\n');
}

/** As git shows it. */
function modeDiff(before: IncomingFile | undefined, { path, executable }: IncomingFile): string {
  if (!before || before.executable === executable) return '';
  const [old, is] = executable ? ['100644', '100755'] : ['100755', '100644'];
  return `diff --git a/${path} b/${path}\nold mode ${old}\nnew mode ${is}\n`;
}

/** The writes that turn the files here into the new ones. */
function changesBetween(
  here: readonly IncomingFile[],
  wanted: readonly IncomingFile[],
): Pick<SkillToWrite, 'gone' | 'files'> {
  const digestsOf = (files: readonly IncomingFile[]): ReadonlyMap<string, string> =>
    new Map(files.map((file) => [file.path, lockedFiles([file]).digest]));
  const [before, after] = [digestsOf(here), digestsOf(wanted)];
  return {
    gone: here.map(({ path }) => path).filter((path) => !after.has(path)),
    files: wanted.filter(({ path }) => before.get(path) !== after.get(path)),
  };
}
