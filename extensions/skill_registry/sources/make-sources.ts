import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { packageRoot, unapprovedRootProblem } from '../../../kernel/host.ts';
import { isInside } from '../../../lib/files/index.ts';
import { openTrust, type Trust, userCacheDirectory } from '../../../lib/trust/index.ts';
import type { InlineSkillConfig, SourceConfig, ValidationProfile } from '../config/config.ts';
import type { McpServerConfig } from '../config/mcp.ts';
import { pageAddress } from '../config/page-address.ts';
import { PRESETS, type PresetName } from '../config/presets.ts';
import type { Skill } from '../skill/skill.ts';
import { revokedFiles, revokedProblem, revokedSkill, whyRevoked } from '../trust/sources.ts';
import type { NoteBlocked } from '../trust/types.ts';
import { createDirectorySource, type DirectorySourceOptions } from './kinds/directory-source.ts';
import type { FetchCopy } from './kinds/well-known-copy.ts';
import { linkTargets, workTreeOf } from './link-targets.ts';
import type { OnlyWithin, SkillSource } from './source.ts';
import { isSkillFileName } from './walk/names.ts';
import type { SkillFileCache } from './walk/skill-file-cache.ts';

export interface SourceDefaults {
  /** Absolute; relative paths are relative to it. */
  readonly root: string;
  readonly validation: ValidationProfile;
  /** Whether a person has approved the root; if not, no link out of it is followed. Default: true. */
  readonly trusted?: boolean;
  /** Brings the copy of a page up to date. */
  readonly fetchCopy: FetchCopy;
  /** Asks whether a person has allowed what was found in files of an MCP server. Default: nobody has. */
  readonly noteBlocked?: NoteBlocked | undefined;
  /** Called with the progress of that, when it takes more than a second. */
  readonly onProgress: (line: string) => void;
  /** The file in problems of inline skills. */
  readonly configFile: string;
  /** Ids in use. An id in use gets a number. Is changed. */
  readonly taken: Set<string>;
  /** Keeps what was read for the next process. Default: nothing is kept. */
  readonly cache?: SkillFileCache | undefined;
  /** Gives the secrets that sources name. Default: there are none. */
  readonly getSecret?: (name: string) => string | undefined;
  /** Which registry this is (`instanceOf`). Default: none that an MCP server could be. */
  readonly instance?: () => string;
}

/**
 * Makes the sources of a config, in its order, with unique ids. A preset becomes one source for each of its folders. Kinds other than
 * folders are loaded when one is made: most registries have none.
 */
export async function makeSources(
  configs: readonly SourceConfig[],
  defaults: SourceDefaults,
): Promise<readonly SkillSource[]> {
  const shipped = shippedFolder();
  // In a checkout of this package, skills/ of the root is the folder of the shipped skills: one source, not two.
  const isListed = configs.some(({ path }) => path !== undefined && locate(path, defaults.root) === shipped);
  const decisions = openTrust().decisions();
  const trust = { decisions: () => decisions };
  const made: SkillSource[] = [];
  for (const config of configs) {
    if (config.shipped && isListed) continue;
    const sources = config.preset ? makePreset(config, defaults) : [await makeSource(config, defaults, shipped)];
    const all = config.preload && config.pack === undefined ? sources.map(preloaded) : sources;
    for (const source of all) made.push(await unlessRevoked(source, trust));
  }
  return made;
}

/** The skills of this package for its own agents. They are not watched. */
export function makeBuiltInSource({ taken, cache }: Pick<SourceDefaults, 'taken' | 'cache'>): SkillSource {
  const root = shippedFolder();
  const id = takeFreeId(BUILT_IN, taken);
  const options = { allowOutside: false, optional: true, validation: 'lenient', writable: false } as const;
  return { ...createDirectorySource({ id, root, cache, ...options }), watchFolders: () => [] };
}

