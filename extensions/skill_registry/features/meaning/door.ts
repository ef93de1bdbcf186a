import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import { commands } from './commands.ts';
import { meaningConfig } from './config.ts';
import type { Meaning } from './meaning.ts';
import { VECTORS } from './vector-schema.ts';

/** Search by meaning, with an endpoint for embeddings. */
export const meaning: Feature = {
  id: 'meaning',
  cache: [VECTORS],
  config: meaningConfig,
  open,
  commands: async () => commands,
};

// --- internal ---

async function open(core: Core): Promise<Opened> {
  const { catalog, closing } = core;
  const opened = await meaningOf(core);
  return {
    ...(opened && { meaning: opened }),
    admin: {
      async embedSkills() {
        core.assertOpen();
        const { skills } = catalog.snapshot();
        await opened?.embed(skills, closing.signal);
        return { embedded: opened?.embedded(skills) ?? 0, total: skills.length };
      },
    },
    problems: () => opened?.problems() ?? [],
    catchUp: async (signal) => opened?.keepEmbedded(catalog.snapshot().skills, signal),
    close: () => opened?.close(),
  };
}

/** Undefined without an endpoint. */
async function meaningOf({ admit, cacheFile, config, configFile, hooks, onProblem, openCache, readSkill }: Core) {
  if (config.embeddings.base_url === '') return undefined;
  const { Meaning: Opening } = await import('./meaning.ts');
  const made: Meaning = new Opening({
    config: config.embeddings,
    configFile,
    cacheFile,
    database: openCache,
    readSkill,
    admit,
    onProblems: onProblem,
    getSecret: hooks.getSecret,
    onProgress: hooks.onProgress,
  });
  return made;
}
