/** Public types of publishing. */

export interface Publishing {
  /**
   * Makes a folder that any web server can serve as a page with skills (`/.well-known/agent-skills/index.json`, version
   * 0.2.0). The same skills give the same bytes. If the index has no room for all skills (at most 100,000), parts list
   * them all; only this registry reads parts. A server may serve the folder meanwhile: it serves either the old or the
   * new version.
   *
   * Leaves out files that `readResource` does not hand out. Refuses drafts, and skills with a `block` finding, even if
   * allowed here. Refuses a skill with a key or token until a person has allowed it (`decideTrust`).
   *
   * @throws PUBLISH_REFUSED when a named skill is refused, no skill is left, or the page would exceed its limits;
   *   SKILL_NOT_FOUND; INVALID_ARGUMENT for a folder in a source, or one that is neither empty nor made by `publish`;
   *   WRITE_FAILED.
   */
  publish(options: PublishOptions): Promise<Published>;
}

export interface PublishOptions {
  /** Absolute or relative to the root: a new or empty folder, or one that was published before. */
  readonly to: string;
  /**
   * Ids or qualified ids; the page then has only these. Default: all skills of the root, without those of packages,
   * pages, MCP servers, this package, and presets' folders in the home directory.
   */
  readonly ids?: readonly string[] | undefined;
}

export interface Published {
  /** Real path of the folder. */
  readonly to: string;
  /** Sorted by name. */
  readonly skills: readonly PublishedSkill[];
  /** How many of them `index.json` itself has. Other programs see only these. */
  readonly inIndex: number;
  /** Number of index parts; 0 when the index has all skills. */
  readonly parts: number;
  /** Skills of the root that must not be published. Empty when ids were given: then nothing is written. */
  readonly refused: readonly NotPublished[];
  /** Ids of skills that are not of the root and were not named. */
  readonly notOfRoot: readonly string[];
  /** Names that the page had before and no longer has. */
  readonly removed: readonly string[];
}

export interface PublishedSkill {
  /** The id of the skill. */
  readonly name: string;
  /** `skill-md`: SKILL.md alone; `archive`: a .tar.gz of all files. */
  readonly type: 'skill-md' | 'archive';
  /** `sha256:<64 hex>` of the artifact. */
  readonly digest: string;
  /** Of the artifact, relative to index.json. */
  readonly url: string;
  /** Of the artifact. */
  readonly bytes: number;
  /** Number of files that are never handed out. */
  readonly leftOut: number;
  /** Paths of links and devices, which are left out. */
  readonly links: readonly string[];
  /** The page did not have this artifact before. */
  readonly changed: boolean;
}

export interface NotPublished {
  readonly skillId: string;
  readonly reason: string;
}
