import { resolve } from 'node:path';
import { actorOf, EXIT, type ExitStatus, firstLines, invalidArgument } from '../../../../../lib/command-line/index.ts';
import { isCodedError } from '../../../../../lib/errors/index.ts';
import { futureRealPath } from '../../../../../lib/files/index.ts';
import { listed, plural, printable, toWire } from '../../../../../lib/text/index.ts';
import { openTrust } from '../../../../../lib/trust/index.ts';
import type { SkillRegistry } from '../../../core/api.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import { inspectChanged } from '../../guard/commands/confirm.ts';
import { decisionAbout } from '../../guard/revoked.ts';
import { reachLines } from '../../guard/shown-reach.ts';
import { secretKeys } from '../secret-headers.ts';
import type { AddPlan, ImportPlan, SkillToAdd } from '../types.ts';
import { askAndApply, findingLines, type LettingOptions, refusedOf } from './blocked-skills.ts';

interface AddOptions extends LettingOptions {
  readonly agent?: readonly string[];
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly frozen?: boolean;
  readonly header?: readonly string[];
  readonly link?: boolean;
  readonly skill?: readonly string[];
  readonly to?: string;
}

export async function add(
  what: string | undefined,
  options: AddOptions,
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  assertSense(what, options);
  if (!options.dryRun) terminal.assertCanAsk();
  const { registry } = await terminal.openRegistry(options);
  const { agent: agents, link } = options;
  const { cwd } = terminal;
  const to = await placeOf(registry, what, options, terminal);
  const planFor = ({ all, skill: skills }: AddOptions): Promise<AddPlan> => {
    const adding = { agents, all, cwd, headers: headersOf(options), link, skills, to };
    const planning = what === undefined ? registry.origin.restore({ to }) : registry.origin.add(what, adding);
    return terminal.during(`Fetching ${printable(what ?? 'what is missing')}`, planning);
  };
  const plan = await planFor(options).catch(async (error) => planFor(await chosenOf(error, options, terminal)));
  const { links = [] } = plan;
  const isNothing = plan.skills.length + links.length === 0;
  const nothing = plan.installed.length > 0 ? [] : ['Everything is as skills-lock.json says'];
  const shown = [...describeInstalled(plan), ...(isNothing ? nothing : [describePlan(plan)])].join('\n');
  if (options.dryRun && !options.json) terminal.out(`${shown}\n`);
  else terminal.err(`${shown}\n`);
  const isAsked = !options.dryRun && !isNothing;
  const wordsFor = (id: string) => wordsOf(what, id, { ...options, ...(to !== undefined && { to }) });
  const beforeWriting = () => approveSource(plan, options, terminal);
  const others = links.length > 0 ? plural(links.length, 'lost link') : undefined;
  const letting = { plan, skills: plan.skills, others, verb: 'Install', isAsked, wordsFor, beforeWriting } as const;
  const { isMeant, changed: installed, refused } = await askAndApply(letting, options, terminal);
  terminal.print({
    origin: plan.origin,
    source: plan.source ?? null,
    skills: plan.skills.map(toWire),
    already_installed: plan.installed,
    links,
    unreadable: plan.unreadable,
    installed: installed.map(toWire),
    refused,
  });
  const folderOf = (id: string): string => plan.skills.find((skill) => skill.id === id)?.folder ?? '';
  for (const { id, revision } of installed) {
    const how = revision === undefined ? 'is linked' : `is installed, as revision ${revision}`;
    terminal.say(`${id} ${how}: ${folderOf(id)}`);
  }
  if (isMeant && others !== undefined) terminal.say(`Made again: ${others}`);
  const folders = new Set(installed.map(({ id }) => futureRealPath(folderOf(id))));
  await inspectChanged(registry, ({ dir }) => dir !== null && folders.has(dir), terminal);
  const isRefused = refused.length > 0 || (options.dryRun && refusedOf(plan.skills, options).length > 0);
  return isRefused || (isAsked && !isMeant) ? EXIT.problem : EXIT.done;
}

