import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readNamedFile } from '../../lib/files/index.ts';
import { delimited, withNote, withoutHidden } from '../../lib/text/index.ts';
import type { FoundExtension } from '../boot/discover.ts';
import { problemOf, provides } from '../boot/extension-record.ts';
import type { KernelState } from '../boot/kernel-state.ts';
import type { AgentManifest } from '../boot/manifest.ts';
import type { ContextProvider, SkillProvider, TurnContext } from '../contract.ts';
import { describeError, withFallback } from '../errors.ts';
import { DeadlineError, withDeadline } from './deadline.ts';

export const PART_SEPARATOR = '\n\n---\n\n';

/**
 * Prompt file, bodies of bound skills in order, inline `instructions`; composed for each invocation, so that changes
 * count. Lines around each body cannot occur in it (`delimited`).
 * @throws As `getSkillContent` (SKILL_NOT_FOUND), and when the template cannot be rendered.
 */
export async function composeInstructions(
  { manifest: { id, name, description, agent }, dir }: FoundExtension,
  skills: Pick<SkillProvider, 'getSkillContent'> | undefined,
  rootDir: string,
  turn: TurnContext,
): Promise<string> {
  const prompt = await readPrompt(dir, { agent: { id, name, description }, root_dir: rootDir });
  const bodies: string[] = [];
  for (const skillId of boundSkillIds(agent) ?? []) {
    if (!skills) throw new Error(`uses_skills names "${skillId}", but no running extension provides skills`);
    const body = await skills.getSkillContent(skillId, turn);
    if (body !== '') bodies.push(delimited(`Skill: ${skillId}`, body));
  }
  return [cleanText(prompt), ...bodies, cleanText(agent?.instructions?.trim())].filter(Boolean).join('\n\n');
}

/** Without `*`, which means that the agent also sees all other skills. */
export function boundSkillIds(agent: AgentManifest | undefined): readonly string[] | undefined {
  return agent?.uses_skills?.filter((id) => id !== '*');
}

/** In ascending priority, all at the same time. Reports a provider that fails or is slower than `budgets.context`. */
export async function collectContext(
  { running, budgets, messages }: Pick<KernelState, 'running' | 'budgets' | 'messages'>,
  prompt: string,
  turn: TurnContext,
): Promise<readonly { source: string; text: string }[]> {
  const providers = running().flatMap(({ instance, found }) =>
    provides<ContextProvider>(instance, 'getContext') ? [{ found, provider: instance }] : [],
  );
  const ordered = providers.sort((a, b) => priorityOf(a.provider) - priorityOf(b.provider));
  const parts = await Promise.all(
    ordered.map(async ({ found, provider }) => {
      try {
        const asked = Promise.resolve().then(() => provider.getContext(prompt, turn));
        const text = await withDeadline(asked, budgets.context);
        if (text !== null && typeof text !== 'string')
          throw new TypeError(`getContext gave ${typeof text}, expected text or null`);
        return text ? [{ source: found.manifest.id, text: cleanText(text) }] : [];
      } catch (error) {
        const code = error instanceof DeadlineError ? 'CONTEXT_PROVIDER_TIMEOUT' : 'CONTEXT_PROVIDER_FAILED';
        const what = `gave no context for a turn (${describeError(error)}); the turn continued without it. Correct its getContext`;
        messages.report(problemOf(found, code, what));
        return [];
      }
    }),
  );
  return parts.flat();
}

/**
 * Escapes nothing: the text goes to a model, not into HTML. @throws When the template is not valid Jinja.
 * @param strict - Throws for an undefined name, which else is an empty text. Undefined members are always empty.
 */
export async function renderTemplate(
  template: string,
  variables: Readonly<Record<string, unknown>>,
  strict: boolean,
): Promise<string> {
  const { Environment, Interpreter, parse, tokenize } = await import('@huggingface/jinja');
  const program = parse(tokenize(template, { lstrip_blocks: true, trim_blocks: true }));
  const environment = new Environment();
  // A new environment lacks the constants of the language.
  for (const [name, value] of Object.entries({ false: false, true: true, none: null, ...variables })) {
    environment.set(name, value);
  }
  if (strict) {
    const lookUp = environment.lookupVariable.bind(environment);
    environment.lookupVariable = (name: string) => {
      const value = lookUp(name);
      if (value.type === 'UndefinedValue')
        throw new Error(`"${name}" in the template is undefined. It may use ${Object.keys(variables).join(', ')}`);
      return value;
    };
  }
  const result = new Interpreter(environment).run(program) as { readonly value: unknown };
  return String(result.value).trim();
}

// --- internal ---

function cleanText(text: string | undefined = ''): string {
  return withNote(withoutHidden(text));
}

const MAX_PROMPT_BYTES = 1_048_576;

async function readPrompt(dir: string, variables: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  const [markdown, template] = [join(dir, 'prompt.md'), join(dir, 'prompt.jinja2')];
  if (existsSync(markdown)) return readPromptFile(markdown).trim();
  return existsSync(template) ? renderTemplate(readPromptFile(template), variables, true) : undefined;
}

function readPromptFile(file: string): string {
  return readNamedFile(file, MAX_PROMPT_BYTES).toString('utf8');
}

function priorityOf(provider: ContextProvider): number {
  const priority = withFallback(() => provider.contextPriority);
  return Number.isFinite(priority) ? (priority as number) : 100;
}
