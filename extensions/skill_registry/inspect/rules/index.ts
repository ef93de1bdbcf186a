import type { Rule } from '../rule.ts';
import { DOWNLOAD_AND_RUN } from './download-and-run.ts';
import { HIDDEN_COMMANDS } from './hidden-commands.ts';
import { LURES } from './lures.ts';

/** Every rule, in the order of docs/security.md. */
export const RULES: readonly Rule[] = [...LURES, ...DOWNLOAD_AND_RUN, ...HIDDEN_COMMANDS];
