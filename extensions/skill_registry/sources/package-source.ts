import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeError, isInside, type Problem, readNamedFile, withDeadline, z } from 'skill-registry/kernel';
import type { ValidationProfile } from '../config.ts';
import { adoptSource } from './adopted-source.ts';
import { createDirectorySource } from './directory-source.ts';
import { findPackage, packageFolders } from './find-package.ts';
import { createGroupSource, type GroupMembers } from './group-source.ts';
import { isSkillSource } from './is-skill-source.ts';
import { futureRealPath } from './real-path.ts';
import type { SkillSource } from './source.ts';

export interface PackageSourceOptions {
  readonly id: string;
  /** `name` or `@scope/name`. */
  readonly name: string;
  /** Absolute folder from which upwards `node_modules` is searched. */
  readonly from: string;
  readonly validation: ValidationProfile;
  /** A package that is not installed is no problem. Default: false. */
  readonly optional?: boolean;
  /** Whether `skillSource()` may be called, which runs code of the package. Default: true. */
  readonly factory?: boolean;
  /** Milliseconds that `skillSource()` has. Default: 5,000. */
  readonly factoryMs?: number;
}

const MAX_PACKAGE_JSON_BYTES = 1_048_576;

const packageJson = z.looseObject({
  skills: z.union([z.string().min(1), z.array(z.string().min(1))]).optional(),
});

/**
 * The skills of an installed npm package: the folder or folders its package.json names under `"skills"`, else its `skills/`
 * folder, else what its exported zero-argument `skillSource()` returns (a SkillSource, or the path of a folder).
 *
 * Only the last runs code of the package. Problems: PACKAGE_NOT_FOUND, PACKAGE_BROKEN; nothing else suffers.
 */
export function createPackageSource(options: PackageSourceOptions): SkillSource {
  const { id, name, from } = options;
  let known: { readonly key: string; readonly found: GroupMembers } | undefined;
  const group = createGroupSource({
    id,
    kind: 'package',
    location: findPackage(name, from) ?? join(from, 'node_modules', name),
    watch: () => [findPackage(name, from) ?? join(from, 'node_modules', name)],
    async members() {
      const folder = findPackage(name, from);
      if (!folder) return { members: [], problems: options.optional ? [] : [notFound(name, from)] };
      let text: string;
      try {
        text = readNamedFile(join(folder, 'package.json'), MAX_PACKAGE_JSON_BYTES).toString('utf8');
      } catch (error) {
        return { members: [], problems: [packageBroken(name, folder, describeError(error))] };
      }
      // Another version, or the folder came: look again. Members hold what they have read, so they are kept.
      const key = `${folder}\0${text}\0${existsSync(join(folder, 'skills'))}`;
      if (known?.key !== key) known = { key, found: await membersOf(folder, text, options) };
      return known.found;
    },
  });
  return {
    ...group,
    // A package put nearer than the one there is takes its place.
    contains: (path) =>
      packageFolders(name, futureRealPath(from)).some((folder) => isInside(path, folder)) || group.contains(path),
  };
}

// --- internal ---

async function membersOf(folder: string, text: string, options: PackageSourceOptions): Promise<GroupMembers> {
  const { id, name, validation } = options;
  const broken = (reason: string): GroupMembers => ({ members: [], problems: [packageBroken(name, folder, reason)] });
  const directory = (root: string): SkillSource =>
    createDirectorySource({ id, root, base: folder, allowOutside: false, validation, within: folder });
  try {
    const { skills } = packageJson.parse(JSON.parse(text));
    if (skills !== undefined)
      return { members: [skills].flat().map((path) => directory(join(folder, path))), problems: [] };
    if (isFolder(join(folder, 'skills'))) return { members: [directory(join(folder, 'skills'))], problems: [] };
    if (options.factory === false) {
      return broken('it has no "skills" in package.json and no skills/ folder, and a prompt pack runs no code of it');
    }
    const made = await withDeadline(callFactory(name, options.from, text), options.factoryMs ?? 5_000);
    if (typeof made === 'string') return { members: [directory(made)], problems: [] };
    return isSkillSource(made)
      ? { members: [adoptSource(made, id)], problems: [] }
      : broken('its skillSource() returned neither a SkillSource nor the path of a folder');
  } catch (error) {
    return broken(describeError(error));
  }
}

/** @param version - Another one is imported anew. */
async function callFactory(name: string, from: string, version: string): Promise<unknown> {
  const { createJiti } = await import('jiti');
  const entry = createJiti(pathToFileURL(join(from, 'package.json')).href).esmResolve(name);
  const tag = createHash('sha256').update(version).digest('hex').slice(0, 16);
  const module = (await import(`${entry}?version=${tag}`)) as { skillSource?: unknown };
  if (typeof module.skillSource !== 'function') {
    throw new Error('it has no "skills" in package.json, no skills/ folder and exports no function skillSource');
  }
  return (module.skillSource as () => unknown)();
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function notFound(name: string, from: string): Problem {
  const message = `The package ${name} is not installed. Run npm install ${name} in ${from}, or remove the source.`;
  return {
    code: 'PACKAGE_NOT_FOUND',
    severity: 'error',
    file: join(from, 'node_modules', name),
    message,
    details: { name },
  };
}

function packageBroken(name: string, folder: string, reason: string): Problem {
  const message = `The package ${name} gives no skills: ${reason}.`;
  return { code: 'PACKAGE_BROKEN', severity: 'error', file: join(folder, 'package.json'), message, details: { name } };
}
