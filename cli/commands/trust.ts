import { existsSync, readdirSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import type { SkillTrust, TrustDecision, UsedSource } from '../../extensions/skill_registry/host.ts';
import { decidable, decisionAbout, sourceNamed } from '../../extensions/skill_registry/host.ts';
import { heldOfRoot } from '../../kernel/host.ts';
import { futureRealPath, isInside } from '../../lib/files/index.ts';
import { forTerminal, nearestIds, printable, toWire } from '../../lib/text/index.ts';
import { type Decision, describeSubject, openTrust } from '../../lib/trust/index.ts';
import { findRoot } from '../find-root.ts';
import { describeTrust } from '../held-text.ts';
import { openRegistry } from '../open-registry.ts';
import {
  actorOf,
  EXIT,
  type ExitStatus,
  invalidArgument,
  nearestText,
  type Options,
  type Terminal,
} from '../terminal.ts';

export async function listTrust(options: Options, terminal: Terminal): Promise<ExitStatus> {
  const { say } = terminal;
  const trust = openTrust();
  const [decisions, reason] = [trust.decisions(), trust.trouble()];
  const { registry, problems } = await openRegistry(options, terminal);
  const skills = [...registry.snapshot().byQualifiedId.values()].flatMap(({ id, qualifiedId, heldBecause, file }) =>
    heldBecause === undefined ? [] : [{ skill_id: id, qualified_id: qualifiedId, held_because: heldBecause, file }],
  );
  const ofRoot = problems().find(({ code }) => code === 'ROOT_NOT_APPROVED')?.details?.held;
  const root = Array.isArray(ofRoot) ? ofRoot.map(String) : [];
  const sources = await registry.origin.sources();
  const rows = decisions.map((one) => {
    const { action, at, by, path, reason: why = '' } = one;
    return [action, describeSubject(one), minuteOf(at), by, path, why];
  });
  const used = sources.map((source) => toWire({ ...source, decision: source.decision ?? null }));
  terminal.print({ file: trust.file, trouble: reason ?? null, decisions, held: { root, skills }, sources: used }, () =>
    terminal.table(['DECISION', 'WHAT', 'WHEN', 'WHO', 'WHERE', 'WHY'], rows),
  );
  say(`${decisions.length} decision(s) in ${trust.file}`);
  for (const what of root) say(`Without effect until its root is allowed: ${what}`);
  for (const source of sources) if (!source.decision) say(describeSource(source));
  for (const { qualified_id, held_because } of skills) say(`Held: ${qualified_id}: ${held_because}`);
  if (reason === undefined) return EXIT.done;
  say(`This file is ignored, so nothing is approved: ${reason}`);
  return EXIT.problem;
}

export async function showTrust(id: string, options: Options, terminal: Terminal): Promise<void> {
  const named = await sourceOf(id, terminal);
  const source = named ?? id;
  const { registry } = await openRegistry(options, terminal);
  const used = (await registry.origin.sources()).find((one) => one.source === source);
  if (named !== undefined || used) {
    const shown = used ?? { source, skills: [], inConfig: [], decision: decisionAbout(source) };
    terminal.print(toWire({ ...shown, decision: shown.decision ?? null }), () => printable(describeSource(shown)));
    return;
  }
  const found = await registry.admin.trustOf(id);
  terminal.print(toWire(found), () => forTerminal(describeTrust(found), terminal, terminal.terminal));
}

export const allow: Decide = (...given) => decide('allow', ...given);
export const revoke: Decide = (...given) => decide('revoke', ...given);

export async function decideShown(
  { admin }: SkillRegistry,
  action: Decision['action'],
  id: string,
  decision: TrustDecision,
  { say }: Terminal,
): Promise<SkillTrust> {
  const decided = await admin.decideTrust(action, id, decision);
  const isHeld = decided.verdict === 'block';
  const allowed = `is allowed: ${isHeld ? 'agents are given it' : 'publish gives it to others'}`;
  say(`${id} ${action === 'allow' ? allowed : `is ${isHeld ? 'held' : 'not published'} from now on`}`);
  return decided;
}

export const SKILL_QUESTION = 'Agents follow what a skill says. Give it to them?';

// --- internal ---

type Action = Decision['action'];
type Decide = (given: string | undefined, options: Options, terminal: Terminal) => Promise<ExitStatus>;

async function decide(action: Action, ...[given, options, terminal]: Parameters<Decide>): Promise<ExitStatus> {
  if (given === undefined) return decideRoot(action, given, options, terminal);
  let source = await sourceOf(given, terminal);
  if (action === 'revoke') source ??= await folderOfConfig(given, options, terminal);
  if (source !== undefined) return decideSource(action, source, options, terminal);
  const ofSkill = isPath(given) ? undefined : await decideSkill(action, given, options, terminal);
  return ofSkill ?? decideRoot(action, given, options, terminal);
}

function decideRoot(action: Action, ...[given, options, terminal]: Parameters<Decide>): ExitStatus {
  if (given !== undefined && options.root !== undefined)
    throw invalidArgument('Give the root once: as the argument, or with --root.');
  if (options.digest !== undefined) throw invalidArgument('--digest is of a skill. A root is allowed without one.');
  const root =
    action === 'revoke' && given !== undefined
      ? resolve(terminal.cwd, given)
      : findRoot(given === undefined ? options : { ...options, root: given }, terminal);
  if (action === 'revoke') assertApproved(root);
  openTrust().decide({ action, kind: 'root', path: root, ...actorOf(options, terminal) });
  const held = action === 'allow' ? heldOfRoot(root) : [];
  terminal.print({ action, root, held });
  const what = action === 'allow' ? 'is approved' : 'is not approved any more';
  terminal.say(`${root} ${what}${held.length > 0 ? `: ${held.join('; ')}` : ''}`);
  return EXIT.done;
}

async function decideSource(action: Action, source: string, options: Options, terminal: Terminal): Promise<ExitStatus> {
  if (options.digest !== undefined) throw invalidArgument('--digest is of a skill. A source is allowed without one.');
  // Decides first, because opening the registry contacts the sources of the config.
  openTrust().decide({ action, kind: 'source', path: source, ...actorOf(options, terminal) });
  const { registry } = await openRegistry(options, terminal);
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
    terminal.say('Neither the config nor the lock of this root names it; trust list has the names of their sources.');
  return EXIT.done;
}

/** The name of the source in the recorded decisions; undefined when it is no source. */
async function sourceOf(given: string, { cwd }: Terminal): Promise<string | undefined> {
  const path = resolve(cwd, given);
  if (/^npm:|^mcp:|^[a-z][a-z\d+.-]*:\/\/|^[\w.-]+@[\w.-]+:/i.test(given)) return sourceNamed(given, cwd);
  if (isPath(given) && isDecided('source', path) && !isDecided('root', path)) return path;
  const isShort = /^[\w.-]+\/[\w.-]+$/.test(given) && !/^\.{1,2}\//.test(given) && !existsSync(path);
  return isShort && !isDecided('root', path) ? sourceNamed(given, cwd) : undefined;
}

/** Accepts an undecided path that the config names, or that contains or is inside such a path. */
async function folderOfConfig(given: string, options: Options, terminal: Terminal): Promise<string | undefined> {
  const path = resolve(terminal.cwd, given);
  if (!isPath(given) || !existsSync(path) || isDecided('root', path)) return undefined;
  const { registry } = await openRegistry(options, terminal);
  const { sources, byQualifiedId } = registry.snapshot();
  await registry.close();
  const real = futureRealPath(path);
  const folders = sources.flatMap(({ location }) => (isAbsolute(location) ? [futureRealPath(location)] : []));
  // A source may contain a link to this path.
  const files = [...byQualifiedId.values()].flatMap(({ realFile }) => realFile ?? []);
  return [...folders, ...files].some((one) => isInside(one, real) || isInside(real, one)) ? path : undefined;
}

function isDecided(kind: Decision['kind'], path: string): boolean {
  return openTrust()
    .decisions()
    .some((one) => one.kind === kind && one.path === path);
}

function describeSource({ source, skills, inConfig, decision }: UsedSource): string {
  const what = decision
    ? `${decision.action === 'allow' ? 'approved' : 'revoked'} by ${decision.by} on ${minuteOf(decision.at)}${decision.reason === undefined ? '' : `: ${decision.reason}`}`
    : 'no decision of its own; the approval of the root counts';
  const known = [...skills, ...inConfig.map((id) => `${id} in the config`)];
  const names = known.length > 0 ? ` (${known.join(', ')})` : '';
  return `Source ${source}${names}: ${what}`;
}

function minuteOf(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}

function isPath(given: string): boolean {
  return /^[./~\\]/.test(given) || (/[/\\]/.test(given) && !given.includes(':'));
}

async function decideSkill(
  action: Action,
  id: string,
  options: Options,
  terminal: Terminal,
): Promise<ExitStatus | undefined> {
  const { registry } = await openRegistry(options, terminal);
  try {
    const found = await registry.admin.trustOf(id);
    const digest = options.digest ?? (action === 'allow' ? await digestOfYes(found, terminal) : found.digest);
    if (digest === undefined) {
      terminal.say(`${id} stays as it is`);
      return EXIT.problem;
    }
    const decided = await decideShown(registry, action, id, { ...actorOf(options, terminal), digest }, terminal);
    terminal.print({ action, ...toWire(decided) });
    return EXIT.done;
  } catch (error) {
    if (!isCodedError(error, 'SKILL_NOT_FOUND') || options.digest !== undefined || options.root !== undefined)
      throw error;
    const path = resolve(terminal.cwd, id);
    // A root can be revoked after its folder was deleted.
    if (existsSync(path) || (action === 'revoke' && isDecided('root', futureRealPath(path)))) return undefined;
    throw await namesNothing(id, registry, terminal);
  }
}

async function namesNothing(name: string, registry: SkillRegistry, { cwd }: Terminal): Promise<CodedError> {
  // A broken lock must not hide the error about the name.
  const sources = (await registry.origin.sources().catch(() => [])).map(({ source }) => source);
  const folders = readdirSync(cwd, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const names = [...registry.snapshot().byId.keys(), ...sources, ...folders.map((folder) => folder.name)];
  const nearest = nearestIds(new Set(names), name);
  return invalidArgument(
    `${JSON.stringify(name)} is no skill, no source and no folder here. Expected the id of a skill, a source (owner/repo, an address, npm:name) or the folder of a root.${nearestText(nearest)}`,
  );
}

async function digestOfYes(found: SkillTrust, { agreesTo }: Terminal): Promise<string | undefined> {
  const { digest, findings, skillId: id, verdict } = found;
  if (decidable(findings).length === 0) return digest;
  const see = `what was found with skill-registry trust show ${id}`;
  const isBlock = verdict === 'block';
  const question = isBlock ? SKILL_QUESTION : 'Who gets this skill gets its keys. May it be published?';
  const attacked = isBlock ? id : undefined;
  return (await agreesTo(describeTrust(found), question, see, `trust allow ${id}`, attacked)) ? digest : undefined;
}

/** A deleted root may be revoked: otherwise a new folder at that path would be approved. */
function assertApproved(root: string): void {
  const trust = openTrust();
  const path = futureRealPath(root);
  const last = trust.decisions().find(({ kind, path: of }) => kind === 'root' && of === path);
  // An ignored file of decisions: `decide` reports it.
  if (last?.action === 'allow' || trust.trouble() !== undefined) return;
  const message = `${root} is not approved, so nothing was revoked. skill-registry trust list shows the roots that are.`;
  throw new CodedError('ROOT_NOT_APPROVED', message, { root });
}
