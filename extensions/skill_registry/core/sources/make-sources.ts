import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { packageRoot, unapprovedRootProblem } from '../../../../kernel/host.ts';
import { isInside } from '../../../../lib/files/index.ts';
import { openTrust, type Trust } from '../../../../lib/trust/index.ts';
import { revokedFiles, revokedProblem, revokedSkill, whyRevoked } from '../../features/guard/sources.ts';
import type { FetchCopy } from '../../features/pages/well-known-copy.ts';
import { type InlineSkillConfig, pageAddress, type SourceConfig } from '../config/config.ts';
import type { NoteBlocked } from '../skill/guard.ts';
import type { Skill } from '../skill/skill.ts';
import type { ValidationProfile } from '../skill/spec-rules.ts';
import { presetFolders } from './agent-folders.ts';
import { createDirectorySource, createPathSource } from './kinds/directory-source.ts';
import { createInlineSource } from './kinds/inline-source.ts';
import { createMemorySource } from './kinds/memory-source.ts';
import { freeId, type SkillSource, type SourceScan } from './source.ts';
import { isSkillFileName } from './walk/names.ts';
import type { SkillFileCache } from './walk/skill-file-cache.ts';

export interface SourceDefaults {
  readonly root: string;
  readonly validation: ValidationProfile;
  /** A person has approved the root; if not, links that leave it are not followed. Default: true. */
  readonly trusted?: boolean;
  readonly fetchCopy: FetchCopy;
  /** Asks whether a person has allowed findings in files of an MCP server. Default: nobody has. */
  readonly noteBlocked?: NoteBlocked | undefined;
  /** Reports progress when fetching a page takes more than a second. */
  readonly onProgress: (line: string) => void;
  readonly configFile: string;
  /** Ids in use; new ids are added. */
  readonly taken: Set<string>;
  readonly cache?: SkillFileCache | undefined;
  readonly getSecret?: (name: string) => string | undefined;
  /** Identifies this registry (`instanceOf`). Default: a value that matches no MCP server. */
  readonly instance?: () => string;
}

/** A preset becomes one source per folder. Imports the code of rare kinds of sources only when needed. */
export async function makeSources(
  configs: readonly SourceConfig[],
  defaults: SourceDefaults,
): Promise<readonly SkillSource[]> {
  const shipped = shippedFolder();
  // In a checkout of this package, `skills/` of the root is also the shipped folder: make one source, not two.
  const isListed = configs.some(({ path }) => path !== undefined && locate(path, defaults.root) === shipped);
  const decisions = openTrust().decisions();
  const trust = { decisions: () => decisions };
  const made: SkillSource[] = [];
  for (const config of configs) {
    if (config.shipped && isListed) continue;
    const sources = config.preset ? makePreset(config.preset, config, defaults) : [await makeSource(config, defaults)];
    const all = config.preload && config.pack === undefined ? sources.map(preloaded) : sources;
    for (const source of all) made.push(await unlessRevoked(source, trust));
  }
  return made;
}

export function makeBuiltInSource({ taken, cache }: Pick<SourceDefaults, 'taken' | 'cache'>): SkillSource {
  const id = takeFreeId(BUILT_IN, taken);
  const source = createDirectorySource({ id, root: shippedFolder(), cache, allowOutside: false, optional: true });
  return { ...source, watchFolders: () => [] };
}

export function takeFreeId(base: string, taken: Set<string>): string {
  const id = freeId(base, taken, '-');
  taken.add(id);
  return id;
}

export function shippedFolder(): string {
  return join(packageRoot(), 'skills');
}

// --- internal ---

/** The first part of qualified ids of built-in skills; no other source has it. */
const BUILT_IN = 'skill-registry';

