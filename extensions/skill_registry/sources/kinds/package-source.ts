import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeError, type Problem } from 'skill-registry/kernel';
import { withDeadline } from '../../../../kernel/host.ts';
import { futureRealPath, isInside, readNamedFile } from '../../../../lib/files/index.ts';
import { backOff } from '../../../../lib/waiting/index.ts';
import { PACKAGE_NAME } from '../../config/config.ts';
import { revokedProblem, whyRevoked } from '../../trust/sources.ts';
import { isCustomSource } from '../define-source.ts';
import type { SkillSource } from '../source.ts';
import { createCustomSource } from './custom-source.ts';
import { createDirectorySource, type DirectorySourceOptions } from './directory-source.ts';
import { createGroupSource, type GroupMembers } from './group-source.ts';

export interface PackageSourceOptions
  extends Pick<DirectorySourceOptions, 'cache' | 'id' | 'optional' | 'validation'>,
    Partial<Pick<DirectorySourceOptions, 'allowOutside'>> {
  readonly name: string;
  /** Absolute. `node_modules` is searched in this folder and its parents. */
  readonly from: string;
  /** Whether to call `skillSource()`, which runs code of the package. Default: true. */
  readonly factory?: boolean;
  readonly factoryMs?: number;
  /** Milliseconds before a failed `skillSource()` is called again; doubles after each failure. Default: 5,000. */
  readonly retryMs?: number;
  readonly namedIn?: { readonly file: string; readonly pointer: string };
}

const MAX_PACKAGE_JSON_BYTES = 1_048_576;
const RETRY_MS = 5_000;
/** Milliseconds. Each import of a module stays in memory, so a failing one must be retried rarely. */
const MAX_RETRY_MS = 300_000;

/**
 * Uses the first of these: the folders in `"skills"` of package.json; the folder `skills/`; the function
 * `skillSource()`, which runs code of the package and returns a `CustomSource` or the path of a folder. A broken
 * package keeps its last skills; a revoked one is not read. Problems: PACKAGE_NOT_FOUND, PACKAGE_BROKEN,
 * SOURCE_REVOKED.
 */
export function createPackageSource(options: PackageSourceOptions): SkillSource {
  const { id, name, from } = options;
  const key = `npm:${name}`;
  let loaded: LoadedPackage | undefined;
  let changed: (() => void) | undefined;
  let unsubscribe = (): void => {};
  const group = createGroupSource({
    id,
    kind: 'package',
    location: findPackage(name, from) ?? join(from, 'node_modules', name),
    watch: () => [findPackage(name, from) ?? join(from, 'node_modules', name)],
    async members() {
      const reason = whyRevoked(key);
      if (reason !== undefined) return { members: [], problems: [revokedProblem(id, key, reason)] };
      const folder = findPackage(name, from);
      if (!folder) {
        loaded = undefined;
        return { members: [], problems: options.optional ? [] : [notFound(options)] };
      }
      let text: string;
      try {
        text = readNamedFile(join(folder, 'package.json'), MAX_PACKAGE_JSON_BYTES).toString('utf8');
      } catch (error) {
        return broken(loaded?.found.members, packageBroken(name, folder, oneLine(error)));
      }
      // Members cache what they read, so make new ones only when package.json changes, or skills/ is added or removed.
      const version = `${folder}\0${text}\0${existsSync(join(folder, 'skills'))}`;
      const isNew = loaded?.key !== version;
      if (isNew || (loaded?.failed && Date.now() >= loaded.failed.retryAt)) {
        const failures = isNew ? 0 : (loaded?.failed?.times ?? 0);
        const before = loaded?.found.members;
        loaded = await loadPackage(folder, text, version, failures, options, before);
        if (loaded.found.members !== before) {
          unsubscribe();
          const unsubscribes = loaded.found.members.map((member) => member.subscribe?.(() => changed?.()));
          unsubscribe = () => unsubscribes.forEach((end) => void end?.());
        }
      }
      return loaded?.found ?? { members: [], problems: [] };
    },
  });
  /** All folders where Node could find the package, used or not. With npm workspaces its folder is a link. */
  const isCode = (path: string): boolean =>
    packageFolders(name, futureRealPath(from)).some((folder) => isInside(path, futureRealPath(folder)));
  const subscribe = (listener: () => void): (() => void) => {
    changed = listener;
    return () => {
      changed = undefined;
      unsubscribe();
    };
  };
  return { ...group, key, isCode, contains: (path) => isCode(path) || group.contains(path), subscribe };
}

