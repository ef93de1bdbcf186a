import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeError, type Problem } from 'skill-registry/kernel';
import { halfApproved, whileNobodyApproves, withDeadline } from '../../../../kernel/host.ts';
import { futureRealPath, isInside, PACKAGE_NAME, readNamedFile } from '../../../../lib/files/index.ts';
import { shellWord } from '../../../../lib/text/index.ts';
import { backOff } from '../../../../lib/waiting/index.ts';
import { isRecord } from '../../core/config/readers.ts';
import { shown } from '../../core/skill/field-values.ts';
import { isCustomSource } from '../../core/sources/define-source.ts';
import { createCustomSource } from '../../core/sources/kinds/custom-source.ts';
import { createDirectorySource, type DirectorySourceOptions } from '../../core/sources/kinds/directory-source.ts';
import type { SkillSource } from '../../core/sources/source.ts';
import type { SourceDecisions } from '../../core/sources/source-kind.ts';
import { createGroupSource, type GroupMembers } from './group-source.ts';

export interface PackageSourceOptions
  extends Pick<DirectorySourceOptions, 'cache' | 'id' | 'optional' | 'profile'>,
    Partial<Pick<DirectorySourceOptions, 'allowOutside'>> {
  readonly name: string;
  /** Absolute. `node_modules` is searched in this folder and its parents. */
  readonly from: string;
  /** Default: nobody has decided anything. */
  readonly decisions?: SourceDecisions | undefined;
  /** Whether to call `skillSource()`, which runs code of the package. Default: true. */
  readonly factory?: boolean;
  readonly factoryMs?: number;
  /** Milliseconds before a failed `skillSource()` is called again; doubles after each failure. Default: 5,000. */
  readonly retryMs?: number;
  readonly namedIn?: { readonly file: string; readonly pointer: string };
}

const MAX_PACKAGE_JSON_BYTES = 1_048_576;
const FACTORY_MS = 5_000;
const RETRY_MS = 5_000;
/** Milliseconds. Each import of a module stays in memory, so a failing one must be retried rarely. */
const MAX_RETRY_MS = 300_000;

/**
 * Uses the first of these: the folders in `"skills"` of package.json; the folder `skills/`; the function
 * `skillSource()`, which runs code of the package and returns a `CustomSource` or the path of a folder. A broken
 * package keeps its last skills. Problems: PACKAGE_NOT_FOUND, PACKAGE_BROKEN, and that of `decisions`.
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
      const refusal = options.decisions?.refusal(id, key);
      if (refusal) return { members: [], problems: [refusal] };
      const folder = findPackage(name, from);
      if (!folder) {
        loaded = undefined;
        return { members: [], problems: options.optional ? [] : [notFound(options)] };
      }
      let text: string;
      try {
        text = readNamedFile(join(folder, 'package.json'), MAX_PACKAGE_JSON_BYTES).toString('utf8');
      } catch (error) {
        return broken(new PackageFault(firstLine(error)), folder, name, loaded?.members);
      }
      // Members cache what they read, so make new ones only when package.json changes, or skills/ is added or removed.
      const version = `${folder}\0${text}\0${existsSync(join(folder, 'skills'))}`;
      if (loaded?.version === version && Date.now() < loaded.retryAt) return loaded;
      const before = loaded?.members;
      loaded = await loadPackage(folder, text, version, options, loaded);
      if (loaded.members !== before) {
        unsubscribe();
        const unsubscribes = loaded.members.map((member) => member.subscribe?.(() => changed?.()));
        unsubscribe = () => unsubscribes.forEach((end) => void end?.());
      }
      return loaded;
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

// --- internal ---

function packageFolders(name: string, from: string): readonly string[] {
  const folder = join(from, 'node_modules', ...name.split('/'));
  return from === dirname(from) ? [folder] : [folder, ...packageFolders(name, dirname(from))];
}

interface LoadedPackage extends GroupMembers {
  readonly version: string;
  readonly failures: number;
  /** Milliseconds since the epoch. */
  readonly retryAt: number;
}

/** Why a package gives no skills. */
class PackageFault extends Error {
  remedy = 'Repair the package, or remove the source.';
  /** The skills that it gave before stay. */
  keepsLast = true;
}

async function loadPackage(
  folder: string,
  text: string,
  version: string,
  options: PackageSourceOptions,
  before: LoadedPackage | undefined,
): Promise<LoadedPackage> {
  const failures = before?.version === version ? before.failures : 0;
  try {
    const members = await membersOf(folder, text, failures, options);
    return { version, members, problems: [], failures: 0, retryAt: Number.POSITIVE_INFINITY };
  } catch (error) {
    const wait = backOff(failures + 1, { firstMs: options.retryMs ?? RETRY_MS, maxMs: MAX_RETRY_MS });
    const found = broken(error, folder, options.name, before?.members);
    return { version, ...found, failures: failures + 1, retryAt: Date.now() + wait };
  }
}

function broken(error: unknown, folder: string, name: string, last: readonly SkillSource[] = []): GroupMembers {
  const fault =
    error instanceof PackageFault ? error : new PackageFault(`its skillSource() failed: ${firstLine(error)}`);
  const members = fault.keepsLast ? last : [];
  const until = members.length === 0 ? '' : ' Until then its last skills are used.';
  const message = `The package ${name} gives no skills: ${fault.message}. ${fault.remedy}${until}`;
  const file = join(folder, 'package.json');
  return { members, problems: [{ code: 'PACKAGE_BROKEN', severity: 'error', file, message, details: { name } }] };
}

