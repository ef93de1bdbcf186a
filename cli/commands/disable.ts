import type { CommandTerminal as Terminal } from '../../extensions/skill_registry/core/command-line.ts';
import { looksHere } from '../../extensions/skill_registry/host.ts';
import { declaredTurn } from '../../kernel/host.ts';
import { actorOf, type Options } from '../../lib/command-line/index.ts';
import { listed } from '../../lib/text/index.ts';

interface DisableOptions extends Options {
  readonly agent?: string;
  /** The skill is enabled again. */
  readonly off?: boolean;
}

export async function disable(id: string, options: DisableOptions, terminal: Terminal): Promise<void> {
  const actor = actorOf(options, terminal);
  const { root, trusted, registry } = await terminal.openRegistry(options);
  const { agent, off: enabled = false } = options;
  const assertAgent = async (): Promise<void> => {
    if (agent !== undefined) await declaredTurn(root, agent, trusted, registry.admin.agents());
  };
  if (!enabled && agent !== undefined) registry.admin.resources(id);
  if (!enabled) await assertAgent();
  const { file, changed } = await registry.admin.setDisabled({ skill: id, agent }, !enabled, actor);
  // The entry of an agent that no longer exists can be removed. Any other unknown agent is refused.
  if (enabled && !changed) await assertAgent();
  terminal.print({ skill_id: id, agent: agent ?? null, disabled: !enabled, changed, file });
  const when = changed ? `: ${file}. What is running uses this after its next start.` : ' already';
  terminal.say(`${id} is ${enabled ? 'enabled' : 'disabled'} for ${agent ?? 'every agent'}${when}`);
  const skills = registry.snapshot();
  const skill = skills.byId.get(id) ?? skills.byQualifiedId.get(id);
  const looks = skill && !enabled ? (await looksHere(root, skills))(skill) : [];
  if (looks.length > 0) terminal.say(`Programs that look in its folder see it all the same: ${listed(looks, 5)}`);
}
