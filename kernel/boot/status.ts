import type { ExtensionStatus } from '../contract.ts';
import type { ExtensionRecord } from './lifecycle.ts';

/** How an extension stands, for people. */
export function statusOf({ found, state, reason, instance }: ExtensionRecord): ExtensionStatus {
  const { id, name, version } = found.manifest;
  const healthy = state === 'RUNNING' && isHealthy(instance);
  return { id, name, version, state, ...(reason ? { reason } : {}), healthy, dir: found.dir };
}

/** A folder whose manifest cannot be used: it has no id, so its name stands for it. */
export function brokenStatus({ name, dir, reason }: { name: string; dir: string; reason: string }): ExtensionStatus {
  return { id: name, name, version: '', state: 'ERROR', reason, healthy: false, dir };
}

// --- internal ---

function isHealthy(instance: ExtensionRecord['instance']): boolean {
  try {
    return instance?.healthCheck() ?? true;
  } catch {
    return false;
  }
}
