/** The state of one extension in the kernel, and what its object can do: its members say so. */
import { join } from 'node:path';
import type {
  AgentDescriptor,
  AgentProvider,
  ChannelProvider,
  CommandProvider,
  ContextProvider,
  Extension,
  ExtensionStatus,
  Problem,
  ServiceProvider,
  SkillProvider,
  ToolProvider,
  UntrustedConfig,
} from '../contract.ts';
import { describeError } from '../errors.ts';
import type { FoundExtension } from './discover.ts';

/** One extension from import to destroy. Only the kernel changes it. */
export interface ExtensionRecord {
  readonly found: FoundExtension;
  state: ExtensionStatus['state'];
  reason?: string;
  instance?: Extension;
  agent?: AgentProvider;
  /** The descriptor that the agent gave when it started. */
  descriptor?: AgentDescriptor;
  service?: { readonly abort: AbortController; readonly ended: Promise<void> };
}

/** A problem of one extension. @param what - Follows `Extension "<id>"` in the message. */
export function problemOf(
  { manifest, dir }: FoundExtension,
  code: string,
  what: string,
  severity: Problem['severity'] = 'error',
): Problem {
  const message = `Extension "${manifest.id}" ${what.replace(/\.?$/, '.')}`;
  return { code, severity, file: join(dir, 'manifest.yaml'), message, details: { id: manifest.id } };
}

/** Why an extension is skipped. @param state - Of the extension it depends on. */
export function dependencyReason(id: string, state: ExtensionStatus['state']): string {
  return `it depends on "${id}", which is in state ${state}`;
}

/** For `problemOf`, of AGENT_NOT_READY. */
export function noInstructionsReason(error: unknown): string {
  return `cannot be given its instructions (prompt file, uses_skills): ${describeError(error)}`;
}

/** The state of an extension for people. */
export function statusOf({ found, state, reason, instance }: ExtensionRecord): ExtensionStatus {
  const { id, name, version } = found.manifest;
  const healthy = state === 'RUNNING' && isHealthy(instance);
  return { id, name, version, state, ...(reason ? { reason } : {}), healthy, dir: found.dir };
}

/** The state of a folder without a valid manifest. Its name is used as the id. */
export function brokenStatus({ name, dir, reason }: { name: string; dir: string; reason: string }): ExtensionStatus {
  return { id: name, name, version: '', state: 'ERROR', reason, healthy: false, dir };
}

/** The members of `Extension` that `value` lacks; empty when it is one. */
export function missingMembers(value: unknown): readonly string[] {
  return LIFECYCLE.filter((member) => !has(value, member));
}

export function isToolProvider(value: unknown): value is ToolProvider {
  return has(value, 'getTools');
}

export function isContextProvider(value: unknown): value is ContextProvider {
  return has(value, 'getContext');
}

export function isServiceProvider(value: unknown): value is ServiceProvider {
  return has(value, 'runBackground');
}

export function isChannelProvider(value: unknown): value is ChannelProvider {
  return has(value, 'sendMessage') && has(value, 'sendToUser');
}

export function isAgentProvider(value: unknown): value is AgentProvider {
  return has(value, 'invoke') && has(value, 'getAgentDescriptor');
}

export function isSkillProvider(value: unknown): value is SkillProvider {
  return has(value, 'getSkillContent') && has(value, 'onSkillsChanged');
}

export function isCommandProvider(value: unknown): value is CommandProvider {
  return has(value, 'getCommands');
}

export function canConfirm(value: unknown): value is ChannelProvider & Required<Pick<ChannelProvider, 'confirm'>> {
  return isChannelProvider(value) && has(value, 'confirm');
}

export function readsUntrustedConfig(value: unknown): value is UntrustedConfig {
  return has(value, 'configOfUntrustedRoot');
}

// --- internal ---

const LIFECYCLE = ['initialize', 'start', 'stop', 'destroy', 'healthCheck'] as const;

function isHealthy(instance: ExtensionRecord['instance']): boolean {
  try {
    return instance?.healthCheck() ?? true;
  } catch {
    return false;
  }
}

function has(value: unknown, member: string): boolean {
  return (
    typeof value === 'object' && value !== null && typeof (value as Record<string, unknown>)[member] === 'function'
  );
}