/** Without a terminal and without `--yes` it only shows what it would write. */
export async function importSkills(
  path: string,
  options: LettingOptions & { readonly name?: string },
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  const { registry } = await terminal.openRegistry(options);
  const plan = await registry.origin.import(path, { name: options.name, cwd: terminal.cwd });
  const { skills, installed, refused, prompt } = plan;
  const isShownOnly = !options.yes && !terminal.ask;
  const print = isShownOnly && !options.json ? terminal.out : terminal.err;
  print(`${describeImport(plan)}\n`);
  const isAsked = !isShownOnly && skills.length > 0;
  const words = ['import', path, ...(options.name === undefined ? [] : ['--name', options.name])];
  const letting = { plan, skills, verb: 'Write', isAsked, wordsFor: () => words } as const;
  const { isMeant, changed: created, refused: blocked } = await askAndApply(letting, options, terminal);
  terminal.print({
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
  if (prompt !== undefined && !options.json) {
    terminal.say('\nWhat stays of the prompt, to put in its place:\n');
    terminal.write(prompt);
  }
  for (const { id, revision } of created)
    terminal.say(`${id} is written, as revision ${revision}. Undo: skill-registry remove ${id}`);
  if (isShownOnly && skills.length > 0) terminal.say('Nothing was written. Give --yes to write it.');
  const ids = new Set(created.map(({ id }) => id));
  await inspectChanged(registry, ({ id }) => ids.has(id), terminal);
  const isThere = skills.length === 0 && installed.length > 0;
  const isWritten = (isThere || isMeant) && refused.length + blocked.length === 0;
  const isDone = isShownOnly ? isThere || skills.length > 0 : isWritten;
  return isDone ? EXIT.done : EXIT.problem;
}

// --- internal ---

/** Asks once, where nothing says where skills lie. Undefined: the first source that may be written. */
async function placeOf(
  { origin }: SkillRegistry,
  what: string | undefined,
  { dryRun, link, skills, to, yes }: AddOptions,
  { ask, cwd }: CommandTerminal,
): Promise<string | undefined> {
  if (to !== undefined) return /^[a-z]+(-home)?$/.test(to) ? to : resolve(cwd, to);
  if (what === undefined || link || skills) return undefined;
  const { to: place, choices } = await origin.place();
  if (choices.length === 0 || !ask || yes || dryRun) return place;
  const question = `Where to? ${choices.join(', ')} (-home: for all your projects) [${place}]: `;
  return (await ask(question))?.trim() || place;
}

/** Asks which of several skills are meant. @throws the error, where nobody can be asked or nothing is answered. */
async function chosenOf(error: unknown, options: AddOptions, { ask }: CommandTerminal): Promise<AddOptions> {
  const several = isCodedError(error, 'ORIGIN_INVALID') ? error.details.skills : undefined;
  if (!Array.isArray(several) || !ask || options.yes || options.dryRun) throw error;
  const typed = await ask(`Which? ${printable(listed(several, 30))}; or all: `);
  const skill = typed?.split(/[\s,;]+/).filter((name) => name !== '') ?? [];
  if (skill.length === 0) throw error;
  return skill[0] === 'all' && !several.includes('all') ? { all: true } : { skill };
}

/** Repeats nothing of what was given: a shell puts the secret itself in the place of an unquoted name. */
function headersOf({ header }: AddOptions): Readonly<Record<string, string>> | undefined {
  const parts = header?.map((one) => /^([^=:]+)[=:]\s*(.*)$/.exec(one) ?? []);
  return parts && Object.fromEntries(parts.map(([, name = '', text = '']) => [name, text]));
}

function assertSense(what: string | undefined, { agent, frozen, header, skill, all, link }: AddOptions): void {
  if (frozen && (what !== undefined || agent || header || skill || all || link))
    throw invalidArgument(
      '--frozen installs what skills-lock.json names: give neither an origin, nor --skill, --all, --link, --header or --agent.',
    );
  if (!frozen && what === undefined)
    throw invalidArgument('Say what to add: `skill-registry add --help` lists the ways.');
  if (skill && all) throw invalidArgument('Give --skill or --all, not both.');
}

/**
 * Approves the source unless a decision about it exists, and that the named secrets go there; approves no skill.
 * Call it before the first write: when it throws TRUST_UNUSABLE, nothing is installed.
 */
function approveSource({ source, skills }: AddPlan, options: AddOptions, terminal: CommandTerminal): void {
  if (options.trust || source === undefined) return;
  const ids = skills.map(({ id }) => id).join(', ');
  const answer = options.yes ? 'add --yes' : 'answered yes to add';
  const decision = {
    action: 'allow',
    by: actorOf(options, terminal).by,
    reason: options.reason ?? `${answer}: ${ids}`,
  } as const;
  if (!decisionAbout(source)) openTrust().decide({ ...decision, kind: 'source', path: source });
  const headers = headersOf(options);
  for (const path of headers ? secretKeys(source, headers) : [])
    openTrust().decide({ ...decision, kind: 'secret', path });
}

function wordsOf(
  what: string | undefined,
  id: string,
  { agent = [], header = [], to, link }: AddOptions,
): readonly string[] {
  const where = [...(to === undefined ? [] : ['--to', to]), ...agent.flatMap((name) => ['--agent', name])];
  if (what === undefined) return ['add', '--frozen', ...where];
  const headers = header.flatMap((one) => ['--header', one]);
  return ['add', what, '--skill', id, ...where, ...headers, ...(link ? ['--link'] : [])];
}

function describeInstalled({ skills, installed }: AddPlan): readonly string[] {
  return installed.map((name) => {
    const change = skills.length === 0 && installed.length === 1 ? '; nothing was changed' : '';
    return printable(
      `${name} is installed from there already${change}. For what is newer: skill-registry update ${name}`,
    );
  });
}

function describePlan({ origin, source, skills, links = [], unreadable }: AddPlan): string {
  const { by, at } = (source === undefined ? undefined : decisionAbout(source)) ?? {};
  const approved =
    at === undefined ? 'Nobody has approved this source yet' : `${by} approved this source on ${at.slice(0, 10)}`;
  return printable(
    [
      ...skills.flatMap(({ id, findings }) => findingLines(findings, ['block']).map((line) => `${id}: ${line.trim()}`)),
      `From ${origin}:`,
      ...(source === undefined ? [] : [`  ${approved} (${source})`]),
      ...skills.flatMap(describeSkill),
      ...links.map((link) => `  link ${link}`),
      ...unreadable.map((path) => `  ${path} cannot be read as a skill`),
    ].join('\n'),
  );
}

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
    ...skill.links.map((link) => `  link ${link}`),
    ...skill.notLinked.map((why) => `  ${why}`),
    `  ${plural(tokens, 'token')}, ${plural(files.length, 'file')}, ${bytes} bytes${left}: ${listed(files.map(({ path }) => path))}`,
    ...(scripts.length > 0 ? [`  scripts: ${listed(scripts)}`] : []),
    ...(allowedTools.length > 0 ? [`  allowed-tools: ${listed(allowedTools)}`] : []),
    ...(needs.length > 0 ? [`  requires: ${listed(needs)}`] : []),
    ...(collides === undefined ? [] : [`  ${collides}`]),
    ...reachLines(skill.reach).map((line) => `  ${line}`),
    ...findingLines(skill.findings, ['warn', 'info']),
    ...skill.problems.map(({ code, severity, message }) => `  ${severity} ${code}: ${message}`),
  ];
  return ['', ...lines.map((line) => line.replaceAll(/[\r\n]+/g, ' '))];
}

