/** What a feature is, for the core that names none. */

/** A folder in features/, and a line in features.ts. */
export interface Feature {
  readonly id: string;
}
