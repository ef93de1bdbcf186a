import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeError, type Problem } from 'skill-registry/kernel';
import { withDeadline } from '../../../../kernel/host.ts';
import { futureRealPath, isInside, readNamedFile } from '../../../../lib/files/index.ts';
import { backOff } from '../../../../lib/waiting/index.ts';
import type { ValidationProfile } from '../../config/config.ts';
import { PACKAGE_NAME } from '../../config/package-name.ts';
import { isOwnSource } from '../define-source.ts';
import type { SkillSource } from '../source.ts';
import type { SkillFileCache } from '../walk/skill-file-cache.ts';
import { createDirectorySource } from './directory-source.ts';
import { createGroupSource, type GroupMembers } from './group-source.ts';
import { createOwnSource } from './own-source.ts';

export interface PackageSourceOptions {
  readonly id: string;
  /** `name` or `@scope/name`. */
  readonly name: string;
  /** Absolute folder from which upwards `node_modules` is searched. */
  readonly from: string;
  /** Its folders, and links in them, may leave the package. Default: false. */
  readonly allowOutside?: boolean;
  readonly validation: ValidationProfile;
  /** A package that is not installed is no problem. Default: false. */
  readonly optional?: boolean;
  /** Whether `skillSource()` may be called, which runs code of the package. Default: true. */
  readonly factory?: boolean;
  /** Milliseconds that `skillSource()` has. Default: 5,000. */
  readonly factoryMs?: number;
  /** Milliseconds before a `skillSource()` that failed is tried again; twice as many each time it fails again. Default: 5,000. */
  readonly retryMs?: number;
  /** As of a directory source. */
  readonly cache?: SkillFileCache | undefined;
  /** The entry of a prompt pack that asks for it, for problems. */
  readonly namedIn?: { readonly file: string; readonly pointer: string };
}

const MAX_PACKAGE_JSON_BYTES = 1_048_576;

const RETRY_MS = 5_000;
/** A factory that goes on failing is asked ever more rarely: every import of a module stays in memory. */
const MAX_RETRY_MS = 300_000;

/**
 * The skills of an installed npm package: the folder or folders its package.json names under `"skills"`, else its `skills/`
 * folder, else what its exported zero-argument `skillSource()` returns: `{ id, skills }` as for `defineSource`, or the path of a
 * folder, a relative one below the package.
 *
 * Only the last runs code of the package; when it fails it is tried again. Problems: PACKAGE_NOT_FOUND, PACKAGE_BROKEN;
 * nothing else suffers. A package that is there and broken keeps what it gave before; one that names no skills any more does not.
 */
export function createPackageSource(options: PackageSourceOptions): SkillSource {
  const { id, name, from } = options;
  let known: Known | undefined;
  let changed: (() => void) | undefined;
  let unsubscribe = (): void => {};
  const group = createGroupSource({
    id,
    kind: 'package',
    location: findPackage(name, from) ?? join(from, 'node_modules', name),
    watch: () => [findPackage(name, from) ?? join(from, 'node_modules', name)],
    async members() {
      const folder = findPackage(name, from);
      if (!folder) {
        known = undefined;
        return { members: [], problems: options.optional ? [] : [notFound(options)] };
      }
      let text: string;
      try {
        text = readNamedFile(join(folder, 'package.json'), MAX_PACKAGE_JSON_BYTES).toString('utf8');
      } catch (error) {
        return keeping(known?.found.members, packageBroken(name, folder, oneLine(error)));
      }
      // Another version, or the folder came: look again. Members hold what they have read, so they are kept.
      const key = `${folder}\0${text}\0${existsSync(join(folder, 'skills'))}`;
      const isNew = known?.key !== key;
      if (isNew || (known?.failed && Date.now() >= known.failed.retryAt)) {
        const failures = isNew ? 0 : (known?.failed?.times ?? 0);
        const before = known?.found.members;
        known = await lookInto(folder, text, key, failures, options, before);
        if (known.found.members !== before) {
          unsubscribe();
          const ends = known.found.members.map((member) => member.subscribe?.(() => changed?.()));
          unsubscribe = () => ends.forEach((end) => void end?.());
        }
      }
      return known?.found ?? { members: [], problems: [] };
    },
  });
  /** A package put nearer than the one there is takes its place. With workspaces of npm its folder is a link. */
  const isCode = (path: string): boolean =>
    packageFolders(name, futureRealPath(from)).some((folder) => isInside(path, futureRealPath(folder)));
  const subscribe = (listener: () => void): (() => void) => {
    changed = listener;
    return () => {
      changed = undefined;
      unsubscribe();
    };
  };
  return { ...group, isCode, contains: (path) => isCode(path) || group.contains(path), subscribe };
}

