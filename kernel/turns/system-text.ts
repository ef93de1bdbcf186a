/** The system text of a turn: an agent's instructions, then what the context providers say. */
import { join } from 'node:path';
import { readNamedFile } from '../../lib/files/index.ts';
import { delimited } from '../../lib/text/index.ts';
import type { AgentManifest } from '../boot/manifest.ts';
import type { ContextProvider, SkillProvider, TurnContext } from '../contract.ts';
import { DeadlineError, withDeadline } from './deadline.ts';

/** Between the parts of a system text. */
export const PART_SEPARATOR = '\n\n---\n\n';

export interface InstructionSources {
  /** Folder that may hold prompt.md or prompt.jinja2; the first that exists is taken. */
  readonly extensionDir: string;
  readonly agent: AgentManifest;
  /** Where the bodies of `uses_skills` come from; needed only when there are some. */
  readonly skills: SkillProvider | undefined;
  /** What a prompt.jinja2 may use. An undefined name in it is an error. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly turn: TurnContext;
}

/**
 * The instructions of an agent: prompt file, then the body of each bound skill in order, then inline `instructions`. Where a
 * body begins and ends, nothing in it can imitate.
 *
 * Asked anew for every invocation, so an edited skill or prompt is in the next one. Rejects with what
 * `getSkillContent` rejects with (SKILL_NOT_FOUND), or when the template does not render.
 */
export async function composeInstructions({
  extensionDir,
  agent,
  skills,
  variables,
  turn,
}: InstructionSources): Promise<string> {
  const prompt = await readPrompt(extensionDir, variables);
  const bodies: string[] = [];
  for (const skillId of agent.uses_skills ?? []) {
    if (!skills) throw new Error(`uses_skills names "${skillId}", but no running extension provides skills`);
    const body = await skills.getSkillContent(skillId, turn);
    if (body !== '') bodies.push(delimited(`Skill: ${skillId}`, body));
  }
  return [prompt, ...bodies, agent.instructions?.trim()].filter(Boolean).join('\n\n');
}

export interface NamedContextProvider {
  readonly extensionId: string;
  readonly provider: ContextProvider;
}

export interface ProviderFailure {
  readonly extensionId: string;
  readonly code: 'CONTEXT_PROVIDER_FAILED' | 'CONTEXT_PROVIDER_TIMEOUT';
  readonly error: unknown;
}

/**
 * Asks every provider for its text and returns the texts in ascending priority; equal priorities keep their order.
 *
 * Providers run side by side, each with the whole budget, so a slow one costs a turn at most `budgetMs`.
 *
 * @param onFailure - Told of a provider that throws, rejects, answers something else than text, or does not settle.
 */
export async function collectContext(
  providers: readonly NamedContextProvider[],
  prompt: string,
  turn: TurnContext,
  budgetMs: number,
  onFailure: (failure: ProviderFailure) => void,
): Promise<readonly { source: string; text: string }[]> {
  const ordered = [...providers].sort((a, b) => priorityOf(a) - priorityOf(b));
  const parts = await Promise.all(
    ordered.map(async ({ extensionId, provider }) => {
      try {
        const asked = Promise.resolve().then(() => provider.getContext(prompt, turn));
        const text = await withDeadline(asked, budgetMs);
        if (text !== null && typeof text !== 'string')
          throw new TypeError(`getContext gave ${typeof text}, expected text or null`);
        return text ? [{ source: extensionId, text }] : [];
      } catch (error) {
        const code = error instanceof DeadlineError ? 'CONTEXT_PROVIDER_TIMEOUT' : 'CONTEXT_PROVIDER_FAILED';
        onFailure({ extensionId, code, error });
        return [];
      }
    }),
  );
  return parts.flat();
}

/**
 * Renders a Jinja template. Nothing is escaped: the text goes to a model, not into HTML.
 *
 * @param strict - An undefined name is an error; otherwise it is left empty, as an undefined member always is.
 * @throws when the template is no Jinja, or by `strict`.
 */
export async function renderTemplate(
  template: string,
  variables: Readonly<Record<string, unknown>>,
  strict: boolean,
): Promise<string> {
  const { Environment, Interpreter, parse, tokenize } = await import('@huggingface/jinja');
  const program = parse(tokenize(template, { lstrip_blocks: true, trim_blocks: true }));
  const environment = new Environment();
  // The constants of the language: an environment made by hand has none.
  for (const [name, value] of Object.entries({ false: false, true: true, none: null, ...variables })) {
    environment.set(name, value);
  }
  if (strict) {
    const lookUp = environment.lookupVariable.bind(environment);
    environment.lookupVariable = (name: string) => {
      const value = lookUp(name);
      if (value.type === 'UndefinedValue') throw new Error(`"${name}" in the template is undefined`);
      return value;
    };
  }
  const result = new Interpreter(environment).run(program) as { readonly value: unknown };
  return String(result.value).trim();
}

// --- internal ---

const MAX_PROMPT_BYTES = 1_048_576;

async function readPrompt(dir: string, variables: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  const markdown = await readIfExists(join(dir, 'prompt.md'));
  if (markdown !== undefined) return markdown.trim();
  const template = await readIfExists(join(dir, 'prompt.jinja2'));
  if (template === undefined) return undefined;
  return renderTemplate(template, variables, true);
}

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return readNamedFile(file, MAX_PROMPT_BYTES).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function priorityOf({ provider }: NamedContextProvider): number {
  try {
    const { contextPriority } = provider;
    return Number.isFinite(contextPriority) ? contextPriority : 100;
  } catch {
    return 100;
  }
}