async function makeSource(config: SourceConfig, defaults: SourceDefaults): Promise<SkillSource> {
  const { root, taken, trusted = true, getSecret = () => undefined, instance = () => '' } = defaults;
  // Without colons, and characters that are hard to type.
  const idOr = (name: string): string =>
    takeFreeId(config.id ?? (name.replace(/[\s:`[\]\p{C}]+/gu, '-') || 'source'), taken);
  const options = optionsOf(config, defaults);
  if (config.inline !== undefined) {
    const skills = [config.inline].flat() as readonly InlineSkillConfig[];
    return createInlineSource({ id: idOr('inline'), skills, file: defaults.configFile });
  }
  if (config.package !== undefined) {
    const { package: name } = config;
    const { createPackageSource } = await import('../../features/packs/package-source.ts');
    return createPackageSource({ ...options, id: idOr(name), name, from: root });
  }
  if (config.pack !== undefined) {
    const file = locate(config.pack, root);
    const id = idOr(basename(file).replace(/(\.pack)?\.json$/, ''));
    const { createPackSource } = await import('../../features/packs/pack-source.ts');
    return createPackSource({ ...options, id, file, preload: config.preload });
  }
  if (config.mcp !== undefined) {
    const { mcp: server, optional } = config;
    const program = basename([server.command ?? []].flat()[0] ?? '').replace(/\.\w+$/, '');
    const id = idOr(server.url === undefined ? program : new URL(server.url).hostname);
    const { createMcpSource } = await import('../../features/mcp_source/mcp-source.ts');
    return createMcpSource({ ...defaults, id, server, trusted, optional, getSecret, instance: instance() });
  }
  if (config.wellKnown !== undefined) return makePageSource(config, defaults, idOr);
  const location = config.shipped ? shippedFolder() : locate(config.path ?? '.', root);
  const isSkillFile = isSkillFileName(basename(location));
  const name = isSkillFile ? basename(dirname(location)) : basename(location).replace(/\.md$/i, '');
  return createPathSource({
    ...options,
    id: idOr(config.shipped ? 'shipped' : name),
    root: location,
    ifNone: config.shipped === 'if_none',
    onlyWithin: trusted || !isInside(location, root) ? undefined : { folder: root, root },
    writable: config.writable ?? config.shipped === undefined,
  });
}

function makePreset(preset: NonNullable<SourceConfig['preset']>, config: SourceConfig, defaults: SourceDefaults) {
  const { root, taken, trusted = true } = defaults;
  return presetFolders(preset, root, homedir()).map(({ id, path, project }) =>
    createDirectorySource({
      ...optionsOf(config, defaults),
      id: takeFreeId(config.id ? id.replace(preset, config.id) : id, taken),
      root: path,
      optional: true,
      onlyWithin: trusted || project === undefined ? undefined : { folder: project, root },
      writable: config.writable ?? false,
    }),
  );
}

function optionsOf(config: SourceConfig, { root, cache, validation }: SourceDefaults) {
  return {
    allowOutside: config.allow_outside,
    optional: config.optional,
    ignoreFiles: config.ignore_files,
    bareFiles: config.bare_files,
    validation: config.validation ?? validation,
    registryRoot: root,
    cache,
  };
}

/** Without approval of the root, its page is never contacted, even if a program names it. */
async function makePageSource(config: SourceConfig, defaults: SourceDefaults, idOr: (name: string) => string) {
  const { wellKnown = '', interval_seconds: seconds = 60 } = config;
  const { root, trusted = true } = defaults;
  const url = pageAddress(wellKnown) ?? '';
  const id = idOr(new URL(url).hostname);
  if (!trusted) {
    const problem = unapprovedRootProblem(root, [`sources (${url})`]);
    return withoutSkills({ id, kind: 'well-known', location: url }, problem ? [problem] : []);
  }
  const { createWellKnownSource } = await import('../../features/pages/well-known-source.ts');
  return createWellKnownSource({ ...defaults, ...optionsOf(config, defaults), id, url, intervalMs: seconds * 1000 });
}

/** Reads nothing from a revoked source. Packages check it themselves, because packs contain packages too. */
async function unlessRevoked(source: SkillSource, trust: Pick<Trust, 'decisions'>): Promise<SkillSource> {
  const { id, kind, location, key = location } = source;
  if (kind === 'inline' || kind === 'package') return source;
  const reason = whyRevoked(key, trust);
  if (reason === undefined) return withoutRevoked(source, trust);
  await source.close?.();
  return { ...withoutSkills(source, [revokedProblem(id, key, reason)]), key };
}

function withoutSkills(
  { id, kind, location }: Pick<SkillSource, 'id' | 'kind' | 'location'>,
  problems: readonly Problem[],
): SkillSource {
  return createMemorySource({ id, kind, location, load: async () => ({ skills: [], problems }) });
}

/** A link can lead into a revoked folder, and a folder can contain one. */
function withoutRevoked(source: SkillSource, trust: Pick<Trust, 'decisions'>): SkillSource {
  const whyRevokedFile = revokedFiles(trust);
  if (!whyRevokedFile) return source;
  return changeScans(source, (scan) => {
    const problems: Problem[] = [];
    const isKept = ({ file, realFile }: Skill): boolean => {
      const reason = realFile === null ? undefined : whyRevokedFile(realFile);
      if (reason !== undefined) problems.push(revokedSkill(file, reason));
      return reason === undefined;
    };
    const skills = scan.skills.filter(isKept);
    const losers = (scan.losers ?? []).filter(isKept);
    return problems.length === 0 ? scan : { skills, losers, problems: [...scan.problems, ...problems] };
  });
}

function preloaded(source: SkillSource): SkillSource {
  return changeScans(source, (scan) => {
    return { ...scan, skills: scan.skills.map((skill) => ({ ...skill, preload: true as const })) };
  });
}

function changeScans(source: SkillSource, change: (scan: SourceScan) => SourceScan): SkillSource {
  const { scan } = source;
  return Object.assign(source, {
    rescan: undefined,
    scan: async (...given: Parameters<SkillSource['scan']>) => change(await scan(...given)),
  });
}

function locate(path: string, root: string): string {
  if (path === '~' || path.startsWith('~/')) return join(homedir(), path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(root, path);
}