export function isPackageName(name: string): boolean {
  return name.length <= 214 && PACKAGE_NAME.test(name);
}

/**
 * The folder of an installed package, looked for in `node_modules` of `from` and of every folder above it, the way Node does.
 * Its `exports` do not matter: the folder is wanted, not a module.
 */
export function findPackage(name: string, from: string): string | undefined {
  return packageFolders(name, from).find((folder) => existsSync(join(folder, 'package.json')));
}

/** Every folder the package could be in, nearest first. */
export function packageFolders(name: string, from: string): readonly string[] {
  const folder = join(from, 'node_modules', ...name.split('/'));
  return from === dirname(from) ? [folder] : [folder, ...packageFolders(name, dirname(from))];
}

// --- internal ---

interface Known {
  readonly key: string;
  readonly found: GroupMembers;
  /** The factory failed so many times in a row. */
  readonly failed?: { readonly times: number; readonly retryAt: number };
}

/** What it gave before stays in use. */
function keeping(members: readonly SkillSource[] = [], problem: Problem): GroupMembers {
  if (members.length === 0) return { members, problems: [problem] };
  return { members, problems: [{ ...problem, message: `${problem.message} Until then its last skills stay.` }] };
}

/**
 * @param failures - How often the factory has failed before.
 * @param before - What the package gave until now.
 */
async function lookInto(
  folder: string,
  text: string,
  key: string,
  failures: number,
  options: PackageSourceOptions,
  before: readonly SkillSource[] | undefined,
): Promise<Known> {
  const { id, name, validation, cache, allowOutside = false } = options;
  const broken = (reason: string, remedy?: string): Known => ({
    key,
    found: keeping(before, packageBroken(name, folder, reason, remedy)),
  });
  /** A whole package that has none. */
  const without = (reason: string, remedy: string): Known => ({
    key,
    found: { members: [], problems: [packageBroken(name, folder, reason, remedy)] },
  });
  const of = (...members: readonly SkillSource[]): Known => ({ key, found: { members, problems: [] } });
  const directory = (root: string): SkillSource => {
    const within = allowOutside ? undefined : folder;
    return createDirectorySource({ id, root, base: folder, allowOutside, validation, within, cache });
  };
  let fields: PackageFields;
  try {
    fields = readFields(text);
  } catch (error) {
    return broken(oneLine(error), 'Correct it, or remove the source.');
  }
  const { skills } = fields;
  if (skills !== undefined) return of(...skills.map((path) => directory(join(folder, path))));
  if (isFolder(join(folder, 'skills'))) return of(directory(join(folder, 'skills')));
  if (options.factory === false) {
    const reason = 'it has no "skills" in package.json and no skills/ folder, and a prompt pack runs no code of it';
    return without(reason, 'Give it one of the two, or remove it from the pack.');
  }
  try {
    const made = await withDeadline(callFactory(options, text, fields, failures), options.factoryMs ?? 5_000);
    if (typeof made === 'string') return of(directory(resolve(folder, made)));
    if (isOwnSource(made)) return of(createOwnSource(made, { id, location: folder }));
    throw new Error(WRONG_RESULT);
  } catch (error) {
    const message = oneLine(error);
    const wait = backOff(failures + 1, { firstMs: options.retryMs ?? RETRY_MS, longestMs: MAX_RETRY_MS });
    const failed = { times: failures + 1, retryAt: Date.now() + wait };
    if (message === NO_FORM) return { ...without(message, 'Give it one of the three, or remove the source.'), failed };
    return { ...broken(OURS.has(message) ? message : `its skillSource() failed: ${message}`), failed };
  }
}

