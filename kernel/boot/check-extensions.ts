import { join } from 'node:path';
import type { ExtensionStatus, Problem } from '../contract.ts';
import { describeError } from '../errors.ts';
import { readModelSettings } from '../turns/model-loop.ts';
import { composeInstructions } from '../turns/system-text.ts';
import { toolsMissing } from '../turns/turns.ts';
import { type FoundExtension, findExtensions, type ListedExtension, listedExtensions } from './discover.ts';
import { dependencyReason, NO_INSTRUCTIONS, problemOf } from './extension-record.ts';
import { whyNotLoadable } from './loader.ts';
import { readOwnerConfig } from './settings.ts';
import { startOrder } from './start-order.ts';

export interface CheckOptions {
  readonly rootDir: string;
  /** False: only the manifests of the root are read. */
  readonly trusted: boolean;
  readonly enable: readonly string[];
  getSecret(name: string): string | undefined;
  skillBody(skillId: string): Promise<string>;
}

export interface CheckedExtensions {
  /** `state` may also be `broken` or `skipped`. */
  readonly extensions: readonly ListedExtension[];
  /** Agents from manifests that can be given their instructions. `model`: null when none is set. */
  readonly agents: readonly { readonly id: string; readonly model: string | null }[];
  /** The problems that a start reports, and also CONFIG_INVALID and MODEL_NOT_CONFIGURED. */
  readonly problems: readonly Problem[];
}

/** Runs no code of an extension. */
export async function checkExtensions(options: CheckOptions): Promise<CheckedExtensions> {
  const { rootDir, trusted, enable } = options;
  const discovery = findExtensions(rootDir, trusted);
  const found = discovery.extensions;
  const { extensions, problems: ofManifests } = listedExtensions(rootDir, trusted, discovery);
  const ids = found.map(({ manifest }) => manifest.id);
  const { order, refused, problems: ofOrder } = startOrder(found);
  // A broken manifest is reported even when the root is not approved.
  const untrusted = trusted ? [] : findExtensions(rootDir, true).problems;
  const problems = [...untrusted, ...ofManifests, ...ofOrder];
  const notRunning = new Map<string, ExtensionStatus['state']>([...refused.keys()].map((id) => [id, 'ERROR']));
  const agents: { readonly id: string; readonly model: string | null }[] = [];
  for (const one of order) {
    const { id, enabled, agent } = one.manifest;
    if (notRunning.has(id)) continue;
    if (!enabled && !enable.includes(id)) {
      notRunning.set(id, 'DISABLED');
      continue;
    }
    const problem = skipped(one, notRunning) ?? (await notLoadable(one)) ?? (await notReady(one, options));
    if (problem) {
      notRunning.set(id, problem.severity === 'warning' ? 'SKIPPED' : 'ERROR');
      problems.push(problem);
    } else if (agent) {
      const missing = toolsMissing(one, ids);
      if (missing) problems.push(missing);
      agents.push({ id, model: agent.model ?? options.getSecret('MODEL_NAME') ?? null });
    }
    if (trusted) problems.push(...readOwnerConfig(rootDir, id).problems);
  }
  const state = ({ id, state }: ListedExtension): string => {
    const why = notRunning.get(id);
    if (why === undefined && enable.includes(id)) return 'starts with skill-registry start';
    return STATES[why ?? 'RUNNING'] ?? state;
  };
  return {
    extensions: extensions.map((one) => (one.state.startsWith('broken') ? one : { ...one, state: state(one) })),
    agents,
    problems: [...problems, ...modelProblems(options)],
  };
}

// --- internal ---

const STATES: Partial<Record<ExtensionStatus['state'], string>> = { ERROR: 'broken', SKIPPED: 'skipped' };

function skipped(
  found: FoundExtension,
  notRunning: ReadonlyMap<string, ExtensionStatus['state']>,
): Problem | undefined {
  const id = found.manifest.depends_on.find((one) => notRunning.has(one));
  if (id === undefined) return undefined;
  const what = `is skipped: ${dependencyReason(id, notRunning.get(id) ?? 'ERROR')}. Correct that extension first`;
  return problemOf(found, 'EXTENSION_SKIPPED', what, 'warning');
}

async function notLoadable(found: FoundExtension): Promise<Problem | undefined> {
  const why = await whyNotLoadable(found);
  return why === undefined ? undefined : problemOf(found, 'EXTENSION_IMPORT_FAILED', `could not be loaded: ${why}`);
}

async function notReady(found: FoundExtension, { rootDir, skillBody }: CheckOptions): Promise<Problem | undefined> {
  if (!found.manifest.agent) return undefined;
  try {
    await composeInstructions(found, { getSkillContent: skillBody }, rootDir, { preview: true });
    return undefined;
  } catch (error) {
    return problemOf(found, 'AGENT_NOT_READY', `${NO_INSTRUCTIONS}: ${describeError(error)}`);
  }
}

/** No model is not a problem: everything but agents works without. Incomplete settings are one. */
function modelProblems({ rootDir, getSecret }: CheckOptions): readonly Problem[] {
  const [baseURL, name] = [getSecret('MODEL_BASE_URL'), getSecret('MODEL_NAME')];
  if (baseURL === undefined && name === undefined) return [];
  try {
    readModelSettings(undefined, getSecret);
    return [];
  } catch (error) {
    const { message } = error as Error;
    return [{ code: 'MODEL_NOT_CONFIGURED', severity: 'warning', file: join(rootDir, '.env'), message }];
  }
}
