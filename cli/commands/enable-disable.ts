import type { CommandTerminal as Terminal } from '../../extensions/skill_registry/core/command-line.ts';
import { declaredTurn } from '../../kernel/host.ts';
import { actorOf, type Options } from '../../lib/command-line/index.ts';

type Switch = (id: string, options: Options & { readonly agent?: string }, terminal: Terminal) => Promise<void>;

export const enable: Switch = switching(false);
export const disable: Switch = switching(true);

// --- internal ---

function switching(disabled: boolean): Switch {
  return async (id, options, terminal) => {
    const actor = actorOf(options, terminal);
    const { root, trusted, registry } = await terminal.openRegistry(options);
    const { agent } = options;
    const assertAgent = async (): Promise<void> => {
      if (agent !== undefined) await declaredTurn(root, agent, trusted, registry.admin.agents());
    };
    if (disabled && agent !== undefined) registry.admin.resources(id);
    if (disabled) await assertAgent();
    const { file, changed } = await registry.admin.setDisabled({ skill: id, agent }, disabled, actor);
    // The entry of an agent that no longer exists can be removed. Any other unknown agent is refused.
    if (!disabled && !changed) await assertAgent();
    terminal.print({ skill_id: id, agent: agent ?? null, disabled, changed, file });
    const when = changed ? `: ${file}. What is running uses this after its next start.` : ' already';
    terminal.say(`${id} is ${disabled ? 'disabled' : 'enabled'} for ${agent ?? 'every agent'}${when}`);
  };
}
