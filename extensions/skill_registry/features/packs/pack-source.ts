import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { futureRealPath, isInside, readNamedFile, realPathOf } from '../../../../lib/files/index.ts';
import { withoutHidden } from '../../../../lib/text/index.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { createPathSource, type DirectorySourceOptions } from '../../core/sources/kinds/directory-source.ts';
import { createInlineSource } from '../../core/sources/kinds/inline-source.ts';
import type { SkillSource } from '../../core/sources/source.ts';
import type { SourceHost } from '../../core/sources/source-kind.ts';
import { encodingFault } from '../../core/sources/walk/encoding-fault.ts';
import { createGroupSource } from './group-source.ts';
import { isNone, matchesExpression, normalizePackPath } from './pack-expression.ts';
import { createPackageSource, findPackage, isPackageName, type PackageSourceOptions } from './package-source.ts';
import { escapePointer, type PackEntry, type PromptPack, packProblem, parsePromptPack } from './prompt-pack.ts';

export interface PackSourceOptions
  extends Pick<DirectorySourceOptions, 'allowOutside' | 'cache' | 'id' | 'optional' | 'profile'>,
    Pick<PackageSourceOptions, 'decisions'> {
  readonly file: string;
  readonly mayName?: SourceHost['mayName'];
  /** Preload all skills, not only those marked in the pack. */
  readonly preload: boolean;
}

export const MAX_PACK_BYTES = 4_194_304;
const KEPT = 'Until then the last valid version of the pack is used.';

/**
 * The last declaration of an id wins. While the pack is invalid or unreadable, its last valid version is used.
 * Problems: PACK_UNREADABLE, ENCODING_INVALID, those of `parsePromptPack`, PACK_PATH_OUTSIDE, PACK_PATH_MISSING,
 * PACK_PATH_EMPTY, PACK_STATE_UNKNOWN, PACK_HELD, and those of the parts.
 */
export function createPackSource(options: PackSourceOptions): SkillSource {
  const { id, file } = options;
  const folder = dirname(file);
  let loaded: LoadedPack | undefined;
  /** One whose names no model may be given. */
  let held: LoadedPack | undefined;
  const withSkills = new Set<SkillSource>();
  const kept = (problem: Problem): Problem =>
    loaded ? { ...problem, message: `${problem.message} ${KEPT}` } : problem;
  const load = (): readonly Problem[] => {
    let bytes: Buffer;
    try {
      bytes = readNamedFile(file, MAX_PACK_BYTES);
    } catch (error) {
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (isGone) loaded = undefined;
      return isGone && options.optional ? [] : [kept(unreadable(file, error))];
    }
    const fault = encodingFault(bytes);
    const odd = (severity: Problem['severity']): readonly Problem[] =>
      fault ? [{ code: 'ENCODING_INVALID', severity, file, message: fault.message }] : [];
    if (fault?.isText === false) return odd('error').map(kept);
    const text = bytes.toString('utf8');
    const { pack, problems } = parsePromptPack(text, file);
    if (!pack) return problems.map(kept);
    if (loaded?.text !== text) {
      const parts = pack.skills.map((entry) => partOf(entry, options, folder));
      const bySource = new Map(parts.flatMap((part) => (part.source ? [[part.source, part] as const] : [])));
      loaded = { text, pack, parts, bySource };
    }
    return [...problems, ...odd('warning')];
  };
  const group = createGroupSource({
    id,
    kind: 'pack',
    location: file,
    winner: 'last',
    watch: () => [folder],
    adapt(skill, member) {
      withSkills.add(member);
      const { reference, preload } = loaded?.bySource.get(member) ?? {};
      // A package's path begins with its name, so expressions can name `@scope/package`.
      const below = skill.qualifiedId.slice(skill.source.length + 1);
      const path = member.kind === 'package' ? `${reference}/${below}` : below;
      const adapted = { ...skill, qualifiedId: `${id}:${path}`, pack: { id: loaded?.pack.id ?? id, path } };
      return options.preload || preload ? { ...adapted, preload: true } : adapted;
    },
    async members() {
      const problems = load();
      return { members: [...(loaded?.bySource.keys() ?? [])], problems };
    },
  });
  return {
    ...group,
    async scan(limits) {
      withSkills.clear();
      const scan = await group.scan(limits);
      const { skills, problems } = scan;
      held = loaded && (await options.mayName?.(namesIn(loaded.pack))) === false ? loaded : undefined;
      if (held) return { skills: [], problems: [...problems, packProblem('PACK_HELD', 'error', file, '', ATTACK)] };
      const ofParts = (loaded?.parts ?? []).flatMap((part) => partProblem(part, file, withSkills, problems) ?? []);
      return { ...scan, problems: [...problems, ...ofParts, ...unknownStates(loaded?.pack, skills, file)] };
    },
    scopes() {
      if (!loaded || loaded === held) return undefined;
      const { entry, states = new Map(), events = new Map() } = loaded.pack.workflow ?? {};
      return { pack: loaded.pack.id, entry, states, events };
    },
    // Inline skills are in the file of the pack.
    contains: (path) => path === futureRealPath(file) || group.contains(path),
  };
}

