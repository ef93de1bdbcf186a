import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isPlainPath, PACKAGE_NAME } from '../../../../lib/files/index.ts';
import { isLoopback } from '../../../../lib/loopback/index.ts';
import { decodedAddress } from '../../../../lib/text/index.ts';
import type { LockScope } from '../guard/installed.ts';
import { originInvalid } from './errors.ts';
import type { GitOrigin, NpmOrigin, Origin, WellKnownOrigin } from './opened-origin.ts';
import { areSecretHeaders, HEADERS_EXPECTED, type SecretHeaders } from './secret-headers.ts';
import type { LockEntry } from './types.ts';

/** Accepts the forms of `Origins.add`, or the path of an existing SKILL.md. @param cwd - Base of relative paths. */
export function parseOrigin(text: string, cwd: string): Origin {
  if (text === '' || text.length > 2000) throw originInvalid(text, WAYS);
  if (text.startsWith('-')) throw originInvalid(text, 'it begins with "-", which is an option.');
  if (/[\p{Cc}\s]/u.test(text) && !isLocal(text, cwd))
    throw originInvalid(text, 'it has a blank or a control character.');
  if (text.startsWith('npm:')) return npmOrigin(text.slice('npm:'.length));
  if (isLocal(text, cwd)) return localOrigin(text, cwd);
  if (/^[\w.-]+@[\w.-]+:/.test(text) || /^[a-z][a-z0-9+.-]*:/i.test(text)) return remoteOrigin(text);
  // As browsers show it, without the protocol.
  if (/^(?:www\.)?(?:github|gitlab)\.com\//i.test(text)) return remoteOrigin(`https://${text}`);
  return githubOrigin(text, cwd);
}

/** @throws ORIGIN_INVALID for an address that is never handed to git. Also used for addresses in a lock. */
export function gitOrigin(url: string, ref?: string, path?: string): GitOrigin {
  const { protocol, host, user, file } = protocolOf(url);
  if (!GIT_PROTOCOLS.has(protocol) && !isEncrypted(protocol, host))
    throw originInvalid(url, 'expected https:, ssh: or file: (http: only on this machine).');
  // Programs that git starts would read it as an option.
  for (const [name, value] of Object.entries({ address: url, host, user, file, ref, path })) {
    if (value?.startsWith('-')) throw originInvalid(url, `its ${name} begins with "-".`);
  }
  if (ref !== undefined && !/^[\w][\w./+-]{0,200}$/.test(ref))
    throw originInvalid(url, `${JSON.stringify(ref)} is no branch, tag or commit.`);
  if (ref?.includes('..')) throw originInvalid(url, `${JSON.stringify(ref)} is a range, expected one commit.`);
  const folder = path?.replace(/^\/+|\/+$/g, '').replace(/(?:^|\/)SKILL\.md$/, '');
  if (folder && !isPlainPath(folder)) throw originInvalid(url, `its path ${JSON.stringify(folder)} is none below it.`);
  return { kind: 'git', url, ...(ref ? { ref } : {}), ...(folder ? { path: folder } : {}) };
}

/** @throws ORIGIN_INVALID, also for everything that npm would fetch from outside its registry. */
export function npmOrigin(text: string): NpmOrigin {
  const at = text.indexOf('@', 1);
  const [name, range] = at === -1 ? [text, 'latest'] : [text.slice(0, at), text.slice(at + 1)];
  if (!PACKAGE_NAME.test(name) || name.startsWith('-') || FILE_NAME.test(name))
    throw originInvalid(`npm:${text}`, 'expected npm:name or npm:name@range.');
  // A version, range or tag only: npm also accepts files, folders, git, addresses and aliases.
  if (!/^[\w^~<>=*][\w.^~<>=*|+ -]{0,99}$/.test(range) || FILE_NAME.test(range))
    throw originInvalid(`npm:${text}`, `${JSON.stringify(range)} is no version, range or tag of the registry.`);
  return { kind: 'npm', name, range };
}

export function pageOrigin(url: string): WellKnownOrigin {
  const { origin, pathname } = webAddress(url, 'a page');
  return { kind: 'well-known', url: origin + pathname.replace(/\/\.well-known\/.*$/, '').replace(/\/+$/, '') };
}

/** @throws ORIGIN_INVALID, without the headers: somebody may have given the secret itself. */
export function withHeaders(origin: Origin, headers: SecretHeaders | undefined, isNamed = false): Origin {
  if (headers === undefined) return origin;
  if (origin.kind !== 'well-known') throw originInvalid(shownOrigin(origin), 'only a page takes headers.');
  if (!areSecretHeaders(headers)) throw originInvalid(origin.url, `its headers are wrong: ${HEADERS_EXPECTED}.`);
  return { ...origin, headers, isNamed };
}

export function pageIn(origin: Origin): WellKnownOrigin | undefined {
  return origin.kind === 'well-known' ? origin : undefined;
}

/** For display, without user names and passwords. */
export function shownOrigin(origin: Origin): string {
  switch (origin.kind) {
    case 'git': {
      const { url, path, ref } = origin;
      return [withoutUser(url), path && `(${path})`, ref && `at ${ref}`].filter(Boolean).join(' ');
    }
    case 'npm':
      return `npm:${origin.name}@${origin.range}`;
    case 'folder':
      return origin.path;
    case 'archive':
      return withoutUser(origin.location);
    default:
      return origin.url;
  }
}

/** How decisions name an origin: all its branches, tags, ranges and folders are one source. */
export function sourceKey(origin: Origin): string {
  if (origin.kind === 'npm') return `npm:${origin.name}`;
  if (origin.kind !== 'git') return shownOrigin(origin);
  return withoutUser(origin.url)
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
}

/** The origin of a lock entry, checked by the same rules as a person's input. @throws ORIGIN_INVALID. */
export function originOf(entry: LockEntry, root: string): Origin {
  const { source, sourceUrl, sourceType, ref, version } = entry;
  switch (sourceType) {
    case 'github':
      if (sourceUrl === undefined && !/^[\w.-]+\/[\w.-]+$/.test(source)) throw originInvalid(source, WAYS);
      return gitOrigin(sourceUrl ?? `https://github.com/${withGit(source)}`, ref);
    case 'gitlab':
    case 'git':
      return gitOrigin(sourceUrl ?? source, ref);
    case 'npm':
      return npmOrigin(source.replace(/^npm:/, ''));
    case 'well-known':
      return withHeaders(pageOrigin(sourceUrl ?? source), entry.registry?.headers);
    case 'local':
      return { kind: 'folder', path: isAbsolute(source) ? source : resolve(root, source) };
    case 'node_modules':
      return npmOrigin(`${source}@${version ?? 'latest'}`);
    default:
      return parseOrigin(sourceUrl ?? source, root);
  }
}

export function pinnedOrigin(origin: Origin, { registry, version }: LockEntry): Origin {
  if (origin.kind === 'git' && registry?.commit !== undefined)
    return gitOrigin(origin.url, registry.commit, origin.path);
  if (origin.kind === 'npm' && version !== undefined) return npmOrigin(`${origin.name}@${version}`);
  return origin;
}

export function sourceFields(
  origin: Origin,
  scope: LockScope,
): Pick<LockEntry, 'source' | 'sourceType' | 'sourceUrl' | 'ref'> {
  switch (origin.kind) {
    case 'git': {
      const [, host, path] = /^https:\/\/(github|gitlab)\.com\/(.+?)(?:\.git)?$/.exec(origin.url) ?? [];
      const { ref } = origin;
      if (host === 'github' && path) return { source: path, sourceType: 'github', ref };
      const sourceUrl = withoutUser(origin.url);
      return { source: path ?? sourceUrl, sourceUrl, sourceType: host === 'gitlab' ? 'gitlab' : 'git', ref };
    }
    case 'npm':
      return { source: shownOrigin(origin), sourceType: 'npm' };
    case 'well-known':
      return { source: `wellknown/${new URL(origin.url).hostname}`, sourceUrl: origin.url, sourceType: 'well-known' };
    case 'archive':
      return /^https?:/.test(origin.location)
        ? { source: origin.location, sourceType: 'download' }
        : { source: portable(origin.location, scope), sourceType: 'local-archive' };
    default:
      return { source: portable(origin.path, scope), sourceType: 'local' };
  }
}

// --- internal ---

const WAYS = 'expected owner/repo, a git address, npm:name, an archive, a folder (./x) or a page with skills.';
const GIT_PROTOCOLS: ReadonlySet<string> = new Set(['https:', 'ssh:', 'file:']);
const SKILL_FILE = 'SKILL.md';
/** npm reads such a name as a file path. */
const FILE_NAME = /\.(tgz|tar\.gz|tar)$/i;
const ARCHIVE = /\.(tar\.gz|tgz|zip)$/i;

function isLocal(text: string, cwd: string): boolean {
  if (/^(\.{1,2}(\/|$)|~\/|\/)/.test(text)) return true;
  if (/^[\w+.-]+:/.test(text)) return false;
  return ARCHIVE.test(text) || (basename(text) === SKILL_FILE && existsSync(resolve(cwd, text)));
}

function localOrigin(text: string, cwd: string): Origin {
  const path = text.startsWith('~/') ? join(homedir(), text.slice(2)) : resolve(cwd, text);
  if (ARCHIVE.test(path)) return { kind: 'archive', location: path };
  return { kind: 'folder', path: basename(path) === SKILL_FILE ? dirname(path) : path };
}

/** Or not to be encrypted: on this machine. */
function isEncrypted(protocol: string, host: string): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(host));
}

