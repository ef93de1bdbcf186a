import { createHash } from 'node:crypto';
import { basename, isAbsolute } from 'node:path';
import { CodedError, type Problem } from 'skill-registry/kernel';
import { futureRealPath, isInside } from '../../../../lib/files/index.ts';
import { decodedAddress, oneLine } from '../../../../lib/text/index.ts';
import { type Decision, openTrust, type Trust } from '../../../../lib/trust/index.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { sourceWithoutSkills } from '../../core/sources/kinds/memory-source.ts';
import { changeScans, type SkillSource } from '../../core/sources/source.ts';
import type { SourceDecisions } from '../../core/sources/source-kind.ts';

/** Names a program in decisions. Its arguments may hold a secret, so only their digest is part of the key. */
export function programKey(commandLine: readonly string[]): string {
  const line = commandLine.join(' ').trim();
  const program = basename(line.split(' ', 1)[0] ?? '');
  return `mcp:${program}#${createHash('sha256').update(line).digest('hex').slice(0, 8)}`;
}

/** Names an address in decisions, without query, which may hold a secret, and without slash at the end. */
export function addressKey(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** The last decision about a source (a `sourceKey`); for a folder or file, about the nearest folder around it. */
export function decisionAbout(source: string, trust: Pick<Trust, 'decisions'> = openTrust()): Decision | undefined {
  const decisions = trust.decisions().filter(({ kind }) => kind === 'source');
  const place = placeOf(source);
  // Addresses that differ in their query: a revocation is about all, an approval about one.
  const isAbout = ({ path, action }: Decision): boolean =>
    placeOf(path) === place && (action === 'revoke' || queryOf(path) === queryOf(source));
  const same = decisions.findLast(isAbout);
  return same ?? (isAbsolute(source) ? nearest(futureRealPath(source), realFolders(decisions)) : undefined);
}

/** Who revoked a source and when; undefined when it is not revoked. */
function whyRevoked(source: string, trust?: Pick<Trust, 'decisions'>): string | undefined {
  return revocationReason(decisionAbout(source, trust), source);
}

/** @throws SOURCE_REVOKED. */
export function assertNotRevoked(source: string): void {
  const reason = whyRevoked(source);
  if (reason !== undefined) throw new CodedError('SOURCE_REVOKED', `${source}: ${reason}.`, { source });
}

export const sourceDecisions: SourceDecisions = {
  refusal(id, key) {
    const reason = whyRevoked(key);
    return reason === undefined ? undefined : revokedProblem(id, key, reason);
  },
  now() {
    const decisions = openTrust().decisions();
    const trust = { decisions: () => decisions };
    return (source) => unlessRevoked(source, trust);
  },
};

// --- internal ---

/** Reads nothing from a revoked source. */
async function unlessRevoked(source: SkillSource, trust: Pick<Trust, 'decisions'>): Promise<SkillSource> {
  const { id, location, key = location } = source;
  const reason = whyRevoked(key, trust);
  if (reason === undefined) return withoutRevoked(source, trust);
  await source.close?.();
  return { ...sourceWithoutSkills(source, revokedProblem(id, key, reason)), key };
}

/** A link can lead into a revoked folder, and a folder can contain one. */
function withoutRevoked(source: SkillSource, trust: Pick<Trust, 'decisions'>): SkillSource {
  const whyRevokedFile = revokedFiles(trust);
  if (!whyRevokedFile) return source;
  return changeScans(source, (scan) => {
    const problems: Problem[] = [];
    const isKept = ({ file, realFile }: Skill): boolean => {
      const reason = realFile === null ? undefined : whyRevokedFile(realFile);
      if (reason === undefined) return true;
      problems.push({ code: 'SOURCE_REVOKED', severity: 'warning', file, message: `It is not read: ${reason}.` });
      return false;
    };
    const skills = scan.skills.filter(isKept);
    const losers = (scan.losers ?? []).filter(isKept);
    return problems.length === 0 ? scan : { skills, losers, problems: [...scan.problems, ...problems] };
  });
}

/** For a source of the config. `location` as decisions name it. */
function revokedProblem(id: string, location: string, reason: string): Problem {
  const message = `Nothing is read from the source "${id}": ${reason}, or remove it from \`sources\`.`;
  return { code: 'SOURCE_REVOKED', severity: 'warning', file: location, message, details: { source: location } };
}

/** Of a real path: who revoked it or a folder around it. Undefined when no folder is revoked. */
function revokedFiles(trust: Pick<Trust, 'decisions'>): ((realFile: string) => string | undefined) | undefined {
  const folders = realFolders(trust.decisions().filter(({ kind }) => kind === 'source'));
  if (!folders.some(({ decision }) => decision.action === 'revoke')) return undefined;
  return (realFile) => revocationReason(nearest(realFile, folders), realFile);
}

/** Equal for all addresses of one place: another spelling or protocol must not reopen a revoked source. */
export function placeOf(source: string): string {
  const [, name, machine, file] = /^([\w.-]+)@([\w.-]+):(?!\/\/)(.*)$/.exec(source) ?? [];
  const address = machine === undefined ? source : `ssh://${name}@${machine}/${file}`;
  if (!/^(?:https?|ssh|file):/i.test(address) || !URL.canParse(address)) return source;
  const { protocol, hostname, port, username, pathname } = new URL(address);
  const path = decodedAddress(pathname)
    .replace(/\/+/g, '/')
    .replace(/(?:\.git)?\/?$/, '');
  if (protocol === 'file:') return `file:${path}`;
  const host = hostname.toLowerCase().replace(/^www\.(?=git(?:hub|lab)\.com$)/, '');
  const user = protocol === 'ssh:' && username !== 'git' ? `${username}@` : '';
  const door = port === '' || (protocol === 'ssh:' && port === '22') ? '' : `:${port}`;
  return `${user}${host}${door}${/^git(?:hub|lab)\.com$/.test(host) ? path.toLowerCase() : path}`;
}

function queryOf(source: string): string {
  return URL.canParse(source) ? new URL(source).search : '';
}

function revocationReason(decision: Decision | undefined, source: string): string | undefined {
  if (decision?.action !== 'revoke') return undefined;
  const { by, at, reason, path } = decision;
  const why = reason === undefined ? '' : ` (${oneLine(reason, 200)})`;
  const what = path === source ? 'it' : path;
  return `${by} revoked ${what} on ${at.slice(0, 10)}${why}, so nothing is taken from it. To take from it again: skill-registry approvals allow ${JSON.stringify(path)}`;
}

interface DecidedFolder {
  readonly decision: Decision;
  /** Real path. */
  readonly folder: string;
}

function realFolders(decisions: readonly Decision[]): readonly DecidedFolder[] {
  const folders = decisions.filter(({ path }) => isAbsolute(path));
  return folders.map((decision) => ({ decision, folder: futureRealPath(decision.path) }));
}

/** Of two equally near ones the later. `path` is real. */
function nearest(path: string, folders: readonly DecidedFolder[]): Decision | undefined {
  const around = folders.filter(({ folder }) => isInside(path, folder));
  return around.toSorted((a, b) => a.folder.length - b.folder.length).at(-1)?.decision;
}
