import { basename } from 'node:path';
import { describeError, isCodedError } from 'skill-registry/kernel';
import { type FolderEntry, listContained, readContained } from '../../../../lib/files/index.ts';
import { showName } from '../../../../lib/text/index.ts';
import type { ChangeContext } from '../../history/change-context.ts';
import { slugOf } from '../../skill/skill.ts';
import type { NotImported } from '../types.ts';
import { descriptionIn, plainText } from './read-text.ts';

/** A skill as it is made of a text. */
export interface MadeSkill {
  readonly id: string;
  /** What it is made of, for people. */
  readonly from: string;
  readonly description: string;
  readonly body: string;
  /** By path, below `references/`. */
  readonly references: ReadonlyMap<string, Buffer | string>;
  /** Files beside it that are not imported. */
  readonly leftOut: readonly NotImported[];
}

const TEMPLATE = 'system_prompt.md';

/**
 * The role templates of a folder: `<role>/system_prompt.md` in it, or its own.
 *
 * @param base - Absolute, real.
 * @returns the names of the folders; '' is the folder itself. Links are not followed.
 */
export function roleFolders(base: string): readonly string[] {
  const isRole = (entries: readonly FolderEntry[]): boolean => entries.some(({ name }) => name === TEMPLATE);
  const entries = listContained(base, '');
  if (isRole(entries)) return [''];
  const folders = entries.filter(({ kind }) => kind === 'directory');
  return folders.map(({ name }) => name).filter((name) => isRole(listContained(base, name)));
}

/** @throws what cannot be read of the template itself: PATH_TRAVERSAL, RESOURCE_TOO_LARGE, RESOURCE_NOT_FOUND, NOT_TEXT. */
export function readRole(base: string, folder: string, { limits }: Pick<ChangeContext, 'limits'>): MadeSkill {
  const role = folder === '' ? basename(base) : folder;
  const pathOf = (name: string): string => (folder === '' ? name : `${folder}/${name}`);
  const text = plainText(readContained(base, pathOf(TEMPLATE), limits.file_bytes), pathOf(TEMPLATE));
  const references = new Map<string, Buffer>();
  const leftOut: NotImported[] = [];
  for (const { name, kind } of listContained(base, folder)) {
    if (name === TEMPLATE) continue;
    const path = kind === 'private' ? pathOf('(a private name)') : showName(pathOf(name));
    try {
      if (kind !== 'file') leftOut.push({ path, reason: REASONS[kind] });
      else {
        const bytes = readContained(base, pathOf(name), limits.resource_bytes);
        plainText(bytes, name);
        references.set(`references/${name}`, bytes);
      }
    } catch (error) {
      if (!isCodedError(error)) throw error;
      leftOut.push({ path, reason: describeError(error) });
    }
  }
  const links = [...references.keys()].map((path) => `- ${linkTo(path)}`);
  const more = links.length > 0 ? `\n## Files of this role\n\n${links.join('\n')}\n` : '';
  const body = `${text.replaceAll('\r\n', '\n').replace(/\n?$/, '\n')}${more}`;
  return { id: slugOf(role), from: showName(role), description: descriptionIn(text), body, references, leftOut };
}

// --- internal ---

const REASONS = {
  directory: 'it is a folder; copy what is meant into references/ of the skill',
  other: 'it is a link or a device, which is not followed',
  private: 'its name is that of a secret, which no agent is handed',
} as const;

function linkTo(path: string): string {
  return /^[\w./-]+$/.test(path) ? `[${path}](${path})` : `\`${path}\``;
}
