import { takeBreak } from '../../../../lib/breaks/index.ts';
import { mergeTexts, unifiedDiff } from '../../../../lib/diff/index.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import { originRefused } from '../../../../lib/fetch/index.ts';
import { slugOf } from '../../core/skill/skill.ts';
import { newFindings } from '../guard/inspect/inspect-skill.ts';
import type { LockScope } from '../guard/installed.ts';
import { assertNotRevoked } from '../guard/revoked.ts';
import { furtherReach } from '../guard/shown-reach.ts';
import type { ChangeContext, FileConflict } from '../history/change-context.ts';
import { getBlob } from '../history/revisions.ts';
import { incomingOf, lockEntryOf } from './add.ts';
import { originOf, pageIn, pinnedOrigin, shownOrigin, sourceKey } from './address.ts';
import { filesAt, findInstalled, type InstalledSkill, scopesOf } from './find-installed.ts';
import { applyOf, blockedAs, inspectIncoming, withoutRepeated } from './let-in.ts';
import { assertApproved, isAsLocked, lineOf, lockedFiles, pathIn, readLock } from './lock.ts';
import { type InstallContext, type OpenOnce, withOrigins } from './open-origin.ts';
import type { IncomingFile } from './opened-origin.ts';
import type { FileUpdate, LockEntry, SkillUpdate, UpdatePlan } from './types.ts';
import type { SkillToWrite } from './write-skill.ts';

export async function planUpdate(context: InstallContext, ids: readonly string[] | undefined): Promise<UpdatePlan> {
  const isMeant = (name: string, id: string): boolean => name === id || slugOf(name) === slugOf(id);
  const locks = scopesOf(context).map((scope) => {
    const { skills, broken } = readLock(scope.folder);
    const wanted = [...skills].filter(([name]) => !ids || ids.some((id) => isMeant(name, id)));
    const unusable = [...broken].filter(([name]) => !ids || ids.includes(name));
    return { scope, wanted, unusable };
  });
  // Nobody but the person has written the lock of the person.
  if (locks.some(({ scope, wanted, unusable }) => !scope.ofPerson && wanted.length + unusable.length > 0))
    assertApproved(context);
  const known = locks.flatMap(({ wanted, unusable }) => [...wanted, ...unusable].map(([name]) => name));
  const unknown = ids?.find((id) => !known.some((name) => isMeant(name, id)));
  if (unknown !== undefined) {
    const why = 'it is not in skills-lock.json, so it has no origin. To see what has one: skill-registry verify.';
    throw originRefused(JSON.stringify(unknown), why);
  }
  const prepared: Prepared[] = [];
  for (const { scope, wanted, unusable } of locks) {
    const installed = await findInstalled(context, scope);
    await withOrigins(context, async (open) => {
      for (const [name, entry] of wanted) {
        await takeBreak(prepared.length, wanted.length);
        prepared.push(await prepareOne(context, scope, name, entry, installed.find(name, entry), open));
      }
    });
    for (const [name, reason] of unusable) {
      const view = viewOf(slugOf(name), name, 'unknown', scope);
      prepared.push({ view: { ...view, state: 'failed', reason: `its entry is broken: ${reason}` } });
    }
  }
  return {
    skills: prepared.map(({ view }) => view),
    apply: applyOf(
      context,
      prepared.flatMap(({ write }) => write ?? []),
    ),
  };
}

// --- internal ---

interface Prepared {
  readonly view: SkillUpdate;
  readonly write?: SkillToWrite;
}

function viewOf(id: string, name: string, source: string, { ofPerson }: LockScope): Omit<SkillUpdate, 'state'> {
  return { id, name, source, ofPerson, drifted: false, files: [], findings: [], reaches: '', diff: '' };
}