async function membersOf(folder: string, text: string, failures: number, options: PackageSourceOptions) {
  const { id, profile, cache, allowOutside = false } = options;
  const within = allowOutside ? undefined : folder;
  const directory = (root: string): SkillSource =>
    createDirectorySource({ id, root, base: folder, allowOutside, profile, within, cache });
  const { skills, hasEntry } = readFields(text);
  if (skills) return skills.map((path) => directory(join(folder, path)));
  const usual = join(folder, 'skills');
  if (statSync(usual, { throwIfNoEntry: false })?.isDirectory()) return [directory(usual)];
  if (options.factory === false) {
    const reason = 'it has no "skills" in package.json and no skills/ folder, and a prompt pack runs no code of it';
    const remedy = 'Add one of the two to the package, or remove the package from the pack.';
    throw Object.assign(new PackageFault(reason), { remedy, keepsLast: false });
  }
  const made = await withDeadline(callFactory(options, text, hasEntry, failures), options.factoryMs ?? FACTORY_MS);
  if (typeof made === 'string') return [directory(resolve(folder, made))];
  if (isCustomSource(made)) return [createCustomSource(made, { id, location: folder })];
  throw new PackageFault('its skillSource() returned neither { id, skills } nor the path of a folder');
}

function readFields(text: string): { readonly skills?: readonly string[]; readonly hasEntry: boolean } {
  const wrong = (reason: string): Error =>
    Object.assign(new PackageFault(reason), { remedy: 'Correct it, or remove the source.' });
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw wrong(`package.json is not JSON (${firstLine(error)})`);
  }
  if (!isRecord(json)) throw wrong(`package.json is ${shown(json)}, expected an object`);
  const { skills, main, exports } = json;
  const hasEntry = main !== undefined || exports !== undefined;
  if (skills === undefined) return { hasEntry };
  const list: readonly unknown[] = [skills].flat();
  const isPath = (path: unknown): path is string => typeof path === 'string' && path !== '';
  if (list.every(isPath)) return { skills: list, hasEntry };
  throw wrong(`"skills" in package.json is ${shown(skills)}, expected a folder or a list of folders`);
}

/** `version` and `failures` become part of the module's address, because Node never imports one address twice. */
async function callFactory(
  { name, from, factoryMs = FACTORY_MS }: PackageSourceOptions,
  version: string,
  hasEntry: boolean,
  failures: number,
) {
  // It may be a link to an extension, or use files of one.
  const [half] = halfApproved(from);
  if (half) {
    const remedy = `Start its root once, which undoes it: skill-registry start --root ${shellWord(half.root)}.`;
    throw Object.assign(new PackageFault(`an approval of code was interrupted (${half.name})`), { remedy });
  }
  const entry = await entryOf(name, from, hasEntry);
  const tag = createHash('sha256').update(version).digest('hex').slice(0, 16);
  const attempt = failures === 0 ? '' : `&try=${failures}`;
  const load = (): Promise<unknown> => import(`${entry}?version=${tag}${attempt}`);
  const module = (await whileNobodyApproves(from, factoryMs, load)) as { skillSource?: unknown };
  if (typeof module.skillSource !== 'function') throw noForm();
  return (module.skillSource as () => unknown)();
}

async function entryOf(name: string, from: string, hasEntry: boolean): Promise<string> {
  // Node would find `index.js` too, but print a warning to the terminal.
  const index = join(findPackage(name, from) ?? from, 'index.js');
  if (!hasEntry && existsSync(index)) return pathToFileURL(index).href;
  if (!hasEntry) throw noForm();
  const { createJiti } = await import('jiti');
  try {
    return createJiti(pathToFileURL(join(from, 'package.json')).href).esmResolve(name);
  } catch (cause) {
    throw new PackageFault('the file that main or exports of its package.json names cannot be found', { cause });
  }
}

function noForm(): Error {
  const reason = 'it has no "skills" in package.json, no skills/ folder and exports no function skillSource';
  const remedy = 'Add one of the three to the package, or remove the source.';
  return Object.assign(new PackageFault(reason), { remedy, keepsLast: false });
}

function firstLine(error: unknown): string {
  const [line = ''] = describeError(error)
    .trim()
    .split(/[\r\n]/);
  return line.replace(/\?version=[0-9a-f]+(?:&try=\d+)?/g, '').replace(/\.$/, '');
}

function notFound({ name, from, namedIn }: PackageSourceOptions): Problem {
  const where = namedIn ? `${namedIn.pointer}: the` : 'The';
  const remedy = namedIn ? 'remove it from the pack' : 'remove the source';
  const message = `${where} package ${name} is not installed. Run npm install ${name} in ${from}, or ${remedy}.`;
  const details = namedIn ? { name, pointer: namedIn.pointer } : { name };
  const file = namedIn?.file ?? join(from, 'node_modules', name);
  return { code: 'PACKAGE_NOT_FOUND', severity: 'error', file, message, details };
}
