import { declaredTurn } from '../../kernel/host.ts';
import { printable } from '../../lib/text/index.ts';
import { openRegistry } from '../open-registry.ts';
import {
  actorOf,
  type DecisionOptions,
  EXIT,
  type ExitStatus,
  type GlobalOptions,
  printJson,
  type Terminal,
} from '../terminal.ts';

export interface EnableOptions extends GlobalOptions, DecisionOptions {
  readonly agent?: string;
}

/** `skill-registry enable|disable <id>`. With `--json`: `{ skill_id, agent: string | null, disabled, changed, file }`. */
export async function setEnabled(
  id: string,
  isEnabled: boolean,
  options: EnableOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const actor = actorOf(options, terminal);
  const { root, trusted, registry } = await openRegistry(options, terminal);
  const { agent } = options;
  if (agent !== undefined && !isEnabled) {
    registry.admin.resources(id);
    await declaredTurn(root, agent, trusted);
  }
  const { file, changed } = await registry.admin.setDisabled({ skill: id, agent }, !isEnabled, actor);
  // An entry of the config for an agent that no longer exists can be removed. Any other unknown agent is refused.
  if (agent !== undefined && isEnabled && !changed) await declaredTurn(root, agent, trusted);
  await registry.close();
  if (options.json) printJson(terminal, { skill_id: id, agent: agent ?? null, disabled: !isEnabled, changed, file });
  const state = isEnabled ? 'enabled' : 'disabled';
  const whom = agent === undefined ? 'every agent' : printable(agent);
  const when = changed ? `: ${printable(file)}. What is running uses this after its next start.` : ' already';
  terminal.err(`${printable(id)} is ${state} for ${whom}${when}\n`);
  return EXIT.done;
}