async function prepareOne(
  context: InstallContext,
  scope: LockScope,
  name: string,
  entry: LockEntry,
  found: InstalledSkill | undefined,
  open: OpenOnce,
): Promise<Prepared> {
  const known = viewOf(found?.location.skillId ?? slugOf(name), name, entry.source, scope);
  if (!found) return { view: { ...known, state: 'absent' } };
  const { location } = found;
  const waiting = context.conflicts?.waiting(location) ?? [];
  if (waiting.length > 0)
    return { view: { ...known, state: 'waiting', reason: `proposals of its last update wait: ${waiting.join(', ')}` } };
  const here = filesAt(location);
  const view = { ...known, drifted: !isAsLocked(here, entry) };
  try {
    const origin = originOf(entry, scope.folder);
    const source = sourceKey(origin);
    assertNotRevoked(source);
    await context.assertMayCome(source, view.id, pageIn(origin));
    const opened = await open(origin, name);
    const incoming = await incomingOf(opened, name, entry);
    if (isAsLocked(incoming.files, entry)) {
      // Entries of others have a digest that two folders can share.
      if (lockedFiles(here).digest === lockedFiles(incoming.files).digest)
        context.came((await inspectIncoming(here)).digest, source);
      return { view: { ...view, state: 'current' } };
    }
    if (found.refusal) throw found.refusal;
    const { commit } = entry.registry ?? {};
    if (opened.at.isTag && commit !== undefined)
      return { view: { ...view, state: 'moved', reason: movedTag(entry, commit, opened.at.commit) } };
    const base = view.drifted
      ? await lockedBase({ ...context, root: scope.folder }, name, entry, { here, theirs: incoming.files }, open)
      : baseOf(here.map(lineOf), here);
    const { updates, result, conflicts } = mergeFiles(here, base, incoming.files);
    if (conflicts.length > 0 && !(found.hasSource && context.conflicts)) throw undecidable(found, conflicts);
    const looked = [await inspectIncoming(result)];
    if (conflicts.length > 0) {
      // Inspect the other side of a conflict too: its proposal contains those bytes.
      const asTheirs = new Map(conflicts.map(({ path, theirs }) => [path, theirs]));
      looked.push(
        await inspectIncoming(result.map((file) => ({ ...file, bytes: asTheirs.get(file.path) ?? file.bytes }))),
      );
    }
    const blocked = blockedAs(view.id, looked);
    const before = await inspectIncoming(here);
    const findings = withoutRepeated(
      looked.flatMap(({ inspection }) => {
        const isNew = new Set(newFindings(before.inspection, inspection));
        return inspection.findings.filter((one) => isNew.has(one) || (blocked !== undefined && one.level === 'block'));
      }),
    );
    const after = looked.flatMap(({ inspection }) => inspection.reach);
    const [mine, now] = [byPath(here), byPath(result)];
    const isChanged = (file: IncomingFile): boolean => lineOfThat(mine.get(file.path)) !== lineOf(file);
    const files = result.filter(isChanged);
    const gone = [...mine.keys()].filter((path) => !now.has(path));
    return {
      view: {
        ...view,
        state: 'outdated',
        files: updates,
        findings,
        blocked,
        reaches: furtherReach(before.inspection.reach, after),
        diff: diffOf(mine, files, gone),
      },
      write: {
        location,
        kind: 'updated',
        files,
        looked,
        origin: shownOrigin(origin),
        lock: { name, entry: lockEntryOf(opened, incoming, scope, entry.registry?.links), before: entry },
        update: { gone, conflicts, planned: here },
      },
    };
  } catch (error) {
    return { view: { ...view, state: 'failed', reason: (error as Error).message } };
  }
}

/** A proposal would need a writable source to be approved. */
function undecidable(
  { location: { base, skillId }, hasSource }: InstalledSkill,
  conflicts: readonly FileConflict[],
): Error {
  const paths = conflicts.map(({ path }) => path).join(', ');
  const both = `both its origin and somebody here have changed ${paths}, and`;
  if (hasSource) return originRefused(`"${skillId}"`, `${both} nothing here makes a proposal of it.`);
  const why = `${both} no source that may be written has it.`;
  const advice = `Add { path: ${JSON.stringify(base)} } to \`sources\` to get a proposal with both sides.`;
  return originRefused(`"${skillId}"`, `${why} ${advice}`);
}

function movedTag({ ref }: LockEntry, was: string, is = 'another commit'): string {
  const moved = `the tag ${ref} was ${was.slice(0, 12)} and is ${is.slice(0, 12)} now. What is installed stays`;
  return `${moved}; to follow the tag, remove the skill and add it again`;
}

/** `bytes`: undefined when the history and the origin no longer have them. */
interface BaseFile {
  readonly line: string;
  readonly bytes: Buffer | undefined;
}

/** The installed version, by path. Asks the origin for contents that the history lacks, as on another machine. */
async function lockedBase(
  { writer, root }: ChangeContext,
  name: string,
  entry: LockEntry,
  { here, theirs }: { readonly here: readonly IncomingFile[]; readonly theirs: readonly IncomingFile[] },
  open: OpenOnce,
): Promise<ReadonlyMap<string, BaseFile>> {
  const lines = entry.registry?.files ?? [];
  const [mine, yours] = [byPath(here), byPath(theirs)];
  const known = new Map<string, BaseFile>();
  let isLost = false;
  for (const line of lines) {
    const path = pathIn(line);
    const sides = [mine.get(path), yours.get(path)].map(lineOfThat);
    // The base content is needed only when both sides have the file, and both differ from the base.
    const isNeeded = !sides.includes(undefined) && new Set([...sides, line]).size === 3;
    const stored = () => getBlob(writer.database(), digestIn(line));
    const bytes = isNeeded && writer.hasHistory() ? withFallback(stored) : undefined;
    isLost ||= isNeeded && bytes === undefined;
    known.set(path, { line, bytes });
  }
  if (!isLost) return known;
  try {
    const opened = await open(pinnedOrigin(originOf(entry, root), entry), name);
    const { files } = await incomingOf(opened, name, entry);
    return isAsLocked(files, entry) ? baseOf(lines, files) : known;
  } catch {
    return known;
  }
}

