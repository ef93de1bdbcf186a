/** For the command only, not an export of the package. */
import { lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Problem, TurnContext } from 'skill-registry/kernel';
import { loadTokenCounter, nearestIds } from '../../lib/text/index.ts';
import type { SkillRegistry } from './api.ts';
import type { Snapshot } from './core/catalog/snapshot.ts';
import { readConfig, type SkillRegistryConfigInput } from './core/config/config.ts';
import { ownerFile, writeOwnerFile } from './core/config/owner-file.ts';
import { bodyOf } from './core/skill/frontmatter.ts';
import type { Skill } from './core/skill/skill.ts';
import type { FoundAgent } from './core/sources/agent-folders.ts';
import { findSkillFiles } from './core/sources/walk/find-skill-files.ts';
import { readSkillMd } from './core/sources/walk/read-skill-md.ts';
import { addressKey, programKey } from './features/guard/sources.ts';
import { workflowStateNamed } from './features/packs/workflow/workflows.ts';
import type { SkillFinding } from './features/validate/validate-skill.ts';

export type * from './api.ts';
export { ownerFile } from './core/config/owner-file.ts';
export { configOfUntrustedRoot } from './core/config/untrusted-config.ts';
export type { InternalOptions } from './core/options.ts';
export { NOT_INSPECTED } from './core/skill/held.ts';
export type { ValidationProfile } from './core/skill/spec-rules.ts';
export { decidable } from './features/guard/approvals.ts';
export { decisionAbout } from './features/guard/sources.ts';
export type { SkillFinding } from './features/validate/validate-skill.ts';

/** Best first. */
export function nearestSkills({ byId }: Snapshot, skillId: string): readonly string[] {
  return nearestIds(byId.keys(), skillId);
}

/**
 * The key of a source in decisions. @param text - An address, `owner/repo`, `npm:<name>`, a folder, `mcp:` and a
 * server's command line, or as `trust list` shows it. @throws ORIGIN_INVALID.
 */
export async function sourceNamed(text: string, cwd: string): Promise<string> {
  if (/^mcp:[^\s#]+#[\da-f]{8}$/.test(text)) return text;
  if (text.startsWith('mcp:')) return programKey([text.slice('mcp:'.length)]);
  // Nothing is installed from such an address, but a server of the config may have it.
  if (/^http:\/\//i.test(text) && URL.canParse(text) && !/\.git(?:#|$)/.test(text)) return addressKey(text);
  const { parseOrigin, sourceKey } = await import('./features/install/address.ts');
  return sourceKey(parseOrigin(text, cwd));
}

/** For `--workflow <pack[:state]>`. @throws INVALID_ARGUMENT for an unknown pack or state. */
export function workflowOption(snapshot: Snapshot, name: string | undefined): Pick<TurnContext, 'workflowState'> {
  return name === undefined ? {} : { workflowState: workflowStateNamed(snapshot, name) };
}

/** What `init` writes. */
export async function startConfig(
  root: string,
): Promise<{ agents: readonly FoundAgent[]; text: string; write(): void }> {
  const { foundAgents } = await import('./core/sources/agent-folders.ts');
  const { starterConfig } = await import('./core/config/starter-config.ts');
  const agents = foundAgents(root);
  const presets = agents.map(({ preset }) => preset);
  const text = starterConfig(root, presets);
  return { agents, text, write: () => writeOwnerFile(root, text) };
}

/** The skills that a source of this folder finds. @param folder - Absolute. */
export async function skillsBelow(folder: string): Promise<{ folders: string[]; problems: readonly Problem[] }> {
  const { files, problems } = await findSkillFiles({ root: folder, maxDepth: 64, allowOutside: false });
  return { folders: files.map(({ dir }) => dir), problems };
}

/** @param values - Of the config. */
export async function bodySizeFinding(
  file: string | undefined,
  root: string,
  values: SkillRegistryConfigInput,
): Promise<SkillFinding | undefined> {
  const limit = readConfig(values, ownerFile(root)).config.limits.skill_tokens;
  const read = file === undefined ? { text: '' } : readSkillMd(file);
  const body = 'text' in read ? bodyOf(read.text) : '';
  // A token has at least one byte, and the tokenizer takes long to load.
  if (Buffer.byteLength(body) <= limit) return undefined;
  const tokens = (await loadTokenCounter())(body);
  if (tokens <= limit) return undefined;
  const message = `The body has ${tokens} tokens, more than limits.skill_tokens (${limit}). Move detail into references/.`;
  return { severity: 'warning', code: 'SKILL_TOO_LONG', message };
}

/** A skill whose SKILL.md the loader repairs at each read. */
export interface PlannedRepair {
  readonly skill: Skill;
  /** The whole new text, for `admin.management.repair`. */
  readonly text: string;
  /** In words. */
  readonly done: readonly string[];
  /** As a unified diff. */
  readonly difference: string;
}

/** Only for skills in writable sources. */
export async function repairsOf({ admin, snapshot }: SkillRegistry): Promise<readonly PlannedRepair[]> {
  const [{ repairSkill }, { unifiedDiff }] = await Promise.all([
    import('./core/skill/repair.ts'),
    import('../../lib/diff/index.ts'),
  ]);
  const planned = new Map<string, PlannedRepair>();
  for (const skill of snapshot().byQualifiedId.values()) {
    const { dir, realFile, qualifiedId } = skill;
    const file = basename(skill.file);
    // Several sources may have the same folder.
    if (dir === null || realFile === null || planned.has(realFile)) continue;
    if (admin.writePolicy(realFile)?.target === undefined) continue;
    const before = await admin.readBytes(qualifiedId, { countsAsLoad: false }).catch(() => new Uint8Array());
    const text = Buffer.from(before).toString('utf8');
    const repair = Buffer.from(text).equals(before) ? repairSkill(text, basename(dir), file) : undefined;
    if (!repair || (file !== 'SKILL.md' && !isNameFree(dir, file))) continue;
    const rename = file === 'SKILL.md' ? '' : `rename from ${file}\nrename to SKILL.md\n`;
    planned.set(realFile, { skill, ...repair, difference: rename + unifiedDiff('SKILL.md', text, repair.text) });
  }
  return [...planned.values()];
}

// --- internal ---

/** It is no link, and no other file has the name SKILL.md; on some systems both names are the same file. */
function isNameFree(dir: string, file: string): boolean {
  const [present, taken] = [file, 'SKILL.md'].map((name) => lstatSync(join(dir, name), { throwIfNoEntry: false }));
  const isFree = taken === undefined || (taken.ino === present?.ino && taken.dev === present.dev);
  return present?.isFile() === true && isFree;
}
