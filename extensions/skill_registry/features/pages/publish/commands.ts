import type { FeatureCommands } from '../../../core/command-line.ts';

export const commands: FeatureCommands = {
  add(make) {
    make(['elsewhere', 6], 'publish', '$ --to public', 'publish', () => import('./run-command.ts'))
      .description('make a folder that any web server can serve: other machines then read the skills as a source')
      .argument('[id...]', 'ids or qualified ids (default: all skills of the root)')
      .requiredOption('--to <dir>', 'a new or empty folder, or one that was published before');
  },
};
