/** For the command only, not an export of the package. */
import { homedir } from 'node:os';
import type { Problem } from 'skill-registry/kernel';
import { registryConfig } from './config.ts';
import type { Snapshot } from './core/catalog/snapshot.ts';
import type { ConfigReader } from './core/config/read-config.ts';
import type { Skill } from './core/skill/skill.ts';

export type * from './api.ts';
/** Of a root without a config file, for whoever starts a kernel. */
export { presetSources } from './core/config/config-keys.ts';
export { ownerFile } from './core/config/owner-file.ts';
export type { InternalOptions } from './core/options.ts';
export { startConfig } from './start-config.ts';
export { trySkill } from './try-skill.ts';

export const configOfUntrustedRoot: ConfigReader['ofUntrustedRoot'] = registryConfig.ofUntrustedRoot;

/** For each skill the agents that look at a folder in which it lies, by whatever link. */
export async function looksHere(
  root: string,
  { byQualifiedId }: Snapshot,
): Promise<(skill: Skill) => readonly string[]> {
  const { createLooksHere } = await import('./core/sources/agent-folders.ts');
  const of = createLooksHere(root);
  const byFile = new Map<string, Set<string>>();
  for (const { file, realFile } of byQualifiedId.values()) {
    const known = byFile.get(realFile ?? file) ?? new Set();
    byFile.set(realFile ?? file, known);
    for (const agent of of(file)) known.add(agent);
  }
  return ({ file, realFile }) => [...(byFile.get(realFile ?? file) ?? [])];
}

/** Skills of the person whose id a skill of the project has, with other files; a sentence each. */
export async function hiddenOfPerson(problems: readonly Problem[]): Promise<readonly string[]> {
  const { homeFolders } = await import('./core/sources/agent-folders.ts');
  const folders = homeFolders(homedir());
  const isOfPerson = (file: unknown): boolean => folders.some((folder) => String(file).startsWith(`${folder}/`));
  return problems.flatMap(({ code, details: { winner, loser, winner_id, loser_id } = {} }) =>
    code === 'SKILL_ID_TAKEN' && isOfPerson(loser) && !isOfPerson(winner)
      ? [`Your skill ${loser_id} is hidden by ${winner_id}, which has its id (${winner})`]
      : [],
  );
}
