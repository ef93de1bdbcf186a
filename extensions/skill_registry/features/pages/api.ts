import type { Publishing } from './publish/types.ts';

declare module '../install/api.ts' {
  interface RegistryOrigin extends Publishing {}
}
