import { join } from 'node:path';
import { readNamedFile } from '../../lib/files/index.ts';
import type { AgentManifest } from '../boot/manifest.ts';
import type { SkillProvider } from '../contract.ts';
import { renderTemplate } from './render-template.ts';

const MAX_PROMPT_BYTES = 1_048_576;

export interface InstructionSources {
  /** Folder that may hold prompt.md or prompt.jinja2; the first that exists is taken. */
  readonly extensionDir: string;
  readonly agent: AgentManifest;
  /** Where the bodies of `uses_skills` come from; needed only when there are some. */
  readonly skills: SkillProvider | undefined;
  /** What a prompt.jinja2 may use. An undefined name in it is an error. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * The instructions of an agent: prompt file, then the body of each bound skill in order, then inline `instructions`.
 *
 * Asked anew for every invocation, so an edited skill or prompt is in the next one. Rejects with what
 * `getSkillContent` rejects with (SKILL_NOT_FOUND), or when the template does not render.
 */
export async function composeInstructions({
  extensionDir,
  agent,
  skills,
  variables,
}: InstructionSources): Promise<string> {
  const prompt = await readPrompt(extensionDir, variables);
  const bodies: string[] = [];
  for (const skillId of agent.uses_skills ?? []) {
    if (!skills) throw new Error(`uses_skills names "${skillId}", but no running extension provides skills`);
    bodies.push(`[Skill: ${skillId}]\n\n${await skills.getSkillContent(skillId)}`);
  }
  return [prompt, ...bodies, agent.instructions?.trim()].filter(Boolean).join('\n\n');
}

// --- internal ---

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
