import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describeError, type Problem } from 'skill-registry/kernel';
import { futureRealPath, isInside, readNamedFile, realPathOf } from '../../../../lib/files/index.ts';
import type { Skill } from '../../skill/skill.ts';
import { encodingFault } from '../../validate/read-skill-md.ts';
import type { SkillSource } from '../source.ts';
import type { PackScopes } from '../types.ts';
import { isSkillFileName } from '../walk/names.ts';
import { createDirectorySource, type DirectorySourceOptions } from './directory-source.ts';
import { createFileSource } from './file-source.ts';
import { createGroupSource, type GroupMembers } from './group-source.ts';
import { createInlineSource } from './inline-source.ts';
import { isNone, matchesExpression, normalizePackPath } from './pack-expression.ts';
import { createPackageSource, findPackage, isPackageName } from './package-source.ts';
import { escapePointer, type PackEntry, type PromptPack, parsePromptPack } from './prompt-pack.ts';

export interface PackSourceOptions
  extends Pick<DirectorySourceOptions, 'allowOutside' | 'cache' | 'id' | 'optional' | 'validation'> {
  readonly file: string;
  /** Preload all skills, not only those marked in the pack. */
  readonly preload: boolean;
}

export const MAX_PACK_BYTES = 4_194_304;
const KEPT = 'Until then the last valid version of the pack is used.';

/**
 * The last declaration of an id wins. While the pack is invalid or unreadable, its last valid version is used.
 * Problems: PACK_UNREADABLE, ENCODING_INVALID, those of `parsePromptPack`, PACK_PATH_OUTSIDE, PACK_PATH_MISSING,
 * PACK_PATH_EMPTY, PACK_STATE_UNKNOWN, and those of the parts.
 */
export function createPackSource(options: PackSourceOptions): SkillSource {
  const { id, file } = options;
  const folder = dirname(file);
  let loaded: { readonly text: string; readonly pack: PromptPack; readonly parts: readonly Part[] } | undefined;
  let preloaded = new Set<SkillSource>();
  const withSkills = new Set<SkillSource>();
  const group = createGroupSource({
    id,
    kind: 'pack',
    location: file,
    winner: 'last',
    watch: () => [folder],
    adapt(skill, member) {
      withSkills.add(member);
      // A package's path begins with its name, so expressions can name `@scope/package`.
      const below = skill.qualifiedId.slice(skill.source.length + 1);
      const path = member.kind === 'package' ? `${packageName(loaded?.parts, member)}/${below}` : below;
      const pack = { id: loaded?.pack.id ?? id, path };
      const preload = options.preload || preloaded.has(member) ? { preload: true as const } : {};
      return { ...skill, qualifiedId: `${id}:${path}`, pack, ...preload };
    },
    async members(): Promise<GroupMembers> {
      let bytes: Buffer;
      try {
        bytes = readNamedFile(file, MAX_PACK_BYTES);
      } catch (error) {
        const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
        if (isGone) loaded = undefined;
        return membersOf(isGone && options.optional ? [] : [unreadable(file, error)].map(kept));
      }
      const fault = encodingFault(bytes);
      const odd = (severity: Problem['severity']): readonly Problem[] =>
        fault ? [{ code: 'ENCODING_INVALID', severity, file, message: fault.message }] : [];
      if (fault?.isText === false) return membersOf(odd('error').map(kept));
      const text = bytes.toString('utf8');
      const { pack, problems } = parsePromptPack(text, file);
      if (!pack) return membersOf(problems.map(kept));
      if (loaded?.text !== text)
        loaded = { text, pack, parts: pack.skills.map((entry) => partOf(entry, options, folder)) };
      return membersOf([...problems, ...odd('warning')]);
    },
  });
  const kept = (problem: Problem): Problem =>
    loaded ? { ...problem, message: `${problem.message} ${KEPT}` } : problem;
  const membersOf = (problems: readonly Problem[]): GroupMembers => {
    const { parts = [] } = loaded ?? {};
    preloaded = new Set(parts.flatMap(({ source, preload }) => (source && preload ? [source] : [])));
    return {
      members: parts.flatMap(({ source }) => (source ? [source] : [])),
      problems: [...problems, ...parts.flatMap((part) => part.problems(file))],
    };
  };
  return {
    ...group,
    async scan(limits) {
      withSkills.clear();
      const scan = await group.scan(limits);
      const { skills, problems } = scan;
      const missingSkills = [
        ...emptyParts(loaded?.parts ?? [], withSkills, problems, file),
        ...unknownStates(loaded?.pack, skills, file),
      ];
      return { ...scan, problems: [...problems, ...missingSkills] };
    },
    scopes: () => scopesOf(loaded?.pack),
    // Inline skills are in the file of the pack.
    contains: (path) => path === futureRealPath(file) || group.contains(path),
  };
}

// --- internal ---

interface Part {
  readonly reference: string;
  readonly pointer: string;
  readonly source?: SkillSource;
  readonly target?: () => string | undefined;
  readonly preload: boolean;
  problems(file: string): readonly Problem[];
}

