import type { Problem } from 'skill-registry/kernel';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import { commands } from './commands/index.ts';
import { PROFILES } from './profiles.ts';

/** Checks of skills against profiles, properties and prompt blocks. */
export const validate: Feature = {
  id: 'validate',
  profiles: PROFILES,
  open,
  commands: async () => commands,
};

// --- internal ---

function open(core: Core): Opened {
  const hiddenTextProblems = async (): Promise<readonly Problem[]> => {
    core.assertOpen();
    const { hiddenTextOf } = await import('./text-findings.ts');
    return hiddenTextOf(core.catalog.snapshot(), core.reading);
  };
  return {
    admin: { hiddenTextProblems },
    reviewPages: async () => ({ problemsInFiles: hiddenTextProblems }),
  };
}
