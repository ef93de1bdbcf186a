/** The features. To delete one, delete its folder and its lines here. */
import type { Feature } from './core/feature.ts';
import { dialects } from './features/dialects/door.ts';
import { evaluate } from './features/evaluate/door.ts';
import { guard } from './features/guard/door.ts';
import { history } from './features/history/door.ts';
import { hub } from './features/hub/door.ts';
import { install } from './features/install/door.ts';
import { mcpSource } from './features/mcp_source/door.ts';
import { meaning } from './features/meaning/door.ts';
import { packs } from './features/packs/door.ts';
import { pages } from './features/pages/door.ts';
import { policy } from './features/policy/door.ts';
import { proposals } from './features/proposals/door.ts';
import { usage } from './features/usage/door.ts';
import { validate } from './features/validate/door.ts';

export * from './features/dialects/api.ts';
export * from './features/evaluate/api.ts';
export * from './features/guard/api.ts';
export * from './features/history/api.ts';
export * from './features/hub/api.ts';
export * from './features/install/api.ts';
export * from './features/mcp_source/api.ts';
export * from './features/meaning/api.ts';
export * from './features/packs/api.ts';
export * from './features/pages/api.ts';
export * from './features/policy/api.ts';
export * from './features/proposals/api.ts';
export * from './features/usage/api.ts';
export * from './features/validate/api.ts';

const features: readonly Feature[] = [
  validate,
  guard,
  history,
  proposals,
  install,
  pages,
  policy,
  hub,
  mcpSource,
  packs,
  evaluate,
  usage,
  meaning,
  dialects,
];

/** Each after those that it needs. Its type is loose, so that the types of programs do not reach those of the core. */
export default features as readonly unknown[];
