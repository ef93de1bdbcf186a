import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { isCodedError, type Problem } from 'skill-registry/kernel';
import type {
  DoctorPart,
  OpenRegistry,
  CommandTerminal as Terminal,
} from '../../extensions/skill_registry/core/command-line.ts';
import { checkExtensions, createSecrets, heldExtensions } from '../../kernel/host.ts';
import { EXIT, type ExitStatus, firstLines, type Options } from '../../lib/command-line/index.ts';
import { countedWords, forTerminal, plural, printable, showName } from '../../lib/text/index.ts';
import { NO_GUARD, whenReadText } from './list.ts';

export async function doctor(options: Options & { readonly all?: boolean }, terminal: Terminal): Promise<ExitStatus> {
  const opened = await terminal.openRegistry(options);
  const { report, parts: ofFeatures } = await examine(opened, terminal);
  if (!opened.registry.admin.hasGuard()) terminal.say(NO_GUARD);
  terminal.print(fieldsOf(report, ofFeatures), () => {
    const parts = [
      totals(report, ofFeatures, opened.registry),
      ...ofFeatures.flatMap(({ section }) => (section ? [part(section.title, section.lines, options.all)] : [])),
      ...byCode(report.problems, options.all),
      conclusion(report, opened),
    ].filter((part) => part !== '');
    return forTerminal(parts.join('\n\n'), terminal, terminal.terminal);
  });
  return report.problems.some(({ severity }) => severity === 'error') ? EXIT.problem : EXIT.done;
}

// --- internal ---

type Report = Awaited<ReturnType<typeof examine>>['report'];

async function examine(opened: OpenRegistry, terminal: Terminal) {
  const { root, trusted, registry, problems } = opened;
  const { admin } = registry;
  // SKILL_TOO_LONG is known only after counting.
  await terminal.during('Counting tokens', admin.tokenCounts());
  const parts: DoctorPart[] = [];
  for (const one of terminal.features) parts.push((await one.doctor?.(opened, terminal)) ?? {});
  const { skills, sources, byQualifiedId, problems: ofCatalog } = registry.snapshot();
  const taken = ofCatalog.filter(({ code }) => code === 'SKILL_ID_TAKEN').length;
  const getSecret = createSecrets(root, terminal.environment, trusted);
  const checked = await checkExtensions({
    rootDir: root,
    trusted,
    // As for `start`.
    enable: ['cli_channel'],
    getSecret,
    skillBody: (id) => bodyFor(registry, id),
  });
  const ofFeatures = parts.flatMap((one) => one.problems ?? []);
  const found = [...problems(), ...ofFeatures, ...checked.problems];
  const report = {
    root,
    skills: skills.length,
    come_when_read: skills.filter(({ remote }) => remote === 'until-read').length,
    // `taken`: the id belongs to another skill with other files. `copies`: equal skills in several folders.
    hidden_by_id: taken,
    copies: byQualifiedId.size - skills.length - taken,
    held: [...byQualifiedId.values()].filter(({ heldBecause }) => heldBecause !== undefined).length,
    held_extensions: heldExtensions(root).map(({ name }) => name),
    extensions: checked.extensions.map(({ id, origin, version, state }) => ({ id, origin, version, state })),
    agents: checked.agents,
    model: { base_url: getSecret('MODEL_BASE_URL') ?? null, name: getSecret('MODEL_NAME') ?? null },
    sources,
    context: await admin.contextCost(),
    left_out: leftOutOf(registry),
    // The registry and the kernel report the same problems of the config.
    problems: [...new Map(found.map((one) => [JSON.stringify(one), one])).values()],
  };
  return { report, parts: parts.toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0)) };
}

/** In the order that the documentation shows. */
function fieldsOf(report: Report, parts: readonly DoctorPart[]): object {
  const { problems, root, skills, hidden_by_id, copies, held, ...rest } = report;
  const own = [
    { order: 0, fields: { root, skills, hidden_by_id, copies, held } },
    { order: 2, fields: rest },
  ];
  const all = [...own, ...parts].toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0));
  return Object.assign({}, ...all.map(({ fields }) => fields), { problems });
}

/** Empty for a skill that is disabled for the agent: its instructions leave it out. */
async function bodyFor(registry: SkillRegistry, id: string): Promise<string> {
  try {
    return (await registry.read(id, { audience: 'binding' }, { preview: true })).content;
  } catch (error) {
    if (isCodedError(error, 'SKILL_DISABLED')) return '';
    throw error;
  }
}

function leftOutOf({ admin, snapshot }: SkillRegistry) {
  const folders = new Map([...snapshot().byQualifiedId.values()].map((one) => [one.dir, one.qualifiedId]));
  const counts = [...folders.values()].map((id) => admin.leftOutCount(id)).filter((count) => count > 0);
  return { files: counts.reduce((sum, n) => sum + n, 0), skills: counts.length };
}

