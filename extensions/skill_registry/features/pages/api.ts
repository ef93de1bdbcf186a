import type { Publishing } from './publish/types.ts';

declare module '../../core/config/config.ts' {
  interface SourceConfig {
    /** A page with skills: https:, or http: on this machine. Copies of it are in the user's cache directory. */
    readonly wellKnown?: string | undefined;
    /** Of requests to the origin of `wellKnown` alone. `${NAME}` is replaced by the secret NAME. */
    readonly headers?: Readonly<Record<string, string>> | undefined;
    /** A page is asked again after this many seconds. Default: 60. */
    readonly interval_seconds?: number | undefined;
  }
}

declare module '../install/api.ts' {
  interface RegistryOrigin extends Publishing {}
}
