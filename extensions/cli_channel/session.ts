import { randomUUID } from 'node:crypto';
import {
  type AgentResponse,
  type CommandResult,
  type Conversation,
  describeError,
  type ExtensionStatus,
  type KernelApi,
  type Problem,
  type TurnContext,
} from 'skill-registry/kernel';
import {
  aboutTokens,
  countedWords,
  foldWords,
  formatTable,
  forTerminal,
  hasColour,
  printable,
  type Window,
} from '../../lib/text/index.ts';
import type { SkillRegistry } from '../skill_registry/api.ts';
import type { Answer } from './answer.ts';

export interface SessionOptions {
  readonly kernel: KernelApi;
  /** The agent at the beginning. */
  readonly agentId: string;
  write(text: string): void;
  /** The window as it is now: answers are rendered and wrapped. Undefined for a pipe: they are written as they are. */
  window(): Window | undefined;
  /** Called when a new conversation begins, except for the first one. */
  onNewConversation(): void;
}

/** The session of one person at one terminal. */
export interface Session {
  /** Handles one line. @returns False when the person wants to quit. */
  handle(line: string): Promise<boolean>;
  /** The completions of a line, and the part that they replace. */
  complete(line: string): [string[], string];
  /** Cancels the running turn. @returns False when there is none. */
  cancel(): boolean;
}

const STOPPED: Readonly<Record<AgentResponse['stopped'], string>> = {
  done: '',
  cancelled: '[cancelled]',
  max_turns: '[stopped: the agent reached limits.max_turns of its manifest]',
  max_tokens:
    '[stopped: the agent reached limits.max_tokens_per_invocation of its manifest, or the model its output limit]',
  time_budget: '[stopped: the agent reached limits.time_budget_ms of its manifest]',
};

export function createSession({ kernel, agentId, write, window, onNewConversation }: SessionOptions): Session {
  let agent = agentId;
  let conversation: Conversation = [];
  let threadId: string = randomUUID();
  let running: AbortController | undefined;

  const turn = (): TurnContext => ({ agentId: agent, channelId: 'cli_channel', threadId });
  const startOver = (): void => {
    conversation = [];
    threadId = randomUUID();
    onNewConversation();
  };

  const print = (text: string): void => {
    const shown = printable(text);
    const here = window();
    write(`${here ? forTerminal(shown, here, true) : shown}\n`);
  };

  const say = async (message: string): Promise<void> => {
    const abort = new AbortController();
    running = abort;
    const answer = window() ? await renderedAnswer(write, window) : rawAnswer(write);
    try {
      const response = await kernel.invokeAgent(agent, message, {
        turn: turn(),
        conversation,
        signal: abort.signal,
        onText: (text) => answer.add(text),
        onToolCall(name, args) {
          answer.end();
          print(`[${name} ${shorten(JSON.stringify(args) ?? '')}]`);
        },
      });
      conversation = response.conversation;
      answer.end();
      if (STOPPED[response.stopped]) print(STOPPED[response.stopped]);
    } catch (error) {
      answer.end();
      print(describeError(error));
    } finally {
      running = undefined;
    }
  };

  const follow = async (result: CommandResult): Promise<boolean> => {
    switch (result.kind) {
      case 'print': {
        const { columns } = window() ?? {};
        print(columns && result.atWidth ? result.atWidth(columns) : result.text);
        return true;
      }
      case 'send':
        await say(result.message);
        return true;
      case 'new':
        startOver();
        print('New conversation.');
        return true;
      case 'agent':
        agent = result.agentId;
        startOver();
        print(`You are talking to ${agent} now.`);
        return true;
      case 'quit':
        return false;
    }
  };

  return {
    async handle(line) {
      const text = line.trim();
      if (text === '') return true;
      if (!text.startsWith('/')) {
        await say(text);
        return true;
      }
      try {
        return await follow(await kernel.runCommand(text, turn()));
      } catch (error) {
        print(describeError(error));
        return true;
      }
    },
    complete(line) {
      if (!line.startsWith('/')) return [[], line];
      const lines = kernel
        .commands()
        // Aliases are not offered after a slash alone: every command would be listed twice.
        .flatMap(({ name, aliases = [], choices = [] }) => [
          ...[name, ...(line === '/' ? [] : aliases)].map((one) => `/${one}`),
          ...choices.map((choice) => `/${name} ${choice}`),
        ]);
      return [[...new Set(lines)].filter((candidate) => candidate.startsWith(line)).sort(), line];
    },
    cancel() {
      running?.abort();
      return running !== undefined;
    },
  };
}

export interface GreetingOptions {
  readonly kernel: KernelApi;
  readonly registry: SkillRegistry;
  readonly rootDir: string;
  readonly modelReady: boolean;
  /** Columns of the terminal; absent: nothing is cut. */
  readonly width: number | undefined;
}

/** With more skills, tokens are counted in the background, and estimated until then. */
const COUNT_UP_TO = 200;
/** With more skills than this, the first ones are named. */
const MANY_SKILLS = 60;
const FIRST_SKILLS = 20;
/** With more problems than this, they are counted by code. */
const MANY_PROBLEMS = 20;