function partOf(entry: PackEntry, options: PackSourceOptions, folder: string): Part {
  const { id, allowOutside, validation, file, cache } = options;
  const none = (): readonly Problem[] => [];
  if (entry.kind === 'inline') {
    const { name, description, instructions } = entry;
    const source = createInlineSource({ id, skills: [{ name, description, instructions }], file });
    return { reference: name, pointer: entry.pointer, source, preload: false, problems: none };
  }
  const { reference, preload, pointer } = entry;
  if (reference.startsWith('@') && isPackageName(reference)) {
    const source = createPackageSource({
      id,
      name: reference,
      from: folder,
      allowOutside,
      validation,
      cache,
      factory: false,
      namedIn: { file, pointer },
    });
    return { reference, pointer, source, preload, problems: none, target: () => findPackage(reference, folder) };
  }
  const path = join(folder, reference);
  if (!allowOutside && !isInside(path, folder)) {
    return { reference, pointer, preload, problems: () => [outside(file, pointer, reference)] };
  }
  const source =
    /\.md$/i.test(path) && !isSkillFileName(basename(path))
      ? createFileSource({ id, file: path, base: folder, within: allowOutside ? undefined : folder, validation, cache })
      : createDirectorySource({
          id,
          root: isSkillFileName(basename(path)) ? dirname(path) : path,
          base: folder,
          allowOutside,
          within: allowOutside ? undefined : folder,
          validation,
          cache,
          optional: true,
        });
  const problems = (): readonly Problem[] =>
    realPathOf(path) === undefined ? [missing(file, pointer, reference)] : [];
  return { reference, pointer, source, preload, problems, target: () => path };
}

function emptyParts(
  parts: readonly Part[],
  withSkills: ReadonlySet<SkillSource>,
  problems: readonly Problem[],
  file: string,
): readonly Problem[] {
  return parts.flatMap(({ source, reference, pointer, target }) => {
    const folder = target?.();
    if (!source || withSkills.has(source) || folder === undefined || realPathOf(folder) === undefined) return [];
    const isReported = problems.some((one) => one.details?.pointer === pointer || isInside(one.file, folder));
    return isReported ? [] : [empty(file, pointer, reference)];
  });
}

/** PACK_STATE_UNKNOWN for each state whose expression names no skill. Naming a broken entry of the pack is correct. */
function unknownStates(pack: PromptPack | undefined, skills: readonly Skill[], file: string): readonly Problem[] {
  const declared = new Set(
    pack?.skills.flatMap((entry) => (entry.kind === 'reference' ? normalizePackPath(entry.reference) : [])),
  );
  return [...(pack?.workflow?.states ?? [])].flatMap(([state, expression]) => {
    if (expression === undefined || isNone(expression) || declared.has(normalizePackPath(expression))) return [];
    return skills.some((skill) => matchesExpression(expression, skill)) ? [] : [unknownState(file, state, expression)];
  });
}

function packageName(parts: readonly Part[] | undefined, member: SkillSource): string {
  return parts?.find(({ source }) => source === member)?.reference ?? member.id;
}

function scopesOf(pack: PromptPack | undefined): PackScopes | undefined {
  if (!pack) return undefined;
  const { entry, states = new Map(), events = new Map() } = pack.workflow ?? {};
  return { pack: pack.id, entry, states, events };
}

function unreadable(file: string, error: unknown): Problem {
  const message = `The prompt pack cannot be read: ${whyUnreadable(file, error)}, or remove the source.`;
  return { code: 'PACK_UNREADABLE', severity: 'error', file, message };
}

function whyUnreadable(file: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file, or a link in its path is broken. Create it, correct the path';
  if (code === 'ELOOP') return 'links in its path form a circle. Repair them, correct the path';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied. Check its permissions';
  if (isFolder(file)) return 'it is a folder, expected a JSON file. Name the file in it';
  return `${describeError(error).replace(/\.$/, '')}; expected a JSON file. Correct the path`;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function outside(file: string, pointer: string, reference: string): Problem {
  const message = `${pointer}: "${reference}" leads out of the folder of the pack. Move it into that folder, or set allow_outside: true for the source.`;
  return { code: 'PACK_PATH_OUTSIDE', severity: 'error', file, message, details: { pointer } };
}

function empty(file: string, pointer: string, reference: string): Problem {
  const message = `${pointer}: there is no skill in "${reference}". Put one there, or remove the entry.`;
  return { code: 'PACK_PATH_EMPTY', severity: 'warning', file, message, details: { pointer } };
}

function unknownState(file: string, state: string, expression: string): Problem {
  const pointer = `/workflow/states/${escapePointer(state)}/skills`;
  const shown = expression.length > 80 ? `${expression.slice(0, 80)}…` : expression;
  const message = `${pointer}: "${shown}" names no skill of this pack, so this state shows none. Name the path or id of one, a folder of them, or "none".`;
  return { code: 'PACK_STATE_UNKNOWN', severity: 'error', file, message, details: { pointer } };
}

function missing(file: string, pointer: string, reference: string): Problem {
  const message = `${pointer}: there is no "${reference}" beside the pack. Correct the path.`;
  return { code: 'PACK_PATH_MISSING', severity: 'error', file, message, details: { pointer } };
}
