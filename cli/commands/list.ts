import { existsSync } from 'node:fs';
import type { Skill, Snapshot } from 'skill-registry';
import type { Problem, TurnContext } from 'skill-registry/kernel';
import type { OpenRegistry, CommandTerminal as Terminal } from '../../extensions/skill_registry/core/command-line.ts';
import type { AgentView, TokenCounts } from '../../extensions/skill_registry/host.ts';
import { hiddenOfPerson, looksHere, ownerFile } from '../../extensions/skill_registry/host.ts';
import { declaredTurns } from '../../kernel/host.ts';
import { EXIT, type ExitStatus, type Options } from '../../lib/command-line/index.ts';
import { estimateTokens, listed as namesOf, plural, printable } from '../../lib/text/index.ts';

/** Above this number of uncounted skills tokens are estimated: counting loads the tokenizer and reads every body. */
const COUNT_UP_TO = 200;
/** Above this number of skills a terminal shows the first rows. */
const MANY = 60;
const FIRST = 20;

export async function list(options: Options & { readonly all?: boolean }, terminal: Terminal): Promise<ExitStatus> {
  const opened = await terminal.openRegistry(options, { checksArguments: false });
  const { registry, problems } = opened;
  const state = await turnOf(options, opened, terminal);
  const isOfTurn = Object.keys(state).length > 0;
  const skills = isOfTurn ? registry.visible(state) : registry.snapshot().skills;
  const counts = await terminal.during('Counting tokens', registry.admin.tokenCounts({ atMost: COUNT_UP_TO }));
  const found = problems();
  const looks = await looksHere(opened.root, registry.snapshot());
  const seen = options.all ? await seenRows(opened, looks, counts, state) : undefined;
  const rows = seen ?? skills.map((skill) => skillRowOf(skill, looks, counts.get(skill.id)));
  const pending = registry.admin.notInspected();
  const notYet = pending > 0 ? { pending, message: `${plural(pending, 'skill')} ${NOT_YET}` } : {};
  const isShort = terminal.terminal && !options.json && !seen && rows.length > MANY;
  const shown = isShort ? FIRST : rows.length;
  if (options.json) terminal.print({ skills: rows, total: rows.length, ...notYet, problems: found });
  else if (rows.length > 0) printTable(seen ? seenTable(seen) : tokenTable(skills, looks, counts), terminal, shown);
  const notices = await Promise.all(terminal.features.map(({ notice }) => notice?.(registry)));
  const waiting = notices.map((line) => (line === undefined ? '' : `${line}\n`)).join('');
  const hidden = (await hiddenOfPerson(found)).map((line) => `${printable(line)}\n`).join('');
  if (isShort) terminal.say(`${rows.length - FIRST} more: ${HOW_TO_SEE_MORE}`);
  const kept = options.all ? '' : unseenSkillsText(skills, looks);
  terminal.err(`${kept}${brokenText(skills, found)}${hidden}${waiting}`);
  terminal.say(totalsOf(rows, pending, found.length, registry.snapshot()));
  if (terminal.terminal && !options.json && !seen && rows.length > 0) terminal.say(COUNTS);
  if (!registry.admin.hasGuard()) terminal.say(NO_GUARD);
  if (!options.skills && !existsSync(ownerFile(opened.root))) terminal.say(INIT_ADDS);
  return found.some(({ severity }) => severity === 'error') ? EXIT.problem : EXIT.done;
}

const COUNTS = 'LINE: tokens of what each prompt says of it. BODY: tokens of its instructions. ~: an estimate.';
const INIT_ADDS =
  'skill-registry init makes this folder a root of your own: a config, skills/, and your approval of what is in it.';
const NOT_YET =
  'not inspected yet. Agents see their lines; the rest is inspected when it is asked for, and skill-registry doctor inspects all.';
export const NO_GUARD = 'There is no guard: nothing inspects skills before agents are given them.';

