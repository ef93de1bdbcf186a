import { resolve } from 'node:path';
import type { AddPlan } from 'skill-registry';
import { CodedError } from 'skill-registry/kernel';
import { decisionAbout, type SkillToAdd } from '../../extensions/skill_registry/host.ts';
import { futureRealPath } from '../../lib/files/index.ts';
import { printable, toWire } from '../../lib/text/index.ts';
import { openTrust } from '../../lib/trust/index.ts';
import { describeFindings } from '../describe-findings.ts';
import { sayHeld } from '../held-text.ts';
import { type OpenRegistry, openRegistry } from '../open-registry.ts';
import {
  actorOf,
  assertAskable,
  type ConfirmedOptions,
  EXIT,
  type ExitStatus,
  type GlobalOptions,
  isAgreed,
  printJson,
  type Terminal,
  withProgress,
} from '../terminal.ts';

export interface AddFlags extends ConfirmedOptions {
  readonly skill?: readonly string[];
  readonly all?: boolean;
  readonly to?: string;
  readonly link?: boolean;
  readonly frozen?: boolean;
  readonly dryRun?: boolean;
}

/** `skill-registry add`. With `--json`: `{ origin, source, skills: [SkillToAdd], unreadable, installed: [ChangedSkill] }`. */
export async function add(
  what: string | undefined,
  options: GlobalOptions & AddFlags,
  terminal: Terminal,
): Promise<ExitStatus> {
  assertSense(what, options);
  if (!options.dryRun) assertAskable(options, terminal);
  const opened = await openRegistry(options, terminal);
  const plan = await withProgress(
    `Fetching ${printable(what ?? 'what is missing')}`,
    terminal,
    planOf(what, options, opened, terminal),
  );
  const isNothing = plan.skills.length === 0;
  const shown = isNothing ? 'Everything is as skills-lock.json says' : describePlan(plan);
  if (options.dryRun && !options.json) terminal.out(`${shown}\n`);
  else terminal.err(`${shown}\n`);
  const isMeant = !options.dryRun && !isNothing && (await isAgreed(questionOf(plan), options, terminal));
  if (isMeant && !options.trust) approveSource(plan, options, terminal);
  const installed = isMeant ? await withProgress('Installing', terminal, plan.apply(actorOf(options, terminal))) : [];
  if (options.json)
    printJson(terminal, {
      origin: plan.origin,
      source: plan.source ?? null,
      skills: plan.skills.map(toWire),
      unreadable: plan.unreadable,
      installed: installed.map(toWire),
    });
  for (const [at, { id, revision }] of installed.entries()) {
    const how = revision === undefined ? 'is linked' : `is installed, as revision ${revision}`;
    terminal.err(`${printable(id)} ${how}: ${printable(plan.skills[at]?.folder ?? '')}\n`);
  }
  const folders = new Set(installed.map((_, at) => futureRealPath(plan.skills[at]?.folder ?? '')));
  await sayHeld(opened.registry, ({ dir }) => dir !== null && folders.has(dir), terminal);
  await opened.registry.close();
  return isMeant || isNothing || options.dryRun ? EXIT.done : EXIT.problem;
}

// --- internal ---

/** @throws INVALID_ARGUMENT. */
function assertSense(what: string | undefined, { frozen, skill, all, link }: AddFlags): void {
  const wrong = (message: string): never => {
    throw new CodedError('INVALID_ARGUMENT', message);
  };
  if (frozen && (what !== undefined || skill || all || link))
    wrong('--frozen installs what skills-lock.json names: give neither an origin, nor --skill, --all or --link.');
  if (!frozen && what === undefined) wrong('Say what to add: `skill-registry add --help` lists the ways.');
  if (skill && all) wrong('Give --skill or --all, not both.');
}

