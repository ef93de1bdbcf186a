import { type ConfigReader, configOf } from './core/config/read-config.ts';
import type { Feature } from './core/feature.ts';
import { CORE_KINDS } from './core/sources/kinds/core-kinds.ts';
import features from './features.ts';

/** With the keys of all features. */
export const registryConfig: ConfigReader = configOf([{ sources: CORE_KINDS }, ...(features as readonly Feature[])]);
