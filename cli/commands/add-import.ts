import { resolve } from 'node:path';
import type { AddPlan, ImportPlan } from 'skill-registry';
import { CodedError } from 'skill-registry/kernel';
import { decisionAbout, type SkillToAdd } from '../../extensions/skill_registry/host.ts';
import { futureRealPath } from '../../lib/files/index.ts';
import { printable, toWire } from '../../lib/text/index.ts';
import { openTrust } from '../../lib/trust/index.ts';
import { appliedOrRefused, askAbout, commandAgain, type LettingOptions, refusedOf } from '../blocked-skills.ts';
import { findingLines } from '../finding-lines.ts';
import { printHeld } from '../held-text.ts';
import { type OpenRegistry, openRegistry } from '../open-registry.ts';
import {
  actorOf,
  assertCanAsk,
  EXIT,
  type ExitStatus,
  type GlobalOptions,
  printJson,
  type Terminal,
  withProgress,
} from '../terminal.ts';

export interface AddFlags extends LettingOptions {
  readonly skill?: readonly string[];
  readonly all?: boolean;
  readonly to?: string;
  readonly link?: boolean;
  readonly frozen?: boolean;
  readonly dryRun?: boolean;
}

export interface ImportFlags extends LettingOptions {
  readonly name?: string;
}

/** `skill-registry add`. With `--json`: `{ origin, source, skills: [SkillToAdd],
 * already_installed: [string], unreadable, installed: [ChangedSkill], refused: [RefusedSkill] }`. */
export async function add(
  what: string | undefined,
  options: GlobalOptions & AddFlags,
  terminal: Terminal,
): Promise<ExitStatus> {
  assertSense(what, options);
  if (!options.dryRun) assertCanAsk(options, terminal);
  const opened = await openRegistry(options, terminal);
  const plan = await withProgress(
    `Fetching ${printable(what ?? 'what is missing')}`,
    terminal,
    planOf(what, options, opened, terminal),
  );
  const isNothing = plan.skills.length === 0;
  const nothing = plan.installed.length > 0 ? [] : ['Everything is as skills-lock.json says'];
  const shown = [...describeInstalled(plan), ...(isNothing ? nothing : [describePlan(plan)])].join('\n');
  if (options.dryRun && !options.json) terminal.out(`${shown}\n`);
  else terminal.err(`${shown}\n`);
  const isAsked = !options.dryRun && !isNothing;
  const answer = isAsked ? await askAbout('Install', plan.skills, options, terminal) : undefined;
  if (answer?.isAny && !options.trust) approveSource(plan, options, terminal);
  const applying = answer?.isMeant ? plan.apply(actorOf(options, terminal), answer.options) : Promise.resolve([]);
  const again = (id: string): string => commandAgain(wordsOf(what, id, options), options);
  const { changed: installed, refused } = await appliedOrRefused(
    withProgress('Installing', terminal, applying),
    again,
    terminal,
  );
  if (options.json)
    printJson(terminal, {
      origin: plan.origin,
      source: plan.source ?? null,
      skills: plan.skills.map(toWire),
      already_installed: plan.installed,
      unreadable: plan.unreadable,
      installed: installed.map(toWire),
      refused,
    });
  const places = new Map(plan.skills.map(({ id, folder }) => [id, folder]));
  for (const { id, revision } of installed) {
    const how = revision === undefined ? 'is linked' : `is installed, as revision ${revision}`;
    terminal.err(`${printable(id)} ${how}: ${printable(places.get(id) ?? '')}\n`);
  }
  const folders = new Set(installed.map(({ id }) => futureRealPath(places.get(id) ?? '')));
  await printHeld(opened.registry, ({ dir }) => dir !== null && folders.has(dir), terminal);
  await opened.registry.close();
  const isRefused = refused.length > 0 || (options.dryRun && refusedOf(plan.skills, options).length > 0);
  return isRefused || (isAsked && !answer?.isMeant) ? EXIT.problem : EXIT.done;
}

/**
 * `skill-registry import`. Without a terminal and without `--yes` it shows what it would write, and writes nothing. With `--json`:
 * `{ from, skills: [SkillToAdd], already_imported: [string], refused, left_out, unrendered, prompt, manifest, created: [ChangedSkill],
 * blocked: [RefusedSkill] }`.
 */
