import type { KernelApi, Problem } from 'skill-registry/kernel';
import { formatTable, printable } from '../../lib/text/index.ts';
import type { SkillRegistry } from '../skill_registry/api.ts';

export interface GreetingOptions {
  readonly kernel: KernelApi;
  readonly registry: SkillRegistry;
  readonly rootDir: string;
  readonly modelReady: boolean;
  /** Columns of the terminal; absent: nothing is cut. */
  readonly width: number | undefined;
}

/** With more skills nobody wants to wait for it; they are counted in the background. */
const COUNT_UP_TO = 200;

/** What a person sees first: the catalog, the sources, what is wrong, and how to go on. */
export async function greeting({ kernel, registry, rootDir, modelReady, width }: GreetingOptions): Promise<string> {
  const { skills } = registry.snapshot();
  const counts = await registry.admin.tokenCounts({ atMost: COUNT_UP_TO });
  const rows = skills.map((skill) => {
    const { l1, l2 } = counts.get(skill.id) ?? { l1: null, l2: null };
    return [skill.id, l1 ?? '-', l2 ?? '-', registry.admin.resources(skill.id).length + 1, skill.description];
  });
  const catalog = formatTable(['SKILL', 'L1', 'L2', 'FILES', 'DESCRIPTION'], rows, width);
  const extensions = kernel.extensions();
  const running = extensions.filter((extension) => extension.state === 'RUNNING').length;
  return [
    `skill-registry: ${skills.length} skill(s), ${running} of ${extensions.length} extension(s) running, root ${onOneLine(rootDir)}`,
    skills.length > 0 ? `\n${catalog}\n\nL1: tokens of the line every agent sees. L2: tokens of the instructions.` : '',
    `\n${sourceLines(registry)}`,
    `\n${problemLines([...kernel.problems(), ...registry.problems()])}`,
    modelReady
      ? ''
      : '\nNo model is set: set MODEL_BASE_URL, MODEL_API_KEY and MODEL_NAME to talk. Everything else works.',
    '\nType /help for the commands, /context <text> to see what an agent would see.',
  ]
    .filter((part) => part !== '')
    .join('\n');
}

// --- internal ---

const WATCHING = {
  events: (seconds: number) => `watched by file events, and every ${seconds} s`,
  poll: (seconds: number) => `looked at every ${seconds} s`,
  off: () => 'not watched; /skills reload looks again',
} as const;

function sourceLines(registry: SkillRegistry): string {
  const how = WATCHING[registry.admin.watching()](registry.config.watch.interval_seconds);
  const lines = registry
    .snapshot()
    .sources.map(({ id, location, skills }) => `  ${id}: ${skills} skill(s) in ${onOneLine(location)}`);
  return [`Sources (${how}):`, ...lines].join('\n');
}

/** A name may have line ends in it. */
function onOneLine(path: string): string {
  return printable(path).replace(/\n/g, '\\n');
}

function problemLines(problems: readonly Problem[]): string {
  if (problems.length === 0) return 'Problems: none';
  const lines = problems.map(({ severity, code, file, line, message }) => {
    return `  ${severity} ${code} ${onOneLine(file)}${line ? `:${line}` : ''}\n    ${printable(message)}`;
  });
  return [`Problems (${problems.length}):`, ...lines].join('\n');
}
