import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describeError, type Problem } from 'skill-registry/kernel';
import { futureRealPath, isInside, readNamedFile, realPathOf } from '../../../../lib/files/index.ts';
import type { ValidationProfile } from '../../config/config.ts';
import type { Skill } from '../../skill/skill.ts';
import { encodingFault } from '../../validate/read-skill-md.ts';
import type { SkillSource } from '../source.ts';
import type { PackScopes } from '../types.ts';
import { isSkillFileName } from '../walk/find-skill-files.ts';
import type { SkillFileCache } from '../walk/skill-file-cache.ts';
import { createDirectorySource } from './directory-source.ts';
import { createFileSource } from './file-source.ts';
import { createGroupSource, type GroupMembers } from './group-source.ts';
import { createInlineSource } from './inline-source.ts';
import { isNone, matchesExpression, placeNamed } from './pack-expression.ts';
import { createPackageSource, findPackage, isPackageName } from './package-source.ts';
import { escapePointer, type PackEntry, type PromptPack, parsePromptPack } from './prompt-pack.ts';

export interface PackSourceOptions {
  readonly id: string;
  /** Absolute path of the PromptPack JSON. */
  readonly file: string;
  /** Entries may leave the folder of the pack. */
  readonly allowOutside: boolean;
  readonly validation: ValidationProfile;
  /** All its skills stand in the prompt, not only those it says. */
  readonly preload: boolean;
  /** A pack that does not exist is no problem. Default: false. */
  readonly optional?: boolean;
  /** As of a directory source. */
  readonly cache?: SkillFileCache | undefined;
}

export const MAX_PACK_BYTES = 4_194_304;
const KEPT = 'Until then the pack stays as it was.';

/**
 * The skills a prompt pack declares (RFC 0008): paths below the pack, packages, inline skills. Of two with one id the last
 * declared wins. `scopes` says what each state of its workflow may see. A pack that cannot be used any more (saved half, not
 * permitted) stays what it was; one that is removed is gone.
 *
 * Problems: PACK_UNREADABLE, ENCODING_INVALID, PACK_INVALID, PACK_NAME_REPEATED, PACK_PATH_OUTSIDE, PACK_PATH_MISSING,
 * PACK_PATH_EMPTY, PACK_STATE_UNKNOWN, and those of the parts.
 */
export function createPackSource(options: PackSourceOptions): SkillSource {
  const { id, file } = options;
  const folder = dirname(file);
  let known: { readonly text: string; readonly pack: PromptPack; readonly parts: readonly Part[] } | undefined;
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
      // Below the pack; of a package by its name, so that `@scope/package` is a place like any other.
      const below = skill.qualifiedId.slice(skill.source.length + 1);
      const path = member.kind === 'package' ? `${packageName(known?.parts, member)}/${below}` : below;
      const pack = { id: known?.pack.id ?? id, path };
      const preload = options.preload || preloaded.has(member) ? { preload: true as const } : {};
      return { ...skill, qualifiedId: `${id}:${path}`, pack, ...preload };
    },
    async members(): Promise<GroupMembers> {
      let bytes: Buffer;
      try {
        bytes = readNamedFile(file, MAX_PACK_BYTES);
      } catch (error) {
        const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
        if (isGone) known = undefined;
        return membersOf(isGone && options.optional ? [] : [unreadable(file, error)].map(kept));
      }
      const fault = encodingFault(bytes);
      const odd = (severity: Problem['severity']): readonly Problem[] =>
        fault ? [{ code: 'ENCODING_INVALID', severity, file, message: fault.message }] : [];
      if (fault?.isText === false) return membersOf(odd('error').map(kept));
      const text = bytes.toString('utf8');
      const { pack, problems } = parsePromptPack(text, file);
      if (!pack) return membersOf(problems.map(kept));
      if (known?.text !== text)
        known = { text, pack, parts: pack.skills.map((entry) => partOf(entry, options, folder)) };
      return membersOf([...problems, ...odd('warning')]);
    },
  });
  const kept = (problem: Problem): Problem => (known ? { ...problem, message: `${problem.message} ${KEPT}` } : problem);
  const membersOf = (problems: readonly Problem[]): GroupMembers => {
    const { parts = [] } = known ?? {};
    preloaded = new Set(parts.flatMap(({ source, preload }) => (source && preload ? [source] : [])));
    return {
      members: parts.flatMap(({ source }) => (source ? [source] : [])),
      problems: [...problems, ...parts.flatMap((part) => part.problems(file))],
    };
  };
  return {
    ...group,
    async scan(limits, takeBreak, sources) {
      withSkills.clear();
      const scan = await group.scan(limits, takeBreak, sources);
      const { skills, problems } = scan;
      const nothingThere = [
        ...emptyParts(known?.parts ?? [], withSkills, problems, file),
        ...unknownPlaces(known?.pack, skills, file),
      ];
      return { ...scan, problems: [...problems, ...nothingThere] };
    },
    scopes: () => scopesOf(known?.pack),
    // Who writes the pack writes its inline skills.
    contains: (path) => path === futureRealPath(file) || group.contains(path),
  };
}