export async function importSkills(
  path: string,
  options: GlobalOptions & ImportFlags,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const plan = await registry.origin.import(path, { name: options.name, cwd: terminal.cwd });
  const { skills, installed, refused, prompt } = plan;
  const isShownOnly = !options.yes && !terminal.ask;
  const print = isShownOnly && !options.json ? terminal.out : terminal.err;
  print(`${describeImport(plan)}\n`);
  const answer = isShownOnly || skills.length === 0 ? undefined : await askAbout('Write', skills, options, terminal);
  const name = options.name === undefined ? [] : ['--name', options.name];
  const { changed: created, refused: blocked } = await appliedOrRefused(
    answer?.isMeant ? plan.apply(actorOf(options, terminal), answer.options) : Promise.resolve([]),
    () => commandAgain(['import', path, ...name], options),
    terminal,
  );
  if (options.json)
    printJson(terminal, {
      from: plan.origin,
      skills: skills.map(toWire),
      already_imported: installed,
      refused,
      left_out: plan.leftOut,
      unrendered: plan.unrendered.map(toWire),
      prompt: prompt ?? null,
      manifest: prompt === undefined ? null : manifestOf(plan),
      created: created.map(toWire),
      blocked,
    });
  else if (prompt !== undefined) {
    terminal.err('\nWhat stays of the prompt, to put in its place:\n\n');
    terminal.out(terminal.terminal ? printable(prompt) : prompt);
  }
  for (const { id, revision } of created)
    terminal.err(
      `${printable(id)} is written, as revision ${revision}. Undo: skill-registry remove ${printable(id)}\n`,
    );
  if (isShownOnly && skills.length > 0) terminal.err('Nothing was written. Give --yes to write it.\n');
  const ids = new Set(created.map(({ id }) => id));
  await printHeld(registry, ({ id }) => ids.has(id), terminal);
  await registry.close();
  const isThere = skills.length === 0 && installed.length > 0;
  const isWritten = (isThere || answer?.isMeant) && refused.length + blocked.length === 0;
  const isDone = isShownOnly ? isThere || skills.length > 0 : isWritten;
  return isDone ? EXIT.done : EXIT.problem;
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

/**
 * Records who took skills from a source for the first time, and how that was answered. Call it before anything is written: when it
 * throws, nothing is installed. When writing fails afterwards, the record stays. It is about the source and no content: it frees no
 * skill, so nothing is read as approved because of it.
 *
 * @throws TRUST_UNUSABLE.
 */
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

/** Of a command that takes one skill of the same plan. */
function wordsOf(what: string | undefined, id: string, { frozen, to, link }: AddFlags): readonly string[] {
  const where = to === undefined ? [] : ['--to', to];
  if (frozen || what === undefined) return ['add', '--frozen', ...where];
  return ['add', what, '--skill', id, ...where, ...(link ? ['--link'] : [])];
}

function describeInstalled({ skills, installed }: AddPlan): readonly string[] {
  return installed.map((name) => {
    const change = skills.length === 0 && installed.length === 1 ? '; nothing was changed' : '';
    return printable(
      `${name} is installed from there already${change}. For what is newer: skill-registry update ${name}`,
    );
  });
}

/** What looks like an attack comes before everything else. */
function describePlan({ origin, source, skills, unreadable }: AddPlan): string {
  const attacks = skills.flatMap(({ id, findings }) =>
    findingLines(findings, ['block']).map((line) => `${printable(id)}: ${line.trim()}`),
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

/** Files, and other lines, in the text; `--json` has all. */
const MAX_SHOWN = 10;
const MAX_LINES = 20;

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
    ...findingLines(skill.findings, ['warn', 'info']),
    ...skill.problems.map(({ code, severity, message }) => `  ${severity} ${code}: ${message}`),
  ];
  return ['', ...lines.map((line) => printable(line.replaceAll(/[\r\n]+/g, ' ')))];
}

function listed(names: readonly string[]): string {
  const more = names.length > MAX_SHOWN ? ` and ${names.length - MAX_SHOWN} more` : '';
  return `${names.slice(0, MAX_SHOWN).join(', ')}${more}`;
}

function manifestOf({ installed, skills }: ImportPlan) {
  return { agent: { uses_skills: [...installed, ...skills.map(({ id }) => id)] }, depends_on: ['skill_registry'] };
}

function describeImport(plan: ImportPlan): string {
  const { installed, leftOut, refused, unrendered, prompt } = plan;
  const jinja = unrendered.map(({ skillId, path, line, text }) => `${skillId}/${path}:${line}: ${text}`);
  const { agent, depends_on } = manifestOf(plan);
  return [
    describePlan(plan),
    ...shownList('Imported already, and unchanged:', installed),
    ...shownList(
      'Not imported:',
      [...refused, ...leftOut].map(({ path, reason }) => `${path}: ${reason}`),
    ),
    ...shownList('Nothing renders templates in a skill, so write out what these stand for:', jinja),
    ...(prompt === undefined || agent.uses_skills.length === 0
      ? []
      : [
          '',
          'For the manifest of the agent:',
          ...['agent:', `  uses_skills: [${agent.uses_skills.join(', ')}]`, `depends_on: [${depends_on.join(', ')}]`],
        ]),
  ].join('\n');
}

function shownList(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MAX_LINES ? [`  and ${lines.length - MAX_LINES} more (--json has all)`] : [];
  return [
    '',
    title,
    ...lines.slice(0, MAX_LINES).map((line) => `  ${printable(line.replaceAll(/[\r\n]+/g, ' '))}`),
    ...more,
  ];
}
