import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { isLoopback } from '../../../lib/loopback/index.ts';
import { PACKAGE_NAME } from '../config/package-name.ts';
import { originInvalid } from './errors.ts';

/** Where skills are taken from. */
export type Origin = GitOrigin | NpmOrigin | FolderOrigin | ArchiveOrigin | WellKnownOrigin;

export interface GitOrigin {
  readonly kind: 'git';
  /** `https:`, `ssh:`, `file:`, `git@host:path`, or `http:` on this machine. */
  readonly url: string;
  /** A branch, a tag or a commit. Absent: what the repository's HEAD names. */
  readonly ref?: string;
  /** The folder in the repository below which skills are looked for. Absent: all of it. */
  readonly path?: string;
}

export interface NpmOrigin {
  readonly kind: 'npm';
  readonly name: string;
  /** A version, a range or a tag. */
  readonly range: string;
}

export interface FolderOrigin {
  readonly kind: 'folder';
  /** Absolute. */
  readonly path: string;
}

export interface ArchiveOrigin {
  readonly kind: 'archive';
  /** An absolute path, or an `https:` address (`http:` on this machine). */
  readonly location: string;
}

export interface WellKnownOrigin {
  readonly kind: 'well-known';
  /** The page below which `.well-known/agent-skills/index.json` is; no slash at its end. */
  readonly url: string;
}

/**
 * Reads what a person gives: `owner/repo[/path][@ref]` on GitHub, a git address (`[#ref]` after it), `npm:name[@range]`, a page
 * with a well-known index, an archive (`.tar.gz`, `.tgz`, `.zip`; a path or an address), or a folder (`./x`, `/x`, `~/x`).
 *
 * @param cwd - What a relative path is relative to.
 * @throws ORIGIN_INVALID.
 */
export function parseOrigin(text: string, cwd: string): Origin {
  if (text === '' || text.length > 2000) throw originInvalid(text, WAYS);
  if (text.startsWith('-')) throw originInvalid(text, 'it begins with "-", which is an option.');
  if (/[\p{Cc}\s]/u.test(text) && !isLocal(text)) throw originInvalid(text, 'it has a blank or a control character.');
  if (text.startsWith('npm:')) return npmOrigin(text.slice('npm:'.length));
  if (isLocal(text)) return localOrigin(text, cwd);
  if (/^[\w.-]+@[\w.-]+:/.test(text) || /^[a-z][a-z0-9+.-]*:/i.test(text)) return remoteOrigin(text);
  return githubOrigin(text, cwd);
}

/** @throws ORIGIN_INVALID for an address that git is never given, whoever wrote it. */
export function gitOrigin(url: string, ref?: string, path?: string): GitOrigin {
  const { protocol, host } = protocolOf(url);
  if (!GIT_PROTOCOLS.has(protocol) && !(protocol === 'http:' && isLoopback(host)))
    throw originInvalid(url, 'expected https:, ssh: or file: (http: only on this machine).');
  if (host.startsWith('-')) throw originInvalid(url, 'its host begins with "-".');
  for (const [name, value] of [['ref', ref] as const, ['path', path] as const]) {
    if (value?.startsWith('-')) throw originInvalid(url, `its ${name} ${JSON.stringify(value)} begins with "-".`);
  }
  if (ref !== undefined && !/^[\w][\w./+-]{0,200}$/.test(ref))
    throw originInvalid(url, `${JSON.stringify(ref)} is no branch, tag or commit.`);
  if (ref?.includes('..')) throw originInvalid(url, `${JSON.stringify(ref)} is a range, expected one commit.`);
  const folder = path?.replace(/^\/+|\/+$/g, '');
  if (folder?.split('/').some((one) => one === '..' || one === '')) throw originInvalid(url, 'its path has "..".');
  return { kind: 'git', url, ...(ref ? { ref } : {}), ...(folder ? { path: folder } : {}) };
}

/** @throws ORIGIN_INVALID, also for everything npm would take from elsewhere than the registry. */
export function npmOrigin(text: string): NpmOrigin {
  const at = text.indexOf('@', 1);
  const [name, range] = at === -1 ? [text, 'latest'] : [text.slice(0, at), text.slice(at + 1)];
  if (!PACKAGE_NAME.test(name) || name.startsWith('-'))
    throw originInvalid(`npm:${text}`, 'expected npm:name or npm:name@range.');
  // A version, a range or a tag: nothing with a colon or a slash, so no git, file, address or alias.
  if (!/^[\w.^~<>=*|+ -]{1,100}$/.test(range) || range.startsWith('-'))
    throw originInvalid(`npm:${text}`, `${JSON.stringify(range)} is no version, range or tag of the registry.`);
  return { kind: 'npm', name, range };
}