type Turn = Partial<TurnContext>;
type Looks = Awaited<ReturnType<typeof looksHere>>;

export async function turnOf(options: Options, { registry }: OpenRegistry, { features }: Terminal): Promise<Turn> {
  return Object.assign({}, ...(await Promise.all(features.map(({ turn }) => turn?.(options, registry)))));
}

export function skillRowOf(skill: Skill, looks: Looks, tokens: TokenCounts = NOT_COUNTED): SkillRow {
  const { id, qualifiedId, name, description, tags, source, file } = skill;
  const fields = { skill_id: id, qualified_id: qualifiedId, name, description, tags, source, file, tokens };
  return { ...fields, ...(skill.remote === 'until-read' && { comes_when_read: true }), looks_here: looks(skill) };
}

export function whenReadText(count: number): string {
  return count === 0 ? '' : `, ${count} ${count === 1 ? 'comes when it is' : 'come when they are'} read`;
}

/** An agent that looks in the folder itself sees a skill that is held or disabled here. */
export function unseenSkillsText(skills: readonly Skill[], looks: Looks = () => []): string {
  // Held skills come first, because a person has to decide about them.
  const ordered = [...skills].sort((a, b) => Number(b.heldBecause !== undefined) - Number(a.heldBecause !== undefined));
  const kept = ordered.flatMap((skill) => {
    const { id, heldBecause, disabledFor, hiddenBecause } = skill;
    const off = disabledFor === 'everyone' ? 'disabled in the config' : undefined;
    const because = heldBecause === undefined ? off : `held, ${heldBecause}`;
    const others = looks(skill).length > 0 ? `. In its folder it is seen by ${namesOf(looks(skill), 2)}` : '';
    if (because !== undefined) return [`${id}: ${because}${others}`];
    return hiddenBecause === undefined ? [] : [`${id}: ${hiddenBecause}`];
  });
  const more = kept.length > MAX_NAMED ? [`${kept.length - MAX_NAMED} more: see skill-registry list --all`] : [];
  return [...kept.slice(0, MAX_NAMED), ...more].map((line) => `Agents do not see ${printable(line)}\n`).join('');
}

/** Skills with a broken frontmatter are used with the fields that could be read. */
function brokenText(skills: readonly Skill[], problems: readonly Problem[]): string {
  const files = new Set(problems.filter(({ code }) => code.startsWith('FRONTMATTER_')).map(({ file }) => file));
  const broken = skills.filter(({ file }) => files.has(file));
  if (broken.length === 0) return '';
  const ids = broken.map(({ id }) => id);
  return `${printable(`The frontmatter has errors in ${namesOf(ids, MAX_NAMED)}: see skill-registry doctor`)}\n`;
}

type Table = readonly [header: readonly string[], rows: readonly (readonly (string | number)[])[]];

const LOOKS = 'LOOKS HERE';

/** A terminal shows no source that is the same in each row, nor an empty column. A pipe always gets all columns. */
export function printTable([header, rows]: Table, { terminal, out, table }: Terminal, most?: number): void {
  const isLeftOut = (name: string, column: number): boolean =>
    (name === 'SOURCE' && new Set(rows.map((row) => row[column])).size === 1) ||
    (name === LOOKS && rows.every((row) => row[column] === ''));
  const leftOut = header.map((name, column) => terminal && isLeftOut(name, column));
  const shown = <Cell>(cells: readonly Cell[]) => cells.filter((_, column) => !leftOut[column]);
  out(`${table(shown(header), rows.slice(0, most).map(shown))}\n`);
}

// --- internal ---

interface SkillRow extends Pick<Skill, 'name' | 'description' | 'tags' | 'source' | 'file'> {
  readonly skill_id: string;
  readonly qualified_id: string;
  readonly tokens: TokenCounts;
  readonly comes_when_read?: true;
  /** Agents that look at its folder; whether their settings turn it off is not known. */
  readonly looks_here: readonly string[];
}

