/** What inspections say of skills, and who decides about it. No code. */

import type { Finding, FindingLevel } from '../../core/skill/guard.ts';
import type { Reached } from './inspect/rule.ts';

export interface SkillTrust {
  readonly skillId: string;
  readonly qualifiedId: string;
  /** `sha256:<64 hex>` over paths, sizes, modes and contents of its files; on an MCP server over its list of them. */
  readonly digest: string;
  /** `own`: in a folder of the user. `brought-in`: installed, or from a package, a pack or an address. */
  readonly origin: 'own' | 'brought-in';
  readonly verdict: FindingLevel;
  /** Most important first. */
  readonly findings: readonly Finding[];
  readonly reach: readonly Reached[];
  /** Why no agent gets it; null when agents do. */
  readonly heldBecause: string | null;
  /** Whether a person has allowed its `block` findings. */
  readonly allowed: boolean;
}

export interface TrustDecision {
  readonly by: string;
  readonly reason?: string | undefined;
  /** The digest that the person was shown. Default: that of the present files. */
  readonly digest?: string | undefined;
}