function manifestOf({ installed, skills }: ImportPlan) {
  return { agent: { uses_skills: [...installed, ...skills.map(({ id }) => id)] }, depends_on: ['skill_registry'] };
}

function describeImport(plan: ImportPlan): string {
  const { installed, leftOut, refused, unrendered, prompt } = plan;
  const jinja = unrendered.map(({ skillId, path, line, text }) => `${skillId}/${path}:${line}: ${text}`);
  const notImported = [...refused, ...leftOut].map(({ path, reason }) => `${path}: ${reason}`);
  const { agent, depends_on } = manifestOf(plan);
  const manifest = [
    'agent:',
    `  uses_skills: [${agent.uses_skills.join(', ')}]`,
    `depends_on: [${depends_on.join(', ')}]`,
  ];
  const isAgent = prompt !== undefined && agent.uses_skills.length > 0;
  return [
    describePlan(plan),
    ...shownList('Imported already, and unchanged:', installed),
    ...shownList('Not imported:', notImported),
    ...shownList('Nothing renders templates in a skill, so write out what these stand for:', jinja),
    ...(isAgent ? ['', 'For the manifest of the agent:', ...manifest] : []),
  ].join('\n');
}

function shownList(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  const shown = lines.map((line) => `  ${printable(line.replaceAll(/[\r\n]+/g, ' '))}`);
  return ['', title, ...firstLines(shown, MAX_LINES, ' (--json has all)')];
}