function remoteOrigin(text: string): Origin {
  const [address = '', ref] = text.split('#', 2);
  const { protocol, host } = protocolOf(address);
  if (protocol === 'https:' || protocol === 'http:') {
    const url = new URL(address);
    const pathname = url.pathname.replace(/\/+$/, '');
    const [, owner, repository] = pathname.split('/');
    if (/^(?:www\.)?github\.com$/.test(host) && owner && repository && !ARCHIVE.test(pathname))
      return githubPage(address, pathname, ref);
    const [, project, branch, below] = /^(.+?)\/-\/(?:tree|blob)\/([^/]+)\/?(.*)$/.exec(pathname) ?? [];
    if (project !== undefined)
      return gitOrigin(`${url.origin}${withGit(project)}`, ref ?? branch, decodedAddress(below ?? ''));
    if (ARCHIVE.test(pathname)) {
      webAddress(address, 'an archive');
      return { kind: 'archive', location: address };
    }
    if (host === 'gitlab.com' && owner && repository) return gitOrigin(address.replace(/\/+$/, ''), ref);
    if (!/\.git$/.test(pathname) && ref === undefined) return pageOrigin(address);
  }
  return gitOrigin(address, ref);
}

function githubPage(address: string, pathname: string, ref: string | undefined): GitOrigin {
  const [, owner, repository = '', kind, ...rest] = pathname.split('/');
  const [shown, ...path] = kind === 'releases' && rest[0] === 'tag' ? rest.slice(1) : rest;
  if (kind !== undefined && !(shown && /^(?:tree|blob|commit|releases)$/.test(kind))) {
    const why = 'expected the page of the repository, or of a folder in it: .../tree/<branch>/<folder>.';
    throw originInvalid(address, why);
  }
  return gitOrigin(`https://github.com/${owner}/${withGit(repository)}`, ref ?? shown, decodedAddress(path.join('/')));
}

