import { existsSync } from 'node:fs';
import { basename, join, parse } from 'node:path';
import { isInside, readNamedFile } from '../../lib/files/index.ts';
import type { Problem, TurnContext } from '../contract.ts';
import { agentNotFound, agentUnavailable, withFallback } from '../errors.ts';
import { type HalfApproved, halfApproved } from '../held/half-approved.ts';
import { builtExtensions, codeFilesOf, foldersOf, foldersOfRoot, packageRoot } from './extension-folders.ts';
import { type Manifest, parseManifest } from './manifest.ts';
import { heldWithProblems } from './untrusted-root.ts';

export interface FoundExtension {
  readonly manifest: Manifest;
  readonly dir: string;
  /** `package`: comes with this package, imported by Node. `root`: lies in the root, compiled by the loader. */
  readonly origin: 'package' | 'root';
}

export interface Discovery {
  /** One per id: an extension of the root replaces one of the package. By folder name, those of the package first. */
  readonly extensions: readonly FoundExtension[];
  /** Folders with an unusable manifest (each named in `problems`), and those whose approval was interrupted. */
  readonly broken: readonly { readonly name: string; readonly dir: string; readonly reason: string }[];
  readonly problems: readonly Problem[];
}

export function findExtensions(rootDir: string, trusted: boolean): Discovery {
  const folder = trusted ? join(rootDir, 'extensions') : undefined;
  return discoverExtensions(builtExtensions(), folder, join(packageRoot(), 'extensions'), halfApproved(rootDir));
}

/**
 * @param rootDir - `<root>/extensions`. Undefined: only the package's own extensions.
 * @param ownSources - The package's own sources; in a checkout this is `rootDir`, and they must not be found twice.
 * @param half - Extensions whose files may be of two versions. No extension of the root is used: it may import these.
 */
export function discoverExtensions(
  packageDir: string,
  rootDir: string | undefined,
  ownSources: string,
  half: readonly HalfApproved[] = [],
): Discovery {
  const problems: Problem[] = [];
  const broken: { name: string; dir: string; reason: string }[] = [];
  const found = new Map<string, FoundExtension>();
  const own = foldersOf(packageDir);
  const folders = [
    ...own.map((name) => ({ dir: join(packageDir, name), origin: 'package' as const })),
    ...(rootDir === undefined ? [] : foldersOfRoot(rootDir, packageDir, ownSources)).map((name) => ({
      dir: join(rootDir as string, name),
      origin: 'root' as const,
    })),
  ];
  for (const { dir, origin } of folders) {
    const file = join(dir, 'manifest.yaml');
    if (origin === 'root' && half.length > 0) {
      const paths = half.map(({ root, name }) => join(root, 'extensions', name));
      const shown = paths.map((path) => (isInside(path, `${rootDir}`) ? `extensions/${basename(path)}` : path));
      const others = `an approval of ${shown.join(', ')} was interrupted, and this may use files of it`;
      broken.push({
        name: basename(dir),
        dir,
        reason: paths.includes(dir) ? 'an approval of it was interrupted' : others,
      });
      continue;
    }
    const text = withFallback(() => readNamedFile(file, MAX_MANIFEST_BYTES).toString('utf8'));
    if (text === undefined) {
      if (origin === 'root') problems.push(noManifest(dir));
      continue;
    }
    const parsed = parseManifest(text, file);
    problems.push(...parsed.problems);
    if (!parsed.manifest) {
      broken.push({ name: basename(dir), dir, reason: parsed.problems[0]?.message ?? 'broken manifest' });
      continue;
    }
    const { id } = parsed.manifest;
    const earlier = found.get(id);
    if (earlier && earlier.origin === origin) {
      problems.push(duplicateId(id, file, earlier.dir));
      continue;
    }
    if (earlier) problems.push(overridden(id, file, earlier.dir));
    found.set(id, { manifest: parsed.manifest, dir, origin });
  }
  if (rootDir !== undefined) problems.push(...codeFilesOf(rootDir).map((name) => noFolder(rootDir, name)));
  return { extensions: [...found.values()], broken, problems };
}

/** Ids of all agents that have a manifest, also disabled ones. Runs no code. */
export function declaredAgents(rootDir: string, trusted: boolean): readonly string[] {
  return findExtensions(rootDir, trusted).extensions.flatMap(({ manifest }) => (manifest.agent ? manifest.id : []));
}

/**
 * @param trusted - False: only manifests of the package count. Runs no code.
 * @param others - Agents without a manifest, of which one may be meant.
 * @throws AGENT_NOT_FOUND with the agents there are; AGENT_UNAVAILABLE when its manifest is broken or disables it.
 */