const NOT_COUNTED: TokenCounts = { l1: null, l2: null };

type SeenRow = Awaited<ReturnType<typeof seenRows>>[number];

/** `seen_by`: agents that are offered the skill; null stands for agents without bindings. */
async function seenRows(
  { root, trusted, registry }: OpenRegistry,
  looks: Looks,
  counts: ReadonlyMap<string, TokenCounts>,
  state: Turn,
) {
  const turns = (await declaredTurns(root, trusted, registry.admin.agents())).map((turn) => ({ ...turn, ...state }));
  const seen = await registry.admin.whoSees(turns);
  return seen.map(({ skill, isLoser, views }) => ({
    ...skillRowOf(skill, looks, isLoser ? undefined : counts.get(skill.id)),
    seen_by: views.flatMap(({ agent, because }) => (because === undefined ? [agent] : [])),
    not_seen_by: views.flatMap(({ agent, because }) => (because === undefined ? [] : [{ agent, because }])),
  }));
}

const HOW_TO_SEE_MORE =
  'skill-registry search <words> finds a skill, list --all shows who sees each skill, list | less shows all rows';

function totalsOf(rows: readonly SkillRow[], pending: number, problems: number, snapshot: Snapshot): string {
  const problemCount = problems > 0 ? `; ${plural(problems, 'problem')}, see skill-registry doctor` : '';
  const reasons = rows.flatMap(({ qualified_id: id }) => snapshot.byQualifiedId.get(id)?.heldBecause ?? []);
  const held = reasons.length > 0 ? `, ${reasons.length} held` : '';
  const inspecting = pending > 0 ? `, ${pending} not inspected yet (skill-registry doctor inspects them)` : '';
  const later = rows.filter(({ comes_when_read: isLater }) => isLater).length;
  const taken = snapshot.problems.filter(({ code }) => code === 'SKILL_ID_TAKEN').length;
  const more = taken > 0 && rows.length === snapshot.skills.length ? `; ${taken} more, whose id another skill has` : '';
  return `${plural(rows.length, 'skill')}${held}${inspecting}${whenReadText(later)}${more}${problemCount}`;
}

function tokenTable(skills: readonly Skill[], looks: Looks, counts: ReadonlyMap<string, TokenCounts>): Table {
  const cells = skills.map((skill) => {
    const { id, source, description, bytes, remote } = skill;
    const { l1, l2 } = counts.get(id) ?? NOT_COUNTED;
    const body = remote ? '-' : estimateTokens(bytes - description.length);
    const line = l1 ?? estimateTokens(id.length + description.length);
    return [id, line, l2 ?? body, source, namesOf(looks(skill), 2), description];
  });
  return [['SKILL', 'LINE', 'BODY', 'SOURCE', LOOKS, 'DESCRIPTION'], cells];
}

function seenTable(rows: readonly SeenRow[]): Table {
  const cells = rows.map(({ qualified_id, looks_here, seen_by, not_seen_by }) => [
    qualified_id,
    namesOf(looks_here, 2),
    not_seen_by.length === 0 ? 'every agent' : seen_by.map(nameOf).join(', ') || 'no agent',
    reasons(not_seen_by),
  ]);
  return [['SKILL', LOOKS, 'SHOWN TO', 'NOT SHOWN, BECAUSE'], cells];
}

function reasons(kept: readonly Required<AgentView>[]): string {
  const agents = new Map<string, (string | null)[]>();
  for (const { agent, because } of kept) agents.set(because, [...(agents.get(because) ?? []), agent]);
  const [only] = agents.keys();
  if (agents.size === 1 && only !== undefined && kept.length > 1 && kept.some(({ agent }) => agent === null))
    return only;
  return [...agents].map(([because, of]) => `${of.map(nameOf).join(', ')}: ${because}`).join('; ');
}

function nameOf(agent: string | null): string {
  return agent ?? 'all others';
}

const MAX_NAMED = 5;
