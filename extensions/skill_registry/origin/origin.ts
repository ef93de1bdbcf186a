/** Where skills are taken from. */
export type Origin = GitOrigin | NpmOrigin | FolderOrigin | ArchiveOrigin | WellKnownOrigin;

export interface GitOrigin {
  readonly kind: 'git';
  /** `https:`, `ssh:`, `file:`, `git@host:path`, or `http:` on this machine. */
  readonly url: string;
  /** A branch, a tag or a commit. Absent: what the repository's HEAD names. */
  readonly ref?: string;
  /** The folder in the repository below which skills are looked for. Absent: all of it. */
  readonly path?: string;
}

export interface NpmOrigin {
  readonly kind: 'npm';
  readonly name: string;
  /** A version, a range or a tag. */
  readonly range: string;
}

export interface FolderOrigin {
  readonly kind: 'folder';
  /** Absolute. */
  readonly path: string;
}

export interface ArchiveOrigin {
  readonly kind: 'archive';
  /** An absolute path, or an `https:` address (`http:` on this machine). */
  readonly location: string;
}

export interface WellKnownOrigin {
  readonly kind: 'well-known';
  /** The page below which `.well-known/agent-skills/index.json` is; no slash at its end. */
  readonly url: string;
}