export function isPackageName(name: string): boolean {
  return name.length <= 214 && PACKAGE_NAME.test(name);
}

/** Searches as Node does, but ignores `exports`, because it searches a folder, not a module. */
export function findPackage(name: string, from: string): string | undefined {
  return packageFolders(name, from).find((folder) => existsSync(join(folder, 'package.json')));
}

export function packageFolders(name: string, from: string): readonly string[] {
  const folder = join(from, 'node_modules', ...name.split('/'));
  return from === dirname(from) ? [folder] : [folder, ...packageFolders(name, dirname(from))];
}

// --- internal ---

interface LoadedPackage {
  readonly key: string;
  readonly found: GroupMembers;
  readonly failed?: { readonly times: number; readonly retryAt: number };
}

function broken(members: readonly SkillSource[] = [], problem: Problem): GroupMembers {
  if (members.length === 0) return { members, problems: [problem] };
  return { members, problems: [{ ...problem, message: `${problem.message} Until then its last skills are used.` }] };
}

async function loadPackage(
  folder: string,
  text: string,
  key: string,
  failures: number,
  options: PackageSourceOptions,
  before: readonly SkillSource[] | undefined,
): Promise<LoadedPackage> {
  const { id, name, validation, cache, allowOutside = false } = options;
  const of = (...members: readonly SkillSource[]): LoadedPackage => ({ key, found: { members, problems: [] } });
  const without = (reason: string, remedy: string): GroupMembers => {
    return { members: [], problems: [packageBroken(name, folder, reason, remedy)] };
  };
  const directory = (root: string): SkillSource => {
    const within = allowOutside ? undefined : folder;
    return createDirectorySource({ id, root, base: folder, allowOutside, validation, within, cache });
  };
  let fields: PackageFields;
  try {
    fields = readFields(text);
  } catch (error) {
    const problem = packageBroken(name, folder, oneLine(error), 'Correct it, or remove the source.');
    return { key, found: broken(before, problem) };
  }
  if (fields.skills !== undefined) return of(...fields.skills.map((path) => directory(join(folder, path))));
  if (isFolder(join(folder, 'skills'))) return of(directory(join(folder, 'skills')));
  if (options.factory === false) {
    const reason = 'it has no "skills" in package.json and no skills/ folder, and a prompt pack runs no code of it';
    return { key, found: without(reason, 'Add one of the two to the package, or remove the package from the pack.') };
  }
  try {
    const made = await withDeadline(callFactory(options, text, fields, failures), options.factoryMs ?? 5_000);
    if (typeof made === 'string') return of(directory(resolve(folder, made)));
    if (isCustomSource(made)) return of(createCustomSource(made, { id, location: folder }));
    throw new Error(WRONG_RESULT);
  } catch (error) {
    const message = oneLine(error);
    const wait = backOff(failures + 1, { firstMs: options.retryMs ?? RETRY_MS, maxMs: MAX_RETRY_MS });
    const reason = OWN_MESSAGES.has(message) ? message : `its skillSource() failed: ${message}`;
    const found =
      message === NO_FORM
        ? without(message, 'Add one of the three to the package, or remove the source.')
        : broken(before, packageBroken(name, folder, reason));
    return { key, found, failed: { times: failures + 1, retryAt: Date.now() + wait } };
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

interface PackageFields {
  readonly skills?: readonly string[];
  readonly hasEntry: boolean;
}

function readFields(text: string): PackageFields {
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new Error(`package.json is not JSON (${oneLine(error)})`, { cause: error });
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

const NO_FORM = 'it has no "skills" in package.json, no skills/ folder and exports no function skillSource';
const NO_FILE = 'the file that main or exports of its package.json names cannot be found';
const WRONG_RESULT = 'its skillSource() returned neither { id, skills } nor the path of a folder';
const OWN_MESSAGES: ReadonlySet<string> = new Set([NO_FORM, NO_FILE, WRONG_RESULT]);

/** `version` and `failures` become part of the module's address, because Node never imports one address twice. */
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

/** Node would find `index.js` too, but print a warning to the terminal. */
function indexOf(name: string, from: string): string {
  const index = join(findPackage(name, from) ?? from, 'index.js');
  if (existsSync(index)) return pathToFileURL(index).href;
  throw new Error(NO_FORM);
}

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
  remedy = 'Repair the package, or remove the source.',
): Problem {
  const message = `The package ${name} gives no skills: ${reason}. ${remedy}`;
  return { code: 'PACKAGE_BROKEN', severity: 'error', file: join(folder, 'package.json'), message, details: { name } };
}
