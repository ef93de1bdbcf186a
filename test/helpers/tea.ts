import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OpenRegistry, openRegistry } from './open-registry.ts';
import type { Tree } from './temp-folder.ts';

/** A skill to change, and a registry over it. */
export const TEA =
  '---\nname: tea\ndescription: Brews tea.\n---\n\n# Tea\n\nWarm the pot.\nBoil water.\nSteep for two minutes.\nServe.\n\n## Cleaning\n\nRinse the pot.\n';

/** TEA with one line changed. */
export const LONGER: string = TEA.replace('two minutes', 'three minutes');

export const ADA = { by: 'person:ada' } as const;

export interface TeaRegistry extends OpenRegistry {
  /** SKILL.md of the skill as it is on disk. */
  tea(): string;
  /** Proposes a whole new text. @returns the id. */
  propose(content: string): Promise<string>;
}

export async function teaRegistry(
  tree: Tree = {},
  config: Readonly<Record<string, unknown>> = {},
): Promise<TeaRegistry> {
  const opened = await openRegistry({ 'skills/tea/SKILL.md': TEA, ...tree }, config);
  return {
    ...opened,
    tea: () => readFileSync(join(opened.root, 'skills/tea/SKILL.md'), 'utf8'),
    async propose(content) {
      const input = { skillId: 'tea', content, justification: 'It was weak.', author: 'agent:brewer' };
      return (await opened.registry.proposals.propose(input)).proposalId;
    },
  };
}
