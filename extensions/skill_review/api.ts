import type { SkillRegistry } from '../skill_registry/api.ts';

export interface TeamPagesOptions {
  readonly registry: SkillRegistry;
  /** Shown at the end of each page. */
  readonly name: string;
  readonly onError: (error: Error) => void;
}

/** A person whom a server has let in. */
export interface Admitted {
  /** `person:<name>` */
  readonly by: string;
  /** Every form of the session sends it back. */
  readonly csrf: string;
}

export interface TeamPages {
  answer(request: Request, admitted: Admitted): Promise<Response>;
  close(): void;
}