/** The first text that a person sees: the catalog, the sources, the problems, and the next steps. */
export async function greeting({ kernel, registry, rootDir, modelReady, width }: GreetingOptions): Promise<string> {
  const { skills, byQualifiedId } = registry.snapshot();
  const kept = [...byQualifiedId.values()].filter(({ heldBecause }) => heldBecause !== undefined).length;
  const { skills: waiting = 0 } = registry.problems().find(({ code }) => code === 'SKILL_NOT_INSPECTED')?.details ?? {};
  const held = kept - Number(waiting);
  const taken = byQualifiedId.size - skills.length;
  const counts = await registry.admin.tokenCounts({ atMost: COUNT_UP_TO });
  const shown = skills.length > MANY_SKILLS ? skills.slice(0, FIRST_SKILLS) : skills;
  const rows = shown.map(({ id, description, bytes, remote }) => {
    const { l1, l2 } = counts.get(id) ?? { l1: null, l2: null };
    const line = l1 ?? aboutTokens(id.length + description.length);
    const body = l2 ?? (remote ? '-' : aboutTokens(bytes - description.length));
    return [id, line, body, registry.admin.resources(id).length + 1, description];
  });
  const more = skills.length - shown.length;
  const table = formatTable(['SKILL', 'L1', 'L2', 'FILES', 'DESCRIPTION'], rows, width);
  const catalog = more > 0 ? `${table}\n... ${more} more: /skills <words> finds them` : table;
  const states = kernel.extensions().map(({ state }) => STATE_WORDS[state]);
  return [
    foldWords(
      `skill-registry: ${skills.length} skill(s)${taken > 0 ? ` (and ${taken} whose id another one has)` : ''}${held > 0 ? ` (${held} held)` : ''}${Number(waiting) > 0 ? ` (${waiting} not inspected yet)` : ''}; ${states.length} extension(s): ${countedWords(states)}; root ${onOneLine(rootDir)}`,
      width,
    ),
    skills.length > 0 ? `\n${catalog}\n\n${foldWords(COUNTS_EXPLAINED, width)}` : '',
    `\n${sourceLines(registry)}`,
    `\n${foldWords(problemLines([...kernel.problems(), ...registry.problems()]), width)}`,
    modelReady ? '' : foldWords(`\n${NO_MODEL}`, width),
    foldWords('\nType /help for the commands, /context <text> to see what an agent would see.', width),
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

const COUNTS_EXPLAINED = 'L1: tokens of the line every agent sees. L2: tokens of the instructions. ~: an estimate.';
const NO_MODEL = 'No model is set: set MODEL_BASE_URL, MODEL_API_KEY and MODEL_NAME to talk. Everything else works.';

/** Its packages are loaded for the first answer. */
async function renderedAnswer(write: SessionOptions['write'], window: SessionOptions['window']): Promise<Answer> {
  const { createAnswer } = await import('./answer.ts');
  return createAnswer({
    write,
    columns: () => window()?.columns ?? 80,
    isColoured: hasColour(window()?.environment ?? {}),
  });
}

function rawAnswer(write: SessionOptions['write']): Answer {
  let isMidLine = false;
  return {
    add(text) {
      write(printable(text));
      isMidLine = !text.endsWith('\n');
    },
    end() {
      if (isMidLine) write('\n');
      isMidLine = false;
    },
  };
}

function shorten(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}

const WATCHING = {
  events: (seconds: number) => `watched by file events, and every ${seconds} s`,
  poll: (seconds: number) => `checked every ${seconds} s`,
  off: () => 'not watched; /skills reload reads them again',
} as const;

function sourceLines(registry: SkillRegistry): string {
  const how = WATCHING[registry.admin.watching()](registry.config.watch.interval_seconds);
  const lines = registry
    .snapshot()
    .sources.map(({ id, location, skills }) => `  ${id}: ${skills} skill(s) in ${onOneLine(location)}`);
  return [`Sources (${how}):`, ...lines].join('\n');
}

/** A path on one line: a name may contain line ends. */
function onOneLine(path: string): string {
  return printable(path).replace(/\n/g, '\\n');
}

function problemLines(problems: readonly Problem[]): string {
  if (problems.length === 0) return 'Problems: none';
  const lines = problems.length > MANY_PROBLEMS ? problemCounts(problems) : problems.map(problemLine);
  return [`Problems (${problems.length}):`, ...lines].join('\n');
}

function problemLine({ severity, code, file, line, message }: Problem): string {
  return `  ${severity} ${code} ${onOneLine(file)}${line ? `:${line}` : ''}\n    ${printable(message)}`;
}

/** Errors first, then the most frequent. */
function problemCounts(problems: readonly Problem[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { severity, code } of problems)
    counts.set(`${severity} ${code}`, (counts.get(`${severity} ${code}`) ?? 0) + 1);
  const rank = (key: string): number => (key.startsWith('error') ? 1e9 : 0) + (counts.get(key) ?? 0);
  const lines = [...counts.keys()].sort((a, b) => rank(b) - rank(a)).map((key) => `  ${key} (${counts.get(key)})`);
  return [...lines, '  skill-registry doctor prints them, with what to do'];
}
