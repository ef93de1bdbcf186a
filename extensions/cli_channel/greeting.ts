import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { ExtensionContext, ExtensionStatus, Problem } from 'skill-registry/kernel';
import { countedWords, estimateTokens, formatTable, plural, printable, wrapWords } from '../../lib/text/index.ts';
import type { SkillRegistry } from '../skill_registry/api.ts';

/** Uncounted tokens are estimated above this number of skills. */
const COUNT_UP_TO = 200;
/** Above this number of skills only the first ones are listed. */
const MANY_SKILLS = 60;
const FIRST_SKILLS = 20;
/** Above this number problems are only counted, by code. */
const MANY_PROBLEMS = 20;

/** @param width - Columns of the terminal; undefined: nothing is cut. */
export async function greeting(
  { kernel, rootDir }: Pick<ExtensionContext, 'kernel' | 'rootDir'>,
  registry: SkillRegistry,
  modelReady: boolean,
  width: number | undefined,
): Promise<string> {
  const { skills, byQualifiedId, problems } = registry.snapshot();
  const held = [...byQualifiedId.values()].filter(({ heldBecause }) => heldBecause !== undefined).length;
  const waiting = registry.admin.notInspected();
  const taken = problems.filter(({ code }) => code === 'SKILL_ID_TAKEN').length;
  const counts = await registry.admin.tokenCounts({ atMost: COUNT_UP_TO });
  const shown = skills.length > MANY_SKILLS ? skills.slice(0, FIRST_SKILLS) : skills;
  const rows = shown.map(({ id, description, bytes, remote }) => {
    const { l1, l2 } = counts.get(id) ?? { l1: null, l2: null };
    const line = l1 ?? estimateTokens(id.length + description.length);
    const body = l2 ?? (remote ? '-' : estimateTokens(bytes - description.length));
    return [id, line, body, registry.admin.resources(id).length + 1, description];
  });
  const more = skills.length - shown.length;
  const table = formatTable(['SKILL', 'LINE', 'BODY', 'FILES', 'DESCRIPTION'], rows, width);
  const catalog = more > 0 ? `${table}\n... ${more} more: /skills <words> finds them` : table;
  const news = await registry.admin.news();
  const states = kernel.extensions().map(({ state }) => STATE_WORDS[state]);
  return [
    wrapWords(
      `skill-registry: ${plural(skills.length, 'skill')}${taken > 0 ? ` (and ${taken} whose id another skill has)` : ''}${held > 0 ? ` (${held} held)` : ''}${waiting > 0 ? ` (${waiting} not inspected yet)` : ''}; ${plural(states.length, 'extension')}: ${countedWords(states)}; root ${onOneLine(rootDir)}`,
      width,
    ),
    ...news.map((line) => wrapWords(line, width)),
    skills.length > 0 ? `\n${catalog}\n\n${wrapWords(COUNTS_EXPLAINED, width)}` : '',
    `\n${sourceLines(registry)}`,
    `\n${wrapWords(problemLines([...kernel.problems(), ...registry.problems()]), width)}`,
    modelReady ? '' : wrapWords(`\n${NO_MODEL}`, width),
    wrapWords('\nType /help for the commands, /context <text> to see what an agent would see.', width),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

// --- internal ---

const STATE_WORDS: Readonly<Record<ExtensionStatus['state'], string>> = {
  RUNNING: 'running',
  DISABLED: 'off',
  ERROR: 'broken',
  SKIPPED: 'skipped',
  STOPPED: 'stopped',
};

const COUNTS_EXPLAINED =
  'LINE: tokens of what each prompt says of it. BODY: tokens of its instructions. ~: an estimate.';
const NO_MODEL = 'No model is set: set MODEL_BASE_URL, MODEL_API_KEY and MODEL_NAME to talk. Everything else works.';

const WATCHING = {
  events: (seconds: number) => `watched by file events, and every ${seconds} s`,
  poll: (seconds: number) => `checked every ${seconds} s`,
  off: () => 'not watched; /skills reload reads them again',
} as const;

function sourceLines(registry: SkillRegistry): string {
  const how = WATCHING[registry.admin.watchMode()](registry.config.watch.interval_seconds);
  const lines = registry
    .snapshot()
    .sources.filter(({ location, skills }) => skills > 0 || !isAbsolute(location) || existsSync(location))
    .map(({ id, location, skills }) => `  ${id}: ${plural(skills, 'skill')} in ${onOneLine(location)}`);
  return [`Sources (${how}):`, ...lines].join('\n');
}

/** Escapes line ends, which a file name may contain. */
function onOneLine(path: string): string {
  return printable(path).replace(/\n/g, '\\n');
}

function problemLines(problems: readonly Problem[]): string {
  if (problems.length === 0) return 'Problems: none';
  const listed = problems.filter(({ code }) => problems.length <= MANY_PROBLEMS || OF_START.has(code));
  const counted = problemCounts(problems.filter((one) => !listed.includes(one)));
  return [`Problems (${problems.length}):`, ...counted, ...listed.map(problemLine)].join('\n');
}

/** Always listed, because only a start finds them: doctor starts nothing. */
const OF_START: ReadonlySet<string> = new Set([
  'AGENT_NOT_READY',
  'COMMAND_PROVIDER_FAILED',
  'COMMAND_SHADOWED',
  'EVENT_HANDLER_FAILED',
  'EXTENSION_IMPORT_FAILED',
  'EXTENSION_INITIALIZE_FAILED',
  'EXTENSION_SKIPPED',
  'EXTENSION_START_FAILED',
  'EXTENSION_UNKNOWN',
  'HOOK_FAILED',
  'SERVICE_DIED',
  'TOOL_NAME_TAKEN',
  'TOOL_PROVIDER_FAILED',
]);

function problemLine({ severity, code, file, line, message }: Problem): string {
  return `  ${severity} ${code} ${onOneLine(file)}${line ? `:${line}` : ''}\n    ${printable(message)}`;
}

function problemCounts(problems: readonly Problem[]): readonly string[] {
  if (problems.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { severity, code } of problems)
    counts.set(`${severity} ${code}`, (counts.get(`${severity} ${code}`) ?? 0) + 1);
  const rank = (key: string): number => (key.startsWith('error') ? 1e9 : 0) + (counts.get(key) ?? 0);
  const lines = [...counts.keys()].sort((a, b) => rank(b) - rank(a)).map((key) => `  ${key} (${counts.get(key)})`);
  return [...lines, '  skill-registry doctor prints them, with what to do'];
}
