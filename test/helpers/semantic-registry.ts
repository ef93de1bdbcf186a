import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import type { Problem } from 'skill-registry/kernel';
import { onTestFinished } from 'vitest';
import type { ListedSkill } from '../../extensions/skill_registry/api.ts';
import type { EmbeddingsServer } from './embeddings-server.ts';
import { skillMd, type Tree, tempFolder } from './temp-folder.ts';

/** Skills of a small town; none of them shares a word with "car" or "bill". */
export const TOWN: Tree = {
  'data/.keep': '',
  ...skill('garage', 'Overhaul an automobile of any make.'),
  ...skill('accounts', 'Write an invoice and chase late payers.'),
  ...skill('surgery', 'Find a physician who is open at night.'),
  ...skill('gardening', 'Prune roses, hedges and fruit trees.'),
  ...skill('weather', 'Read a barometer and warn of storms.'),
};

export function skill(id: string, description: string, body = 'Do it well.'): Tree {
  return { [`skills/${id}/SKILL.md`]: skillMd({ name: id, description }, body) };
}

export interface SemanticRegistry {
  readonly root: string;
  readonly registry: SkillRegistry;
  /** Told so far, oldest first. */
  readonly told: readonly Problem[];
  readonly progress: readonly string[];
}

export interface SemanticOptions {
  /** Default: a new one with `TOWN`. */
  readonly root?: string;
  readonly tree?: Tree;
  readonly embeddings?: Readonly<Record<string, unknown>>;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, string>>;
}

/** A registry over `skills/` of a root that asks this server; closed when the test has finished. A query may take its time. */
export async function semanticRegistry(
  server: Pick<EmbeddingsServer, 'baseUrl'>,
  { root = tempFolder(TOWN), tree, embeddings = {}, config = {}, secrets = {} }: SemanticOptions = {},
): Promise<SemanticRegistry> {
  const folder = tree ? tempFolder(tree) : root;
  const told: Problem[] = [];
  const progress: string[] = [];
  const registry = await createSkillRegistry({
    root: folder,
    config: {
      sources: [{ path: 'skills' }],
      embeddings: { base_url: server.baseUrl, model: 'words-1', timeout_ms: 1500, ...embeddings },
      ...config,
    },
    getSecret: (name) => secrets[name],
    onProblem: (problem) => told.push(problem),
    onProgress: (line) => progress.push(line),
  });
  await registry.admin.inspectSkills();
  onTestFinished(() => registry.close());
  return { root: folder, registry, told, progress };
}

/** What a model finds that waits for the endpoint as the tool does. */
export async function find(registry: SkillRegistry, query: string): Promise<readonly ListedSkill[]> {
  await registry.admin.prepareSearch(query);
  return registry.list({ query, why: true }).skills;
}

export function idsOf(skills: readonly ListedSkill[]): readonly string[] {
  return skills.map(({ skillId }) => skillId);
}

export function cacheFile(root: string): string {
  return join(root, 'data', 'skill_registry', 'cache.db');
}
