import type { Rule } from '../rule.ts';
import { ACCESS } from './access.ts';
import { DESTRUCTION } from './destruction.ts';
import { DOWNLOAD_AND_RUN } from './download-and-run.ts';
import { FILES } from './files.ts';
import { HIDDEN_COMMANDS } from './hidden-commands.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { LURES } from './lures.ts';
import { PERSISTENCE } from './persistence.ts';
import { SECRETS } from './secrets.ts';
import { UNREQUESTED_WORK } from './unrequested-work.ts';

/** In the order of docs/security.md. */
export const RULES: readonly Rule[] = [
  LURES,
  DOWNLOAD_AND_RUN,
  HIDDEN_COMMANDS,
  SECRETS,
  INSTRUCTIONS,
  ACCESS,
  UNREQUESTED_WORK,
  PERSISTENCE,
  DESTRUCTION,
  FILES,
].flat();
