import { agents } from './agents.mjs';
import { changes } from './changes.mjs';
import { evidence } from './evidence.mjs';
import { fetched } from './fetched.mjs';
import { held } from './held.mjs';
import { heldCode } from './held-code.mjs';
import { hub } from './hub.mjs';
import { hubMachines } from './hub-machines.mjs';
import { hubPeople } from './hub-people.mjs';
import { inspections } from './inspections.mjs';
import { mcpSources } from './mcp-sources.mjs';
import { origins } from './origins.mjs';
import { pages } from './pages.mjs';
import { paths } from './paths.mjs';
import { policies } from './policies.mjs';
import { presets } from './presets.mjs';
import { proposals } from './proposals.mjs';
import { reach } from './reach.mjs';
import { reviewPage } from './review-page.mjs';
import { seams } from './seams.mjs';
import { shown } from './shown.mjs';
import { trust } from './trust.mjs';
import { trustFile } from './trust-file.mjs';
import { usage } from './usage.mjs';
import { waysBack } from './ways-back.mjs';

/**
 * Faults in what guards a person's text, machine and secrets, and the test that sees each.
 *
 * title: what is wrong then. in, and an operator: where, and what happens there (operators.mjs). test: a part of the title of one test,
 * with those of its groups before it. build: the test uses dist/.
 */
export const faults = [
  ...changes,
  ...policies,
  ...presets,
  ...proposals,
  ...paths,
  ...pages,
  ...trust,
  ...trustFile,
  ...held,
  ...heldCode,
  ...inspections,
  ...seams,
  ...shown,
  ...mcpSources,
  ...fetched,
  ...origins,
  ...evidence,
  ...usage,
  ...reach,
  ...reviewPage,
  ...waysBack,
  ...agents,
  ...hub,
  ...hubMachines,
  ...hubPeople,
];