async function planOf(
  what: string | undefined,
  { all, frozen, link, skill: skills, to: given }: AddFlags,
  { registry: { origin } }: OpenRegistry,
  { cwd }: Terminal,
): Promise<AddPlan> {
  const to = given === undefined ? undefined : resolve(cwd, given);
  return frozen || what === undefined ? origin.restore({ to }) : origin.add(what, { all, cwd, link, skills, to });
}

/** Records who took skills from a source for the first time, and how that was answered. @throws TRUST_UNUSABLE. */
function approveSource({ source, skills }: AddPlan, options: GlobalOptions & AddFlags, terminal: Terminal): void {
  if (source === undefined || decisionAbout(source)) return;
  const ids = skills.map(({ id }) => id).join(', ');
  const answer = options.yes ? 'add --yes' : 'answered yes to add';
  const reason = options.reason ?? `${answer}: ${ids}`;
  openTrust().decide({ kind: 'source', path: source, action: 'allow', by: actorOf(options, terminal).by, reason });
}

/** Whether a person has taken skills from it before. */
function describeSource(source: string | undefined): readonly string[] {
  if (source === undefined) return [];
  const { by, at } = decisionAbout(source) ?? {};
  const who =
    by === undefined ? 'Nobody has approved this source yet' : `${by} approved this source on ${at?.slice(0, 10)}`;
  return [`  ${printable(who)} (${printable(source)})`];
}

function questionOf({ skills }: AddPlan): string {
  const what = skills.length === 1 ? printable(skills[0]?.id ?? '') : `these ${skills.length} skills`;
  const blocks = skills.flatMap(({ findings }) => findings).filter(({ level }) => level === 'block').length;
  return `Install ${what}${blocks > 0 ? `, although ${blocks} finding(s) look like an attack` : ''}?`;
}

/** What looks like an attack comes before everything else. */
function describePlan({ origin, source, skills, unreadable }: AddPlan): string {
  const attacks = skills.flatMap(({ id, findings }) =>
    describeFindings(findings, ['block']).map((line) => `${printable(id)}: ${line.trim()}`),
  );
  const lost = unreadable.map((path) => `  ${printable(path)} cannot be read as a skill`);
  return [
    ...attacks,
    `From ${printable(origin)}:`,
    ...describeSource(source),
    ...skills.flatMap(describeSkill),
    ...lost,
  ].join('\n');
}

/** Files in the text; `--json` has all. */
const MAX_SHOWN = 10;

function describeSkill(skill: SkillToAdd): readonly string[] {
  const { id, name, description, tokens, files, leftOut, scripts, allowedTools, requires, missing, collides } = skill;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const left = leftOut > 0 ? `; ${leftOut} left out` : '';
  const along = skill.alongWith ? ' (required by another one)' : '';
  const needs = requires.map((one) => (missing.includes(one) ? `${one} (not found)` : one));
  const lines = [
    `${id}${name === id ? '' : ` (${name})`}${along}`,
    `  ${description}`,
    `  to ${skill.folder}`,
    `  ${tokens} tokens, ${files.length} file(s), ${bytes} bytes${left}: ${listed(files.map(({ path }) => path))}`,
    ...(scripts.length > 0 ? [`  scripts: ${listed(scripts)}`] : []),
    ...(allowedTools.length > 0 ? [`  allowed-tools: ${listed(allowedTools)}`] : []),
    ...(needs.length > 0 ? [`  requires: ${listed(needs)}`] : []),
    ...(collides === undefined ? [] : [`  ${collides}`]),
    ...describeFindings(skill.findings, ['warn', 'info']),
    ...skill.problems.map(({ code, severity, message }) => `  ${severity} ${code}: ${message}`),
  ];
  return ['', ...lines.map((line) => printable(line.replaceAll(/[\r\n]+/g, ' ')))];
}

function listed(names: readonly string[]): string {
  const more = names.length > MAX_SHOWN ? ` and ${names.length - MAX_SHOWN} more` : '';
  return `${names.slice(0, MAX_SHOWN).join(', ')}${more}`;
}
