import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import {
  actorOf,
  EXIT,
  type ExitStatus,
  invalidArgument,
  isPath,
  minuteOf,
  type Options,
} from '../../../../../lib/command-line/index.ts';
import { futureRealPath, isInside } from '../../../../../lib/files/index.ts';
import { printable, toWire } from '../../../../../lib/text/index.ts';
import { isDecided, openTrust } from '../../../../../lib/trust/index.ts';
import type { CommandTerminal, TrustAction, TrustOptions, TrustSubject } from '../../../core/command-line.ts';
import { addressKey, decisionAbout, programKey } from '../../guard/revoked.ts';
import { parseOrigin, sourceKey } from '../address.ts';
import { secretKeyOf } from '../secret-headers.ts';
import type { UsedSource } from '../types.ts';

export const sourceTrust: TrustSubject = {
  async list({ origin }) {
    const sources = await origin.sources();
    return {
      fields: { sources: sources.map((source) => toWire({ ...source, decision: source.decision ?? null })) },
      lines: sources.flatMap((source) => (source.decision ? [] : [describeSource(source)])),
    };
  },
  async show(id, options, terminal) {
    const named = sourceOf(id, terminal);
    const source = named ?? id;
    const { registry } = await terminal.openRegistry(options);
    const used = (await registry.origin.sources()).find((one) => one.source === source);
    if (named === undefined && !used) return undefined;
    const shown = used ?? { source, skills: [], inConfig: [], decision: decisionAbout(source) };
    terminal.print(toWire({ ...shown, decision: shown.decision ?? null }), () => printable(describeSource(shown)));
    return EXIT.done;
  },
  async decide(action, given, options, terminal) {
    const secret = secretKeyOf(given);
    if (secret !== undefined) return decideSecret(action, secret, options, terminal);
    let source = sourceOf(given, terminal);
    if (action === 'revoke') source ??= await folderOfConfig(given, options, terminal);
    return source === undefined ? undefined : decideSource(action, source, options, terminal);
  },
  names: async ({ origin }) => (await origin.sources()).map(({ source }) => source),
};

// --- internal ---

async function decideSource(
  action: TrustAction,
  source: string,
  options: TrustOptions,
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  if (options.digest !== undefined) throw invalidArgument('--digest is of a skill. A source is allowed without one.');
  // Decides first, because opening the registry contacts the sources of the config.
  openTrust().decide({ action, kind: 'source', path: source, ...actorOf(options, terminal) });
  const { registry } = await terminal.openRegistry(options);
  const used = await registry.origin.sources();
  const matching = used.filter((one) => one.source === source || one.decision?.path === source);
  const skills = matching.flatMap((one) => one.skills);
  const inConfig = matching.flatMap((one) => one.inConfig);
  terminal.print({ action, source, skills, in_config: inConfig });
  const isAllowed = action === 'allow';
  terminal.say(`${source} ${isAllowed ? 'is approved' : 'is revoked: nothing is taken from it any more'}`);
  if (!isAllowed && skills.length > 0)
    terminal.say(`What came from it stays, until you run skill-registry remove: ${skills.join(', ')}`);
  if (inConfig.length > 0)
    terminal.say(
      `In the config it is ${inConfig.join(', ')}. What runs now (start, mcp, review) goes on as before until it is started again.`,
    );
  if (matching.length === 0)
    terminal.say(
      'Neither the config nor the lock of this root names it; approvals list has the names of their sources.',
    );
  return EXIT.done;
}

/** Counts at the next look of a registry that runs, and opens none. */
function decideSecret(action: TrustAction, path: string, options: TrustOptions, terminal: CommandTerminal): ExitStatus {
  if (options.digest !== undefined) throw invalidArgument('--digest is of a skill. A secret is allowed without one.');
  openTrust().decide({ action, kind: 'secret', path, ...actorOf(options, terminal) });
  terminal.print({ action, secret: path });
  terminal.say(`${path}: ${action === 'allow' ? 'this secret may go there' : 'nothing more is sent there'}`);
  return EXIT.done;
}

/** The name of the source in the recorded decisions; undefined when it is no source. */
function sourceOf(given: string, { cwd }: CommandTerminal): string | undefined {
  const path = resolve(cwd, given);
  if (/^npm:|^mcp:|^[a-z][a-z\d+.-]*:\/\/|^[\w.-]+@[\w.-]+:/i.test(given)) return sourceNamed(given, cwd);
  if (isPath(given) && isDecided('source', path) && !isDecided('root', path)) return path;
  const isShort = /^[\w.-]+\/[\w.-]+$/.test(given) && !/^\.{1,2}\//.test(given) && !existsSync(path);
  return isShort && !isDecided('root', path) ? sourceNamed(given, cwd) : undefined;
}

/**
 * The key of a source in decisions. @param text - An address, `owner/repo`, `npm:<name>`, a folder, `mcp:` and a
 * server's command line, or as `approvals list` shows it. @throws ORIGIN_INVALID.
 */
function sourceNamed(text: string, cwd: string): string {
  if (/^mcp:[^\s#]+#[\da-f]{8}$/.test(text)) return text;
  if (text.startsWith('mcp:')) return programKey([text.slice('mcp:'.length)]);
  // Nothing is installed from such an address, but a server of the config may have it.
  if (/^http:\/\//i.test(text) && URL.canParse(text) && !/\.git(?:#|$)/.test(text)) return addressKey(text);
  return sourceKey(parseOrigin(text, cwd));
}

/** Accepts an undecided path that the config names, or that contains or is inside such a path. */
async function folderOfConfig(given: string, options: Options, terminal: CommandTerminal): Promise<string | undefined> {
  const path = resolve(terminal.cwd, given);
  if (!isPath(given) || !existsSync(path) || isDecided('root', path)) return undefined;
  const { registry } = await terminal.openRegistry({ ...options });
  const { sources, byQualifiedId } = registry.snapshot();
  await registry.close();
  const real = futureRealPath(path);
  const folders = sources.flatMap(({ location }) => (isAbsolute(location) ? [futureRealPath(location)] : []));
  // A source may contain a link to this path.
  const files = [...byQualifiedId.values()].flatMap(({ realFile }) => realFile ?? []);
  return [...folders, ...files].some((one) => isInside(one, real) || isInside(real, one)) ? path : undefined;
}

function describeSource({ source, skills, inConfig, decision }: UsedSource): string {
  const what = decision
    ? `${decision.action === 'allow' ? 'approved' : 'revoked'} by ${decision.by} on ${minuteOf(decision.at)}${decision.reason === undefined ? '' : `: ${decision.reason}`}`
    : 'no decision of its own; the approval of the root counts';
  const known = [...skills, ...inConfig.map((id) => `${id} in the config`)];
  const names = known.length > 0 ? ` (${known.join(', ')})` : '';
  return `Source ${source}${names}: ${what}`;
}
