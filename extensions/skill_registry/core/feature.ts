import type { CheckedCalls } from './checked-calls.ts';
import type { FeatureCommands } from './command-line.ts';
import type { Parts } from './parts.ts';
import type { GivenByFeature, Opened } from './seams.ts';

/** A folder in features/, and a line in features.ts. */
export interface Feature<Part = unknown> extends GivenByFeature {
  readonly id: string;
  /** Called once for each registry, before the first scan, in the order of the list. */
  open?(core: Core): Opened<Part> | Promise<Opened<Part>>;
  commands?(): Promise<FeatureCommands>;
}

export interface Core extends Omit<Parts, 'close'> {
  readonly call: CheckedCalls;
  /** To be called when there may be a new problem. */
  readonly onProblem: () => void;
  /** @throws REGISTRY_CLOSED. */
  assertOpen(): void;
  /** The part of a feature that stands earlier in the list. */
  of<Part>(feature: Feature<Part>): Part;
}
