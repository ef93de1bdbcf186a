/** How strictly a SKILL.md is read: `lenient` loads all that can be loaded. Features add theirs. */
export interface ProfileNames {
  readonly lenient: true;
}

export type ValidationProfile = keyof ProfileNames;

export interface Violation {
  readonly message: string;
  /** 1-based line of the field; 1 without such a field. */
  readonly line: number;
  /** Profile and field for programs: `agentskills/name`. Undefined for what only the reference refuses. */
  readonly rule?: string;
}

/** A SKILL.md as it lies on disk. */
export interface FileToCheck {
  /** Why its bytes are no UTF-8, and the line of the first that is not. */
  readonly refusal: string | undefined;
  readonly invalidLine: number;
  /** As it was found; undefined for a file that is a skill by itself. */
  readonly dir: string | undefined;
  readonly realDir: string;
}

/** Rules beyond what loading needs. */
export interface Profile {
  readonly name: ValidationProfile;
  /** Of problems. */
  readonly code: string;
  /**
   * A file with a violation makes no skill. `declaresFiles`: other files were checked, so the result can change.
   * @param name - Of its folder; of the file, where that is a skill by itself. @param file - Default: the text alone.
   */
  check(
    text: string,
    name: string,
    file?: FileToCheck,
  ): { readonly violations: readonly Violation[]; readonly declaresFiles?: boolean };
}