function baseOf(lines: readonly string[], files: readonly IncomingFile[]): ReadonlyMap<string, BaseFile> {
  const contents = byPath(files);
  return new Map(lines.map((line) => [pathIn(line), { line, bytes: contents.get(pathIn(line))?.bytes }]));
}

function byPath(files: readonly IncomingFile[]): ReadonlyMap<string, IncomingFile> {
  return new Map(files.map((file) => [file.path, file]));
}

function lineOfThat(file: IncomingFile | undefined): string | undefined {
  return file && lineOf(file);
}

function digestIn(line: string): string {
  return line.slice(0, line.indexOf(' '));
}

function diffOf(
  here: ReadonlyMap<string, IncomingFile>,
  files: readonly IncomingFile[],
  gone: readonly string[],
): string {
  const textOf = (file: IncomingFile | undefined): string | null => {
    if (!file) return null;
    return isText(file.bytes) ? file.bytes.toString('utf8') : `(${file.bytes.length} bytes that are no text)\n`;
  };
  const changed = files.map((file) => {
    const before = here.get(file.path);
    return modeDiff(before, file) + unifiedDiff(file.path, textOf(before), textOf(file));
  });
  const removed = gone.map((path) => unifiedDiff(path, textOf(here.get(path)), null));
  return [...changed, ...removed].filter((diff) => diff !== '').join('\n');
}

function modeDiff(before: IncomingFile | undefined, { path, executable }: IncomingFile): string {
  if (!before || before.executable === executable) return '';
  const [old, is] = executable ? ['100644', '100755'] : ['100755', '100644'];
  return `diff --git a/${path} b/${path}\nold mode ${old}\nnew mode ${is}\n`;
}

/** Conflicts of text files only; other files in conflict stay as they are here. */
function mergeFiles(
  here: readonly IncomingFile[],
  installed: ReadonlyMap<string, BaseFile>,
  theirs: readonly IncomingFile[],
) {
  const [mine, yours] = [byPath(here), byPath(theirs)];
  const updates: FileUpdate[] = [];
  const result: IncomingFile[] = [];
  const conflicts: FileConflict[] = [];
  for (const path of [...new Set([...mine.keys(), ...yours.keys()])].sort()) {
    const [one, other, base] = [mine.get(path), yours.get(path), installed.get(path)];
    const { file, change } = mergeFile(one, other, base);
    if (file) result.push(file);
    if (change) updates.push({ path, change });
    const sides = [base?.bytes, one?.bytes, other?.bytes];
    if (change === 'conflict' && other && sides.every((bytes) => !bytes || isText(bytes)))
      conflicts.push({ path, base: base?.bytes ?? null, theirs: other.bytes });
  }
  return { updates, result, conflicts };
}

/** Proposals cannot hold NUL characters. */
function isText(bytes: Buffer): boolean {
  return !bytes.includes(0) && Buffer.from(bytes.toString('utf8')).equals(bytes);
}

interface MergedFile {
  /** Undefined: the file is removed. */
  readonly file?: IncomingFile | undefined;
  /** Undefined: no change on either side. */
  readonly change?: FileUpdate['change'];
}

function mergeFile(
  mine: IncomingFile | undefined,
  theirs: IncomingFile | undefined,
  installed: BaseFile | undefined,
): MergedFile {
  const [here, there] = [lineOfThat(mine), lineOfThat(theirs)];
  if (here === there) return { file: mine };
  if (there === installed?.line) return { file: mine, change: 'kept' };
  if (here === installed?.line) return { file: theirs, change: !theirs ? 'removed' : mine ? 'changed' : 'added' };
  // Changed on one side and deleted on the other: keep what is here.
  if (!mine || !theirs) return { file: mine, change: 'kept' };
  const bytes = mergedBytes(mine, theirs, installed);
  if (!bytes) return { file: mine, change: 'conflict' };
  // There are only two modes, so two sides that both changed it agree.
  const isChangedHere = !installed || mine.executable !== (installed.line.split(' ')[2] === '755');
  const { executable } = isChangedHere ? mine : theirs;
  return { file: { path: mine.path, bytes, executable }, change: 'merged' };
}

/** Undefined: a conflict. */
function mergedBytes(mine: IncomingFile, theirs: IncomingFile, installed: BaseFile | undefined): Buffer | undefined {
  if (mine.bytes.equals(theirs.bytes)) return mine.bytes;
  const digest = digestIn(installed?.line ?? '');
  if (digestOf(mine.bytes) === digest) return theirs.bytes;
  if (digestOf(theirs.bytes) === digest) return mine.bytes;
  const base = installed?.bytes;
  if (!base || ![base, mine.bytes, theirs.bytes].every(isText)) return undefined;
  const merge = mergeTexts(base.toString('utf8'), mine.bytes.toString('utf8'), theirs.bytes.toString('utf8'));
  return merge.clean ? Buffer.from(merge.text) : undefined;
}