// --- internal ---

const ATTACK = ': the name of the pack, a state or an event looks like an attack, so nothing of it is used. Rename it.';

/** As a model is shown them: those of the pack, its states and events. */
function namesIn({ id, workflow }: PromptPack): readonly string[] {
  const events = [...(workflow?.events.values() ?? [])].flatMap((next) => [...next.keys()]);
  return [id, ...(workflow?.states.keys() ?? []), ...events].map((name) => withoutHidden(name).text);
}

interface LoadedPack {
  readonly text: string;
  readonly pack: PromptPack;
  readonly parts: readonly Part[];
  readonly bySource: ReadonlyMap<SkillSource, Part>;
}

interface Part {
  readonly reference: string;
  readonly pointer: string;
  readonly preload: boolean;
  /** Absent: the reference leads out of the folder of the pack. */
  readonly source?: SkillSource;
  /** Where its skills must be. Absent for an inline skill. */
  readonly target?: () => string | undefined;
}

function partOf(entry: PackEntry, options: PackSourceOptions, folder: string): Part {
  const { id, allowOutside, decisions, profile, file, cache } = options;
  const { pointer } = entry;
  if ('inline' in entry) {
    const source = createInlineSource({ id, skills: [entry.inline], file });
    return { reference: entry.inline.name, pointer, source, preload: false };
  }
  const { reference, preload } = entry;
  const shared = { id, allowOutside, profile, cache };
  if (reference.startsWith('@') && isPackageName(reference)) {
    const namedIn = { file, pointer };
    const source = createPackageSource({
      ...shared,
      decisions,
      name: reference,
      from: folder,
      factory: false,
      namedIn,
    });
    return { reference, pointer, source, preload, target: () => findPackage(reference, folder) };
  }
  const path = join(folder, reference);
  if (!allowOutside && !isInside(path, folder)) return { reference, pointer, preload };
  const within = allowOutside ? undefined : folder;
  const source = createPathSource({ ...shared, root: path, base: folder, within, optional: true });
  return { reference, pointer, source, preload, target: () => path };
}

function partProblem(
  { source, reference, pointer, target }: Part,
  file: string,
  withSkills: ReadonlySet<SkillSource>,
  problems: readonly Problem[],
): Problem | undefined {
  if (!source) {
    const text = `: "${reference}" leads out of the folder of the pack. Move it into that folder, or set allow_outside: true for the source.`;
    return packProblem('PACK_PATH_OUTSIDE', 'error', file, pointer, text);
  }
  const path = target?.();
  if (path === undefined || withSkills.has(source)) return undefined;
  if (realPathOf(path) === undefined) {
    const text = `: there is no "${reference}" beside the pack. Correct the path.`;
    return packProblem('PACK_PATH_MISSING', 'error', file, pointer, text);
  }
  if (problems.some((one) => one.details?.pointer === pointer || isInside(one.file, path))) return undefined;
  const text = `: there is no skill in "${reference}". Put one there, or remove the entry.`;
  return packProblem('PACK_PATH_EMPTY', 'warning', file, pointer, text);
}

/** PACK_STATE_UNKNOWN for each state whose expression names no skill. Naming a broken entry of the pack is correct. */
function unknownStates(pack: PromptPack | undefined, skills: readonly Skill[], file: string): readonly Problem[] {
  const declared = new Set(
    pack?.skills.flatMap((entry) => ('inline' in entry ? [] : normalizePackPath(entry.reference))),
  );
  return [...(pack?.workflow?.states ?? [])].flatMap(([state, expression]) => {
    if (expression === undefined || isNone(expression) || declared.has(normalizePackPath(expression))) return [];
    if (skills.some((skill) => matchesExpression(expression, skill))) return [];
    const pointer = `/workflow/states/${escapePointer(state)}/skills`;
    const shown = expression.length > 80 ? `${expression.slice(0, 80)}…` : expression;
    const text = `: "${shown}" names no skill of this pack, so this state shows none. Name the path or id of one, a folder of them, or "none".`;
    return [packProblem('PACK_STATE_UNKNOWN', 'error', file, pointer, text)];
  });
}

function unreadable(file: string, error: unknown): Problem {
  const why =
    WHY_UNREADABLE[(error as NodeJS.ErrnoException).code ?? ''] ??
    (isCodedError(error) && statSync(file, { throwIfNoEntry: false })?.isDirectory()
      ? 'it is a folder, expected a JSON file. Name the file in it'
      : `${describeError(error).replace(/\.$/, '')}; expected a JSON file. Correct the path`);
  const message = `The prompt pack cannot be read: ${why}, or remove the source.`;
  return { code: 'PACK_UNREADABLE', severity: 'error', file, message };
}

const WHY_UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file, or a link in its path is broken. Create it, correct the path',
  ELOOP: 'links in its path form a circle. Repair them, correct the path',
  EACCES: 'permission denied. Check its permissions',
  EPERM: 'permission denied. Check its permissions',
};