function totals(report: Report, parts: readonly DoctorPart[], { config }: SkillRegistry): string {
  const { skills, held, hidden_by_id: taken, copies, extensions, agents, model, context, left_out: leftOut } = report;
  const { format, budget_tokens, enforcement } = config.catalog;
  const more = taken > 0 ? `; ${taken} more, whose id another skill has` : '';
  const equal = copies > 0 ? `; ${copies} equal in other folders` : '';
  const enforcementPart = enforcement ? `, enforcement ${context.enforcement} of them` : '';
  const states = countedWords(extensions.map(({ state }) => state.replace(/^starts .*|:.*/s, '') || 'to start'));
  const models = [...new Set(agents.map((agent) => agent.model ?? model.name ?? ''))].filter((name) => name !== '');
  const heldNames = report.held_extensions;
  const lines = [
    `${plural(skills, 'skill')}${held > 0 ? `, ${held} held` : ''}${whenReadText(report.come_when_read)}${more}${equal}`,
    `${plural(extensions.length, 'extension')}: ${states}`,
    `${plural(agents.length, 'agent')}: ${agents.map(({ id }) => id).join(', ') || 'none'}`,
    model.base_url && models.length > 0
      ? `Model: ${models.join(', ')} at ${model.base_url}; it was not called`
      : 'Model: none is set (MODEL_BASE_URL, MODEL_NAME), so agents cannot answer; everything else works',
    heldNames.length > 0 &&
      `${plural(heldNames.length, 'extension')} held: ${heldNames.join(', ')}; skill-registry approvals show extensions/<name> tells what agents wrote`,
    ...parts.map(({ total = false }) => total),
    `Skills take ${context.tokens} tokens of every system prompt (${format}, budget ${budget_tokens}${enforcementPart})`,
    leftOut.files > 0 &&
      `Never handed out: ${plural(leftOut.files, 'path')} in ${plural(leftOut.skills, 'skill')} (.env, .git, keys, data/)`,
    '',
    'Sources:',
    ...report.sources
      .filter(({ location, skills: count }) => count > 0 || !isAbsolute(location) || existsSync(location))
      .map(({ id, location, skills: count }) => `  ${id}: ${plural(count, 'skill')} in ${showName(location)}`),
    '',
    problemTotals(report, parts),
  ];
  return printable(lines.filter((line) => line !== false).join('\n'));
}

function problemTotals({ problems }: Report, parts: readonly DoctorPart[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const count = `${problems.length} (${plural(errors, 'error')}, ${plural(problems.length - errors, 'warning')})`;
  const line = `Problems: ${problems.length === 0 ? 'none' : count}`;
  const remedies = parts.flatMap(({ remedy }) => (remedy === undefined ? [] : [`\n${remedy}`]));
  return `${line}${remedies.join('')}`;
}

/** Errors first, then the most frequent code: one correction may solve many problems. */
function groupsOf(problems: readonly Problem[]) {
  const groups = new Map<string, { code: string; severity: Problem['severity']; members: Problem[] }>();
  for (const problem of problems) {
    const { code, severity } = problem;
    const group = groups.get(`${severity} ${code}`) ?? { code, severity, members: [] };
    group.members.push(problem);
    groups.set(`${severity} ${code}`, group);
  }
  const rank = ({ severity, members }: { severity: string; members: readonly Problem[] }): number =>
    (severity === 'error' ? 1e9 : 0) + members.length;
  return [...groups.values()].sort((a, b) => rank(b) - rank(a) || (a.code < b.code ? -1 : 1));
}

const OF_EACH = 10;

function part(title: string, lines: readonly string[], all = false): string {
  return [title, ...firstLines(lines, all ? Number.POSITIVE_INFINITY : OF_EACH, '; --all prints them')].join('\n');
}

function byCode(problems: readonly Problem[], all?: boolean): readonly string[] {
  return groupsOf(problems).map(({ code, severity, members }) => {
    const lines = members.map(
      ({ file, line, message }) => `  ${showName(file)}${line ? `:${line}` : ''}\n    ${printable(message)}`,
    );
    return part(`${severity} ${code} (${members.length})`, lines, all);
  });
}

/** Says what was not checked, so that nobody takes it for correct. */
function conclusion({ problems, extensions }: Report, { trusted }: OpenRegistry): string {
  const parts = problems.length === 0 ? ['Nothing is wrong.'] : [];
  if (trusted && extensions.some(({ origin }) => origin === 'root'))
    parts.push('No extension was started; skill-registry start says which of them fail.');
  return parts.join('\n\n');
}
