/** What an extension's object can do, told by the members it has. */
import type {
  AgentProvider,
  ChannelProvider,
  CommandProvider,
  ContextProvider,
  ServiceProvider,
  SkillProvider,
  ToolProvider,
  UntrustedConfig,
} from '../contract.ts';

const LIFECYCLE = ['initialize', 'start', 'stop', 'destroy', 'healthCheck'] as const;

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

function has(value: unknown, member: string): boolean {
  return (
    typeof value === 'object' && value !== null && typeof (value as Record<string, unknown>)[member] === 'function'
  );
}
