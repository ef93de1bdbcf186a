import type { Feature } from './core/seams.ts';
import { dialects } from './features/dialects/door.ts';
import { evaluate } from './features/evaluate/door.ts';
import { guard } from './features/guard/door.ts';
import { history } from './features/history/door.ts';
import { install } from './features/install/door.ts';
import { mcpSource } from './features/mcp_source/door.ts';
import { meaning } from './features/meaning/door.ts';
import { packs } from './features/packs/door.ts';
import { pages } from './features/pages/door.ts';
import { proposals } from './features/proposals/door.ts';
import { usage } from './features/usage/door.ts';
import { validate } from './features/validate/door.ts';

/** Each after those that it needs. Whoever deletes one deletes its folder and its lines here. */
export const features: readonly Feature[] = [
  guard,
  validate,
  history,
  proposals,
  install,
  pages,
  mcpSource,
  packs,
  evaluate,
  usage,
  meaning,
  dialects,
];