/** @throws ORIGIN_INVALID. */
export function pageOrigin(url: string): WellKnownOrigin {
  const { protocol, host } = protocolOf(url);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(host)))
    throw originInvalid(url, 'expected https: (http: only on this machine).');
  const page = new URL(url);
  if (page.username !== '' || page.password !== '') throw originInvalid(url, 'a page takes no user name.');
  const path = page.pathname.replace(/\/\.well-known\/.*$/, '').replace(/\/+$/, '');
  return { kind: 'well-known', url: `${page.origin}${path}` };
}

/** For people; a user name or a password in an address is left out. */
export function shownOrigin(origin: Origin): string {
  switch (origin.kind) {
    case 'git':
      return `${withoutUser(origin.url)}${origin.path ? ` (${origin.path})` : ''}${origin.ref ? ` at ${origin.ref}` : ''}`;
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

// --- internal ---

const WAYS = 'expected owner/repo, a git address, npm:name, an archive, a folder (./x) or a page with skills.';
const GIT_PROTOCOLS: ReadonlySet<string> = new Set(['https:', 'ssh:', 'file:']);
const ARCHIVE = /\.(tar\.gz|tgz|zip)$/i;

function isLocal(text: string): boolean {
  return /^(\.{1,2}(\/|$)|~\/|\/)/.test(text) || (ARCHIVE.test(text) && !/^[\w+.-]+:/.test(text));
}

function localOrigin(text: string, cwd: string): Origin {
  const path = text.startsWith('~/')
    ? join(homedir(), text.slice(2))
    : isAbsolute(text)
      ? resolve(text)
      : resolve(cwd, text);
  return ARCHIVE.test(path) ? { kind: 'archive', location: path } : { kind: 'folder', path };
}

function remoteOrigin(text: string): Origin {
  const [address = '', ref] = text.split('#', 2);
  const { protocol, host } = protocolOf(address);
  if (protocol === 'https:' || protocol === 'http:') {
    const url = new URL(address);
    if (ARCHIVE.test(url.pathname)) return archiveOrigin(address);
    const [, owner, repository, , tree, ...path] = url.pathname.replace(/\/+$/, '').split('/');
    if (host === 'github.com' && owner && repository)
      return gitOrigin(`https://github.com/${owner}/${withGit(repository)}`, ref ?? tree, path.join('/'));
    if (!/\.git$/.test(url.pathname) && ref === undefined) return pageOrigin(address);
  }
  return gitOrigin(address, ref);
}

function archiveOrigin(location: string): ArchiveOrigin {
  const { protocol, host } = protocolOf(location);
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(host))) return { kind: 'archive', location };
  throw originInvalid(location, 'expected https: (http: only on this machine).');
}

function githubOrigin(text: string, cwd: string): GitOrigin {
  const [, owner, repository, path, ref] = /^([\w.-]+)\/([\w.-]+)(?:\/([^@]+))?(?:@(.+))?$/.exec(text) ?? [];
  if (owner === undefined || repository === undefined) throw originInvalid(text, WAYS);
  if (existsSync(resolve(cwd, text)))
    throw originInvalid(text, `it is a folder here, too. Write ./${text} for it, or https://github.com/${text}.`);
  return gitOrigin(`https://github.com/${owner}/${withGit(repository)}`, ref, path);
}

function withGit(repository: string): string {
  return `${repository.replace(/\.git$/, '')}.git`;
}

/** `ssh:` for `git@host:path`. */
function protocolOf(url: string): { readonly protocol: string; readonly host: string } {
  const scp = /^[\w.-]+@([\w.-]+):(?!\/\/)/.exec(url);
  if (scp) return { protocol: 'ssh:', host: scp[1] ?? '' };
  try {
    const { protocol, hostname } = new URL(url);
    return { protocol, host: hostname };
  } catch {
    throw originInvalid(url, WAYS);
  }
}

function withoutUser(url: string): string {
  return url.replace(/^([a-z+]+:\/\/)[^@/]*@/, '$1');
}
