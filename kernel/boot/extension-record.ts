import { join } from 'node:path';
import type { AgentDescriptor, AgentProvider, Extension, ExtensionStatus, Problem } from '../contract.ts';
import { withFallback } from '../errors.ts';
import type { FoundExtension } from './discover.ts';

export interface ExtensionRecord {
  readonly found: FoundExtension;
  state: ExtensionStatus['state'];
  reason?: string;
  instance?: Extension;
  agent?: AgentProvider;
  /** As given at its start. */
  descriptor?: AgentDescriptor;
  service?: { readonly abort: AbortController; readonly ended: Promise<void> };
}

/** @param what - Follows `Extension "<id>"` in the message. */
export function problemOf(
  { manifest, dir }: FoundExtension,
  code: string,
  what: string,
  severity: Problem['severity'] = 'error',
): Problem {
  const message = `Extension "${manifest.id}" ${what.replace(/\.?$/, '.')}`;
  return { code, severity, file: join(dir, 'manifest.yaml'), message, details: { id: manifest.id } };
}

/** @param state - Of the extension it depends on. */
export function dependencyReason(id: string, state: ExtensionStatus['state']): string {
  return `it depends on "${id}", which is in state ${state}`;
}

export const NO_INSTRUCTIONS = 'cannot be given its instructions (prompt file, uses_skills)';

export function statusOf({ found, state, reason, instance }: ExtensionRecord): ExtensionStatus {
  const { id, name, version } = found.manifest;
  const healthy = state === 'RUNNING' && withFallback(() => instance?.healthCheck() ?? true, false);
  return { id, name, version, state, ...(reason ? { reason } : {}), healthy, dir: found.dir };
}

/** Uses the name of the folder as the id. */
export function brokenStatus({ name, dir, reason }: { name: string; dir: string; reason: string }): ExtensionStatus {
  return { id: name, name, version: '', state: 'ERROR', reason, healthy: false, dir };
}

export function provides<T extends object>(value: unknown, ...members: readonly (keyof T)[]): value is T {
  return (
    typeof value === 'object' && value !== null && members.every((name) => typeof (value as T)[name] === 'function')
  );
}
