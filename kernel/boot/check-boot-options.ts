import {
  aFunction,
  anything,
  aSignal,
  bool,
  checkCall,
  listOf,
  onlyFields,
  optional,
  recordOf,
  text,
} from '../../lib/arguments/index.ts';
import type { InternalBootOptions } from './kernel.ts';

/** @throws INVALID_ARGUMENT for a wrong value and for an option that does not exist. */
export function checkBootOptions(options: unknown): void {
  checkCall('boot', { options: onlyFields(OPTIONS, { rootDir: 'It is called root.' }, ['budgets']) }, [options]);
}

// --- internal ---

const OPTIONS: Record<keyof InternalBootOptions, typeof anything> = {
  root: text,
  config: optional(recordOf(recordOf(anything))),
  enable: optional(listOf(text)),
  trust: optional(bool),
  environment: optional(recordOf(optional(text))),
  onLog: optional(aFunction),
  signal: optional(aSignal),
  budgets: anything,
};
