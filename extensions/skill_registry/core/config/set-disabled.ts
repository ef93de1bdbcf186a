import { CodedError } from 'skill-registry/kernel';
import type { Document, YAMLSeq } from 'yaml';
import { readMapping, yamlPackage } from '../../../../kernel/host.ts';
import { readNamedFile } from '../../../../lib/files/index.ts';
import { invalidArgument } from '../skill/errors.ts';
import type { DisabledSkill } from './config.ts';
import { presetSources } from './config-keys.ts';
import { ownerFile, writeOwnerFile } from './owner-file.ts';
import type { PresetGroup } from './preset-table.ts';
import { isRecord } from './readers.ts';

export interface SkillForAgent {
  readonly skill: string;
  /** Default: every agent. */
  readonly agent?: string | undefined;
}

/**
 * Adds a skill to `disabled` in the config of a root (absolute), or removes it, for the next start of registries. Keeps
 * comments and other keys; makes a missing file, with `preset` among its sources. Enabling for every agent also removes
 * entries for single agents.
 * @throws INVALID_ARGUMENT when a skill that is disabled for every agent is to be enabled for one; CONFIG_INVALID,
 * WRITE_FAILED, PATH_TRAVERSAL.
 */
export function setDisabled(
  root: string,
  named: SkillForAgent,
  isDisabled: boolean,
  preset?: PresetGroup,
): { readonly file: string; readonly changed: boolean } {
  const file = ownerFile(root);
  const { document, isNew } = readDocument(file);
  const list = listIn(document, file);
  const entries = (list?.toJSON() ?? []) as readonly DisabledSkill[];
  const { skill, agent } = named;
  if (!isDisabled && agent !== undefined && entries.includes(skill)) {
    const remedy = `Run "skill-registry disable ${skill} --off", then disable it for the agents that are not to have it.`;
    throw invalidArgument(
      `"${skill}" is disabled for every agent, so it cannot be enabled for ${agent} alone. ${remedy}`,
    );
  }
  const after = disabledAfter(entries, named, isDisabled);
  const added = after[entries.length];
  if (after.length === entries.length) return { file, changed: false };
  if (added !== undefined) add(document, list, added);
  else if (list) list.items = list.items.filter((_, index) => after.includes(entries[index] as DisabledSkill));
  // A root with a config file has the sources of this file: without the key, what is seen now would be gone.
  if (isNew && preset) document.set('sources', document.createNode(presetSources(preset), { flow: true }));
  writeOwnerFile(root, document.toString({ lineWidth: 0 }));
  return { file, changed: true };
}

export function disabledAfter(
  entries: readonly DisabledSkill[],
  named: SkillForAgent,
  isDisabled: boolean,
): readonly DisabledSkill[] {
  const { skill, agent } = named;
  if (!isDisabled) return entries.filter((entry) => !isMeant(entry, named));
  if (entries.includes(skill) || (agent !== undefined && entries.some((entry) => isMeant(entry, named))))
    return entries;
  return [...entries, agent === undefined ? skill : { skill, agent }];
}

// --- internal ---

const MAX_BYTES = 1_048_576;

function readDocument(file: string): { readonly document: Document; readonly isNew: boolean } {
  let text = '';
  let isNew = false;
  try {
    text = readNamedFile(file, MAX_BYTES, { own: true }).toString('utf8');
  } catch (error) {
    isNew = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!isNew) throw invalid(file, (error as Error).message);
  }
  const read = readMapping(text);
  if ('values' in read || read.isEmpty) return { document: read.document, isNew };
  throw invalid(file, read.reason);
}

function listIn(document: Document, file: string): YAMLSeq | undefined {
  const list = document.get('disabled');
  if (list === undefined || list === null) return undefined;
  if (yamlPackage().isSeq(list)) return list;
  throw invalid(file, '"disabled" is no list of ids');
}

/** @param entry - Of the file, so it may be anything. */
function isMeant(entry: unknown, { skill, agent }: SkillForAgent): boolean {
  if (!isRecord(entry)) return entry === skill && agent === undefined;
  return entry.skill === skill && (agent === undefined || entry.agent === agent);
}

function add(document: Document, list: YAMLSeq | undefined, entry: DisabledSkill): void {
  const node = document.createNode(entry, { flow: true });
  if (list) list.add(node);
  else document.set('disabled', document.createNode([node]));
}

function invalid(file: string, reason: string): CodedError {
  return new CodedError('CONFIG_INVALID', `${file} was not changed: ${reason}. Correct it, then repeat this.`, {
    file,
  });
}