// --- internal ---

interface Part {
  /** As the pack says; of an inline skill its name. */
  readonly reference: string;
  /** Where it says so. */
  readonly pointer: string;
  readonly source?: SkillSource;
  /** The folder or file that it means. */
  readonly place?: () => string | undefined;
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
      ...{ id, name: reference, from: folder, allowOutside, validation, cache },
      ...{ factory: false, namedIn: { file, pointer } },
    });
    return { reference, pointer, source, preload, problems: none, place: () => findPackage(reference, folder) };
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
          // The pack's own problem names the entry.
          optional: true,
        });
  const problems = (): readonly Problem[] =>
    realPathOf(path) === undefined ? [missing(file, pointer, reference)] : [];
  return { reference, pointer, source, preload, problems, place: () => path };
}

/** A part in which there is no skill, and nothing else is wrong. */
function emptyParts(
  parts: readonly Part[],
  withSkills: ReadonlySet<SkillSource>,
  problems: readonly Problem[],
  file: string,
): readonly Problem[] {
  return parts.flatMap(({ source, reference, pointer, place }) => {
    const folder = place?.();
    if (!source || withSkills.has(source) || folder === undefined || realPathOf(folder) === undefined) return [];
    const isTold = problems.some((one) => one.details?.pointer === pointer || isInside(one.file, folder));
    return isTold ? [] : [empty(file, pointer, reference)];
  });
}

/** A state that names an entry of the pack is right, whatever is wrong with that entry. */
function unknownPlaces(pack: PromptPack | undefined, skills: readonly Skill[], file: string): readonly Problem[] {
  const declared = new Set(
    pack?.skills.flatMap((entry) => (entry.kind === 'reference' ? placeNamed(entry.reference) : [])),
  );
  return [...(pack?.workflow?.states ?? [])].flatMap(([state, expression]) => {
    if (expression === undefined || isNone(expression) || declared.has(placeNamed(expression))) return [];
    return skills.some((skill) => matchesExpression(expression, skill)) ? [] : [unknownPlace(file, state, expression)];
  });
}

function packageName(parts: readonly Part[] | undefined, member: SkillSource): string {
  return parts?.find(({ source }) => source === member)?.reference ?? member.id;
}

function scopesOf(pack: PromptPack | undefined): PackScopes | undefined {
  if (!pack) return undefined;
  return { pack: pack.id, entry: pack.workflow?.entry, states: pack.workflow?.states ?? new Map() };
}

function unreadable(file: string, error: unknown): Problem {
  const message = `The prompt pack cannot be read: ${whyUnreadable(file, error)}, or remove the source.`;
  return { code: 'PACK_UNREADABLE', severity: 'error', file, message };
}

function whyUnreadable(file: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT')
    return 'there is no such file, or a link on the way leads nowhere. Create it, correct the path';
  if (code === 'ELOOP') return 'links on the way run in a circle. Repair them, correct the path';
  if (code === 'EACCES' || code === 'EPERM') return 'the system does not permit it. Check its permissions';
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
  const message = `${pointer}: "${reference}" leads out of the folder of the pack. Move it below, or set allow_outside: true for the source.`;
  return { code: 'PACK_PATH_OUTSIDE', severity: 'error', file, message, details: { pointer } };
}

function empty(file: string, pointer: string, reference: string): Problem {
  const message = `${pointer}: there is no skill in "${reference}". Put one there, or take the entry out.`;
  return { code: 'PACK_PATH_EMPTY', severity: 'warning', file, message, details: { pointer } };
}

function unknownPlace(file: string, state: string, expression: string): Problem {
  const pointer = `/workflow/states/${escapePointer(state)}/skills`;
  const shown = expression.length > 80 ? `${expression.slice(0, 80)}…` : expression;
  const message = `${pointer}: "${shown}" names no skill of this pack, so this state shows none. Name the path or id of one, a folder of them, or "none".`;
  return { code: 'PACK_STATE_UNKNOWN', severity: 'error', file, message, details: { pointer } };
}

function missing(file: string, pointer: string, reference: string): Problem {
  const message = `${pointer}: there is no "${reference}" beside the pack. Correct the path.`;
  return { code: 'PACK_PATH_MISSING', severity: 'error', file, message, details: { pointer } };
}