interface PackageFields {
  readonly skills?: readonly string[];
  /** Whether it says which file is its module. */
  readonly hasEntry: boolean;
}

/** @throws an Error that says what is wrong. */
function readFields(text: string): PackageFields {
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new Error(`package.json is no JSON (${oneLine(error)})`, { cause: error });
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new Error(`package.json is ${brief(json)}, expected an object`);
  }
  const { skills, main, exports } = json as Readonly<Record<string, unknown>>;
  const hasEntry = main !== undefined || exports !== undefined;
  if (skills === undefined) return { hasEntry };
  const list: readonly unknown[] = [skills].flat();
  const isPath = (path: unknown): path is string => typeof path === 'string' && path !== '';
  if (list.every(isPath)) return { skills: list, hasEntry };
  throw new Error(`"skills" in package.json is ${brief(skills)}, expected a folder or a list of folders`);
}

/** None of the three forms. */
const NO_FORM = 'it has no "skills" in package.json, no skills/ folder and exports no function skillSource';
const NO_FILE = 'the file that main or exports of its package.json names cannot be found';
const WRONG_RESULT = 'its skillSource() returned neither { id, skills } nor the path of a folder';
const OURS: ReadonlySet<string> = new Set([NO_FORM, NO_FILE, WRONG_RESULT]);

/**
 * @param version - Another one is imported anew.
 * @param failures - A module that failed stays failed under its address, so every further try has one of its own.
 */
async function callFactory(
  { name, from }: PackageSourceOptions,
  version: string,
  { hasEntry }: PackageFields,
  failures: number,
): Promise<unknown> {
  const entry = hasEntry ? await resolveEntry(name, from) : indexOf(name, from);
  const tag = createHash('sha256').update(version).digest('hex').slice(0, 16);
  const attempt = failures === 0 ? '' : `&try=${failures}`;
  const module = (await import(`${entry}?version=${tag}${attempt}`)) as { skillSource?: unknown };
  if (typeof module.skillSource !== 'function') throw new Error(NO_FORM);
  return (module.skillSource as () => unknown)();
}

async function resolveEntry(name: string, from: string): Promise<string> {
  const { createJiti } = await import('jiti');
  try {
    return createJiti(pathToFileURL(join(from, 'package.json')).href).esmResolve(name);
  } catch (cause) {
    throw new Error(NO_FILE, { cause });
  }
}

/** What Node would find as well, with a warning on the owner's terminal. */
function indexOf(name: string, from: string): string {
  const index = join(findPackage(name, from) ?? from, 'index.js');
  if (existsSync(index)) return pathToFileURL(index).href;
  throw new Error(NO_FORM);
}

/** The first line, without what was put behind the address of a module. */
function oneLine(error: unknown): string {
  const [line = ''] = describeError(error)
    .trim()
    .split(/[\r\n]/);
  return line.replace(/\?version=[0-9a-f]+(?:&try=\d+)?/g, '').replace(/\.$/, '');
}

function brief(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function notFound({ name, from, namedIn }: PackageSourceOptions): Problem {
  const where = namedIn ? `${namedIn.pointer}: the` : 'The';
  const remedy = namedIn ? 'remove it from the pack' : 'remove the source';
  const message = `${where} package ${name} is not installed. Run npm install ${name} in ${from}, or ${remedy}.`;
  return {
    code: 'PACKAGE_NOT_FOUND',
    severity: 'error',
    file: namedIn?.file ?? join(from, 'node_modules', name),
    message,
    details: { name, ...(namedIn ? { pointer: namedIn.pointer } : {}) },
  };
}

function packageBroken(
  name: string,
  folder: string,
  reason: string,
  remedy = 'Mend the package, or remove the source.',
): Problem {
  const message = `The package ${name} gives no skills: ${reason}. ${remedy}`;
  return { code: 'PACKAGE_BROKEN', severity: 'error', file: join(folder, 'package.json'), message, details: { name } };
}
