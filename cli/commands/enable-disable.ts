import { declaredTurn } from '../../kernel/host.ts';
import { openRegistry } from '../open-registry.ts';
import { actorOf, type Options, type Terminal } from '../terminal.ts';

interface EnableOptions extends Options {
  readonly agent?: string;
}

export async function enable(id: string, options: EnableOptions, terminal: Terminal): Promise<void> {
  const actor = actorOf(options, terminal);
  const { root, trusted, registry } = await openRegistry(options, terminal);
  const { agent } = options;
  const done = await registry.admin.setDisabled({ skill: id, agent }, false, actor);
  // The entry of an agent that no longer exists can be removed. Any other unknown agent is refused.
  if (agent !== undefined && !done.changed) await declaredTurn(root, agent, trusted);
  sayState(id, agent, false, done, terminal);
}

export async function disable(id: string, options: EnableOptions, terminal: Terminal): Promise<void> {
  const actor = actorOf(options, terminal);
  const { root, trusted, registry } = await openRegistry(options, terminal);
  const { agent } = options;
  if (agent !== undefined) {
    registry.admin.resources(id);
    await declaredTurn(root, agent, trusted);
  }
  sayState(id, agent, true, await registry.admin.setDisabled({ skill: id, agent }, true, actor), terminal);
}

// --- internal ---

function sayState(
  id: string,
  agent: string | undefined,
  disabled: boolean,
  { file, changed }: { readonly file: string; readonly changed: boolean },
  { print, say }: Terminal,
): void {
  print({ skill_id: id, agent: agent ?? null, disabled, changed, file });
  const when = changed ? `: ${file}. What is running uses this after its next start.` : ' already';
  say(`${id} is ${disabled ? 'disabled' : 'enabled'} for ${agent ?? 'every agent'}${when}`);
}