/** Takes an id that is not in use: `base`, or `base` with a number. */
export function takeFreeId(base: string, taken: Set<string>): string {
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}-${number}`;
  taken.add(id);
  return id;
}

/** The first half of the qualified ids of built-in skills; no other source has it. */
const BUILT_IN = 'skill-registry';

/** The folder of the skills of this package. */
export function shippedFolder(): string {
  return join(packageRoot(), 'skills');
}

/** The folders of all presets in the home directory, where a person keeps skills for all projects. */
export function homeFolders(home: string): readonly string[] {
  return Object.values(PRESETS).map((preset) => join(home, preset.home));
}

/** One folder of a preset. */
export interface PresetFolder {
  readonly id: string;
  readonly path: string;
  /** The folder of the project; absent for a folder in the home directory. */
  readonly project?: string;
}

/**
 * The folders of a preset: first the one in the root, then those in its parent folders up to the git work tree (without a work
 * tree only the one in the root), then the one in the home directory. They need not exist.
 */
export function presetFolders(name: PresetName, root: string, home: string): readonly PresetFolder[] {
  const { project, home: below } = PRESETS[name];
  const folders = projectFolders(root).map((dir, index) => ({
    id: index === 0 ? name : `${name}-up-${index}`,
    path: join(dir, project),
    project: dir,
  }));
  const own = join(home, below);
  return folders.some((folder) => folder.path === own) ? folders : [...folders, { id: `${name}-home`, path: own }];
}

// --- internal ---

async function makeSource(config: SourceConfig, defaults: SourceDefaults, shipped: string): Promise<SkillSource> {
  const { root, configFile, taken, cache, trusted = true } = defaults;
  const validation = config.validation ?? defaults.validation;
  const idOr = (name: string): string => takeFreeId(config.id ?? sourceIdOf(name), taken);
  if (config.inline !== undefined) {
    const skills = [config.inline].flat() as readonly InlineSkillConfig[];
    const { createInlineSource } = await import('./kinds/inline-source.ts');
    return createInlineSource({ id: idOr('inline'), skills, file: configFile });
  }
  if (config.package !== undefined) {
    const { package: name, optional, allow_outside: allowOutside } = config;
    const { createPackageSource } = await import('./kinds/package-source.ts');
    return createPackageSource({ id: idOr(name), name, from: root, allowOutside, validation, optional, cache });
  }
  if (config.pack !== undefined) {
    const file = locate(config.pack, root);
    const id = idOr(basename(file).replace(/(\.pack)?\.json$/, ''));
    const { allow_outside: allowOutside, preload, optional } = config;
    const { createPackSource } = await import('./kinds/pack-source.ts');
    return createPackSource({ id, file, allowOutside, validation, preload, optional, cache });
  }
  if (config.mcp !== undefined) {
    const { mcp: server, optional } = config;
    const id = idOr(server.url === undefined ? programOf(server) : new URL(server.url).hostname);
    const { getSecret = () => undefined, instance = () => '', noteBlocked } = defaults;
    const { createMcpSource } = await import('./kinds/mcp-source.ts');
    return createMcpSource({ id, server, root, trusted, optional, getSecret, instance: instance(), noteBlocked });
  }
  if (config.wellKnown !== undefined) return makePageSource(config, defaults, idOr);
  const location = config.shipped ? shipped : locate(config.path ?? '.', root);
  const onlyWithin = trusted || !isInside(location, root) ? undefined : { folder: root, root };
  const isSkillFile = isSkillFileName(basename(location));
  if (/\.md$/i.test(location) && !isSkillFile) {
    const id = idOr(basename(location).replace(/\.md$/i, ''));
    const { createFileSource } = await import('./kinds/file-source.ts');
    return createFileSource({ id, file: location, validation, optional: config.optional, onlyWithin, cache });
  }
  const folder = isSkillFile ? resolve(location, '..') : location;
  const id = idOr(config.shipped ? 'shipped' : basename(folder));
  const writable = config.writable ?? config.shipped === undefined;
  return createDirectorySource({
    id,
    root: folder,
    ...directoryOptions(config),
    validation,
    writable,
    onlyWithin,
    linkTargetsOf: linkTargetsFor(root, onlyWithin),
    cache,
  });
}

/** Nothing is read from what a person revoked, whatever the config names. (A package looks for itself: packs have some, too.) */
async function unlessRevoked(source: SkillSource, trust: Pick<Trust, 'decisions'>): Promise<SkillSource> {
  const { id, kind, location, key = location } = source;
  if (kind === 'inline' || kind === 'package') return source;
  const reason = whyRevoked(key, trust);
  if (reason === undefined) return withoutRevoked(source, trust);
  await source.close?.();
  const problems = [revokedProblem(id, key, reason)];
  const { createMemorySource } = await import('./kinds/memory-source.ts');
  return { ...createMemorySource({ id, kind, location, load: async () => ({ skills: [], problems }) }), key };
}

/** A link may lead into a revoked folder, and a folder may have one below it. */
function withoutRevoked(source: SkillSource, trust: Pick<Trust, 'decisions'>): SkillSource {
  const whyRevokedFile = revokedFiles(trust);
  if (!whyRevokedFile) return source;
  const before = source.scan;
  return Object.assign(source, {
    async scan(...given: Parameters<SkillSource['scan']>) {
      const scan = await before(...given);
      const problems: Problem[] = [];
      const isKept = ({ file, realFile }: Skill): boolean => {
        const reason = realFile === null ? undefined : whyRevokedFile(realFile);
        if (reason !== undefined) problems.push(revokedSkill(file, reason));
        return reason === undefined;
      };
      const skills = scan.skills.filter(isKept);
      const losers = (scan.losers ?? []).filter(isKept);
      return problems.length === 0 ? scan : { skills, losers, problems: [...scan.problems, ...problems] };
    },
  });
}

/** The page of a root that nobody has approved is not asked, also when a program names it. */
async function makePageSource(
  { wellKnown = '', interval_seconds: seconds = 60, validation, optional }: SourceConfig,
  defaults: SourceDefaults,
  idOr: (name: string) => string,
): Promise<SkillSource> {
  const { root, trusted = true, cache, fetchCopy, onProgress } = defaults;
  const url = pageAddress(wellKnown) ?? '';
  const id = idOr(new URL(url).hostname);
  if (!trusted) {
    const problems = [unapprovedRootProblem(root, [`sources (${url})`])].flatMap((problem) => problem ?? []);
    const { createMemorySource } = await import('./kinds/memory-source.ts');
    return createMemorySource({ id, kind: 'well-known', location: url, load: async () => ({ skills: [], problems }) });
  }
  const [{ createWellKnownSource }, { copyFolder }] = await Promise.all([
    import('./kinds/well-known-source.ts'),
    import('./kinds/well-known-copy.ts'),
  ]);
  return createWellKnownSource({
    ...{ id, url, folder: copyFolder(userCacheDirectory(), url), intervalMs: seconds * 1000 },
    ...{ validation: validation ?? defaults.validation, optional, cache, fetchCopy, onProgress },
  });
}

/** Which links of a source may lead outside its folder. */
function linkTargetsFor(
  root: string,
  onlyWithin: OnlyWithin | undefined,
): NonNullable<DirectorySourceOptions['linkTargetsOf']> {
  return (realRoot, sources) =>
    linkTargets(realRoot, { sources, ownFolders: homeFolders(homedir()), root, onlyWithin });
}

function makePreset(config: SourceConfig, defaults: SourceDefaults): readonly SkillSource[] {
  const { root, taken, cache, trusted = true } = defaults;
  const folders = presetFolders(config.preset as NonNullable<SourceConfig['preset']>, root, homedir());
  return folders.map(({ id, path, project }) => {
    const prefixed = config.id ? id.replace(config.preset as string, config.id) : id;
    const validation = config.validation ?? defaults.validation;
    const { writable = false } = config;
    const onlyWithin = trusted || project === undefined ? undefined : { folder: project, root };
    const linkTargetsOf = linkTargetsFor(root, onlyWithin);
    const options = {
      ...directoryOptions(config),
      validation,
      writable,
      optional: true,
      onlyWithin,
      linkTargetsOf,
      cache,
    };
    return createDirectorySource({ id: takeFreeId(prefixed, taken), root: path, ...options });
  });
}

function directoryOptions({ allow_outside, optional, ignore_files, bare_files, shipped }: SourceConfig) {
  const ifNone = shipped === 'if_none';
  return { allowOutside: allow_outside, optional, ignoreFiles: ignore_files, bareFiles: bare_files, ifNone };
}

function preloaded(source: SkillSource): SkillSource {
  return {
    ...source,
    async scan(limits, sources) {
      const scan = await source.scan(limits, sources);
      return { ...scan, skills: scan.skills.map((skill) => ({ ...skill, preload: true as const })) };
    },
  };
}

function locate(path: string, root: string): string {
  if (path === '~' || path.startsWith('~/')) return join(homedir(), path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(root, path);
}

/** Makes a source id of the name of a folder: without colons, and without characters that are hard to type. */
function sourceIdOf(name: string): string {
  return name.replace(/[\s:`[\]\p{C}]+/gu, '-') || 'source';
}

/** `skills-server` of `/opt/bin/skills-server.js`. */
function programOf({ command = [] }: McpServerConfig): string {
  return basename([command].flat()[0] ?? '').replace(/\.\w+$/, '');
}

function projectFolders(root: string): readonly string[] {
  const top = workTreeOf(root) ?? root;
  const folders = [root];
  for (let dir = root; dir !== top; folders.push(dir)) dir = dirname(dir);
  return folders;
}
