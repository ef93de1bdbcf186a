import { type ExitStatus, invalidArgument, type Options } from '../../../../lib/command-line/index.ts';
import type { CommandTerminal, FeatureCommands } from '../../core/command-line.ts';

export const commands: FeatureCommands = {
  unfound: ({ config }) => (config.embeddings.base_url === '' ? TURN_ON : undefined),
  options: [
    {
      command: 'search',
      order: 1,
      add: (search) => search.option('--embed', 'first compute the embeddings that are missing, for search by meaning'),
      before: { embed: async () => embed },
    },
  ],
};

// --- internal ---

const TURN_ON = 'Search by meaning needs embeddings.base_url and embeddings.model in data/skill_registry/config.yaml.';

const NO_ENDPOINT =
  '--embed needs an embeddings endpoint. Set embeddings.base_url and embeddings.model in data/skill_registry/config.yaml.';

async function embed(_query: string, options: Options, terminal: CommandTerminal): Promise<ExitStatus | undefined> {
  const { registry } = await terminal.openRegistry(options, { checksArguments: false });
  if (registry.config.embeddings.base_url === '') throw invalidArgument(NO_ENDPOINT);
  await terminal.during('Embedding skills', registry.admin.embedSkills());
  return undefined;
}