function webAddress(url: string, what: string): URL {
  const { protocol, host } = protocolOf(url);
  if (!isEncrypted(protocol, host))
    throw originInvalid(withoutUser(url), 'expected https: (http: only on this machine).');
  const address = new URL(url);
  if (address.username === '' && address.password === '') return address;
  throw originInvalid(`${address.origin}${address.pathname}`, `${what} takes no user name.`);
}

function githubOrigin(text: string, cwd: string): GitOrigin {
  const [, owner, repository, path, ref] = /^([\w.-]+)\/([\w.-]+)(?:\/([^@#]*))?(?:[@#](.+))?$/.exec(text) ?? [];
  if (owner === undefined || repository === undefined)
    throw originInvalid(text, existsSync(resolve(cwd, text)) ? `for the folder here write ./${text}.` : WAYS);
  if (existsSync(resolve(cwd, text))) {
    const page = `https://github.com/${owner}/${repository}${path ? `/tree/HEAD/${path}` : ''}${ref ? `#${ref}` : ''}`;
    throw originInvalid(text, `something here has this path, too. Write ./${text} for it, or ${page} for GitHub.`);
  }
  return gitOrigin(`https://github.com/${owner}/${withGit(repository)}`, ref, path);
}

function withGit(repository: string): string {
  return `${repository.replace(/\.git$/, '')}.git`;
}

function protocolOf(url: string) {
  const [, name, machine, path] = /^([\w.-]+)@([\w.-]+):(?!\/\/)(.*)$/.exec(url) ?? [];
  if (machine !== undefined) return { protocol: 'ssh:', host: machine, user: name ?? '', file: path ?? '' };
  try {
    const { protocol, hostname, username, pathname } = new URL(url);
    return { protocol, host: hostname, user: decodeURIComponent(username), file: pathname.replace(/^\/+/, '') };
  } catch (error) {
    throw originInvalid(url, WAYS, error);
  }
}

/** In an `ssh:` address the user is part of the location; only the password is secret. */
export function withoutUser(url: string): string {
  return url.replace(/^(https?:\/\/)[^@/]*@/, '$1').replace(/^(ssh:\/\/[^@/:]*):[^@/]*@/, '$1@');
}

/** In the lock of a project that others may have in another place, relative to it. */
function portable(path: string, { folder, ofPerson }: LockScope): string {
  if (ofPerson) return path;
  const below = relative(folder, path).split(sep).join('/');
  if (isAbsolute(below)) return path;
  return below === '' ? '.' : below.startsWith('..') ? below : `./${below}`;
}