export function declaredTurn(
  rootDir: string,
  agentId: string,
  trusted: boolean,
  others: readonly TurnContext[] = [],
): TurnContext {
  const other = others.find((turn) => turn.agentId === agentId);
  if (other) return other;
  const discovery = findExtensions(rootDir, trusted);
  const agents = discovery.extensions.filter(({ manifest }) => manifest.agent);
  const found = agents.find(({ manifest }) => manifest.id === agentId);
  if (!found) {
    const broken = discovery.broken.find(({ name }) => name === agentId);
    if (broken) throw agentUnavailable(agentId, broken.reason);
    const known = agents.map(({ manifest }) => manifest.id);
    throw agentNotFound(agentId, [...known, ...others.flatMap((turn) => turn.agentId ?? [])]);
  }
  if (!found.manifest.enabled) throw agentUnavailable(agentId, 'its manifest says enabled: false');
  return turnOf(found);
}

/** As `declaredTurn`, for every agent that is not disabled by its manifest, in order of id. */
export function declaredTurns(
  rootDir: string,
  trusted: boolean,
  others: readonly TurnContext[] = [],
): readonly TurnContext[] {
  const { extensions } = findExtensions(rootDir, trusted);
  return [...extensions.filter(({ manifest }) => manifest.agent && manifest.enabled).map(turnOf), ...others].sort(
    (a, b) => ((a.agentId ?? '') < (b.agentId ?? '') ? -1 : 1),
  );
}

export interface ListedExtension {
  /** The name of its folder when it has no valid manifest. */
  readonly id: string;
  readonly origin: 'package' | 'root';
  readonly version: string;
  readonly dir: string;
  readonly state: string;
  readonly held: { readonly digest: string; readonly files: number; readonly by: readonly string[] } | null;
}

/** Runs no code. */
export function listedExtensions(
  rootDir: string,
  trusted: boolean,
  { extensions, broken, problems }: Discovery = findExtensions(rootDir, trusted),
): { readonly extensions: readonly ListedExtension[]; readonly problems: readonly Problem[] } {
  const folder = join(rootDir, 'extensions');
  const { held, problems: ofHeld } = heldWithProblems({ dir: rootDir, trusted });
  const waiting = new Map(held.map((one) => [join(folder, one.name), one]));
  const listed: ListedExtension[] = [];
  const list = (id: string, dir: string, state: string, origin: 'package' | 'root' = 'root', version = ''): void => {
    const own = waiting.get(dir);
    waiting.delete(dir);
    const ofAgents = own ? { digest: own.digest, files: own.files.length, by: own.by } : null;
    listed.push({ id, origin, version, dir, state, held: ofAgents });
  };
  for (const { manifest, dir, origin } of extensions) {
    const state = manifest.enabled ? 'starts with the kernel' : 'off: enabled: false in its manifest';
    list(manifest.id, dir, state, origin, manifest.version);
  }
  for (const { name, dir, reason } of broken) list(name, dir, `broken: ${reason}`);
  const left = trusted ? [] : foldersOfRoot(folder);
  for (const name of left) list(name, join(folder, name), 'not loaded: nobody has approved the root');
  for (const [dir, { name }] of [...waiting]) list(name, dir, 'not there yet');
  return { extensions: listed, problems: [...problems, ...ofHeld] };
}

// --- internal ---

function turnOf({ manifest: { id, agent } }: FoundExtension): TurnContext {
  return {
    agentId: id,
    ...(agent?.uses_skills ? { boundSkills: agent.uses_skills } : {}),
    ...(agent?.workflow ? { workflowState: agent.workflow } : {}),
  };
}

const MAX_MANIFEST_BYTES = 1_048_576;

function noManifest(dir: string): Problem {
  const other = ['manifest.yml', 'manifest.json'].find((name) => existsSync(join(dir, name)));
  const todo = other === undefined ? 'Add one' : `It has ${other}: write it as manifest.yaml`;
  const message = `${basename(dir)} has no readable manifest.yaml, so it is no extension. ${todo}, or move the folder away.`;
  return { code: 'MANIFEST_MISSING', severity: 'warning', file: dir, message };
}

function noFolder(rootDir: string, name: string): Problem {
  const { name: id, ext } = parse(name);
  const message = `extensions/${name} is no extension: that is a folder with a manifest. Move it to extensions/${id}/main${ext} and add extensions/${id}/manifest.yaml, or, when it is code that other files import, move it out of extensions/.`;
  return { code: 'MANIFEST_MISSING', severity: 'warning', file: join(rootDir, name), message };
}

function duplicateId(id: string, file: string, firstDir: string): Problem {
  const message = `Extension id "${id}" is already used by ${firstDir}, and only that extension is loaded. Give one of them another id.`;
  return { code: 'EXTENSION_ID_TAKEN', severity: 'error', file, message, details: { id, winner: firstDir } };
}

function overridden(id: string, file: string, ownDir: string): Problem {
  const message = `Extension "${id}" replaces the one that comes with the package. To keep both, give it another id.`;
  return { code: 'EXTENSION_OVERRIDES_BUILT_IN', severity: 'warning', file, message, details: { id, loser: ownDir } };
}
