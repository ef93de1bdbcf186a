import { CHARACTERS } from './characters.ts';
import { DESTRUCTION } from './destruction.ts';
import { DOWNLOAD_AND_RUN } from './download-and-run.ts';
import { FILES } from './files.ts';
import { HIDDEN_COMMANDS } from './hidden-commands.ts';
import { INSTALL_LURES } from './install-lures.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { KEYS } from './keys.ts';
import { PERMISSIONS } from './permissions.ts';
import { PERSISTENCE } from './persistence.ts';
import type { RuleSamples } from './sample.ts';
import { SECRETS } from './secrets.ts';

const SAMPLES: RuleSamples = {
  ...CHARACTERS,
  ...DESTRUCTION,
  ...DOWNLOAD_AND_RUN,
  ...FILES,
  ...HIDDEN_COMMANDS,
  ...INSTALL_LURES,
  ...INSTRUCTIONS,
  ...KEYS,
  ...PERMISSIONS,
  ...PERSISTENCE,
  ...SECRETS,
};

/** Those of a rule; there are none of a rule that was forgotten, which a test says. */
export function samplesOf(id: string): RuleSamples[string] {
  return SAMPLES[id] ?? { hits: [], misses: [] };
}

/** The ids of all rules that have samples. */
export const SAMPLED: readonly string[] = Object.keys(SAMPLES);
