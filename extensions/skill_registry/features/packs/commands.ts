import type { Options } from '../../../../lib/command-line/index.ts';
import type { AddedOptions, FeatureCommands } from '../../core/command-line.ts';
import { workflowStateNamed } from './workflow/workflows.ts';

export const commands: FeatureCommands = {
  options: [
    workflowOf('list', 'what an agent sees in this state of a prompt pack’s workflow'),
    workflowOf('mcp', 'serve only the skills of this state of a prompt pack’s workflow'),
  ],
  checkFile: {
    isMeant: (path) => /\.json$/i.test(path),
    check: async (...given) => (await import('./check-pack.ts')).checkPack(...given),
  },
  async turn({ workflow }: Options & { readonly workflow?: string }, registry) {
    if (workflow === undefined) return {};
    return { workflowState: workflowStateNamed(registry.snapshot(), workflow) };
  },
};

// --- internal ---

function workflowOf(command: string, description: string): AddedOptions {
  return { command, order: 1, add: (to) => to.option('--workflow <pack[:state]>', description) };
}
