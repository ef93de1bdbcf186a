/** Public types of publishing. No code. */

/** Gives skills to other machines. */
export interface Publishing {
  /**
   * Makes a folder that any web server can serve as a page with skills (`/.well-known/agent-skills/index.json`, version
   * 0.2.0). The same skills give the same bytes. More skills than such an index may have, up to 100,000, are in parts
   * of it, which this registry reads. A server may be serving the folder meanwhile: it serves all of the old or all of
   * the new.
   *
   * Files that `readResource` does not hand out are left out. A draft, and a skill with a finding of the level `block`,
   * is refused, also when somebody allowed it here. A skill with a key or token in it is refused until a person has
   * allowed that (`decideTrust`).
   *
   * @throws PUBLISH_REFUSED when a named skill is refused, no skill is left, or there are more than a page may have;
   *   SKILL_NOT_FOUND; INVALID_ARGUMENT for a folder that is in a source, or is neither empty nor made by this;
   *   WRITE_FAILED.
   */
  publish(options: PublishOptions): Promise<Published>;
}

export interface PublishOptions {
  /** The folder to serve, absolute or relative to the root: a new or empty one, or one that was published before. */
  readonly to: string;
  /**
   * Ids or qualified ids of the skills. The page has these alone afterwards. Default: all skills of the root, which
   * leaves out those of packages, of pages, of MCP servers, of this package, and of folders in the home directory that
   * a preset names.
   */
  readonly ids?: readonly string[] | undefined;
}

/** What a page has after it was published. */
export interface Published {
  /** Real path of the folder. */
  readonly to: string;
  /** By name. */
  readonly skills: readonly PublishedSkill[];
  /** How many of them `index.json` itself names, which is what other programs see; ours see all. */
  readonly inIndex: number;
  /** In how many parts all of them are named; 0 when the index has room for them. */
  readonly parts: number;
  /** Skills of the root that may not be published. Empty when ids were given: then nothing is written. */
  readonly refused: readonly NotPublished[];
  /** Skills that are not of the root and were not named. */
  readonly notOfRoot: readonly string[];
  /** Names that the page had before, and has no more. */
  readonly removed: readonly string[];
}

export interface PublishedSkill {
  /** The id of the skill. */
  readonly name: string;
  /** `skill-md`: SKILL.md alone; `archive`: a .tar.gz of all its files. */
  readonly type: 'skill-md' | 'archive';
  /** `sha256:<64 hex>` of the artifact. */
  readonly digest: string;
  /** Of the artifact, relative to index.json. */
  readonly url: string;
  /** Of the artifact. */
  readonly bytes: number;
  /** How many files were left out because they are never handed out. */
  readonly leftOut: number;
  /** Paths of the links and devices in it, which are not followed: what they lead to is left out, too. */
  readonly links: readonly string[];
  /** The page did not have this artifact before. */
  readonly changed: boolean;
}

export interface NotPublished {
  readonly skillId: string;
  readonly reason: string;
}
