import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type CodedError, isCodedError } from 'skill-registry/kernel';
import { originUnavailable } from '../../../../lib/fetch/index.ts';
import { listContained, readNamedFile } from '../../../../lib/files/index.ts';
import { oneLine, showName } from '../../../../lib/text/index.ts';
import { type ChangeContext, newLocation } from '../../history/change-context.ts';
import {
  checkNewName,
  checkSize,
  checkValid,
  filePath,
  folderOf,
  locationForNew,
  type SkillLocation,
} from '../../history/skill-location.ts';
import { composeSkillMd } from '../../propose/skill-text.ts';
import { invalidArgument } from '../../skill/errors.ts';
import { parseSkill } from '../../skill/parse-skill.ts';
import { slugOf } from '../../skill/skill.ts';
import { skillToAdd } from '../add.ts';
import { originInvalid } from '../errors.ts';
import { filesAt } from '../find-installed.ts';
import { inspectIncoming, writeAllowed } from '../let-in.ts';
import type { IncomingFile } from '../opened-origin.ts';
import type { ImportOptions, ImportPlan, NotImported, SkillToAdd } from '../types.ts';
import { isSameFiles, type SkillToWrite, writeSkills } from '../write-skill.ts';
import { type MadeSkill, readRole, roleFolders } from './read-roles.ts';
import { descriptionIn, jinjaIn, plainText } from './read-text.ts';
import { splitPrompt } from './split-prompt.ts';

/** @throws as `Origins.import`. */
export async function planImport(context: ChangeContext, path: string, options: ImportOptions): Promise<ImportPlan> {
  const real = realOf(resolve(options.cwd ?? context.root, path));
  const isFolder = lstatSync(real).isDirectory();
  const { makers, refused, prompt } = isFolder ? rolesIn(real, options, context) : partsOf(real, options, context);
  const otherwise = isFolder ? 'rename the folder of the role' : 'give it another id with --name';
  const isAlone = makers.length === 1 && refused.length === 0;
  const views: SkillToAdd[] = [];
  const writes: SkillToWrite[] = [];
  const unrendered: ImportPlan['unrendered'][number][] = [];
  const leftOut: NotImported[] = [];
  const installed: string[] = [];
  for (const { from, make } of makers) {
    try {
      const made = make();
      if (installed.includes(made.id) || writes.some(({ location }) => location.skillId === made.id))
        throw originInvalid(from, `another role of this folder is called "${made.id}" as well. Rename one of them.`);
      const prepared = await preparedOf(context, made, real, otherwise);
      if (prepared === undefined) {
        installed.push(made.id);
        continue;
      }
      const { write, view, notTaken } = prepared;
      writes.push(write);
      views.push(view);
      leftOut.push(...notTaken);
      for (const file of write.files)
        for (const jinja of jinjaIn(file.bytes.toString('utf8')))
          unrendered.push({ skillId: made.id, path: file.path, ...jinja });
    } catch (error) {
      if (!isCodedError(error) || isAlone) throw error;
      refused.push({ path: from, reason: error.message });
    }
  }
  return {
    ...{ origin: real, skills: views, installed, unreadable: [], refused, leftOut, unrendered },
    ...(prompt === undefined ? {} : { prompt }),
    apply: (actor, allowed = {}) => writeAllowed(writes, actor, allowed, (taken) => writeSkills(context, taken, actor)),
  };
}

// --- internal ---

interface Parts {
  readonly makers: readonly { readonly from: string; readonly make: () => MadeSkill }[];
  readonly refused: NotImported[];
  readonly prompt?: string;
}

/** @throws ORIGIN_UNAVAILABLE. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw originUnavailable(path, 'there is no such file or folder', error);
  }
}

/** @throws ORIGIN_INVALID when there is no role; INVALID_ARGUMENT. */
function rolesIn(base: string, { name }: ImportOptions, context: ChangeContext): Parts {
  if (name !== undefined) throw invalidArgument('A role is called as its folder is; --name is for a file.');
  const folders = roleFolders(base);
  if (folders.length === 0)
    throw originInvalid(
      base,
      'it has no system_prompt.md, and no <role>/system_prompt.md. Name the folder of the roles.',
    );
  const links = folders[0] === '' ? [] : listContained(base, '').filter(({ kind }) => kind === 'other');
  return {
    makers: folders.map((folder) => ({ from: folder || basename(base), make: () => readRole(base, folder, context) })),
    refused: links.map(({ name: path }) => ({ path: showName(path), reason: 'it is a link or a device.' })),
  };
}

/** @throws ORIGIN_INVALID, NOT_TEXT, RESOURCE_TOO_LARGE. */
function partsOf(file: string, { name }: ImportOptions, { limits }: ChangeContext): Parts {
  const shown = showName(basename(file));
  if (basename(file).toLowerCase() === 'skill.md')
    throw originInvalid(file, 'it is a skill already. To install it: skill-registry add <its folder>.');
  const split = splitPrompt(plainText(readNamedFile(file, limits.file_bytes), shown));
  if (!split)
    throw originInvalid(
      file,
      'it has no section that a skill could be made of. Put a heading (## Name) before each part that other agents can use, too.',
    );
  const { body, references, titles, prompt } = split;
  const [stem = ''] = basename(file).split('.');
  const id = name ?? slugOf(/^(system[-_]?)?prompt$/i.test(stem) ? basename(dirname(file)) : stem);
  const covers = titles.filter((title) => title !== '' && !/\{[{%#]/.test(title)).map((title) => oneLine(title, 60));
  const what = [descriptionIn(body), covers.length > 0 ? `Covers: ${covers.join(', ')}.` : '']
    .filter(Boolean)
    .join(' ');
  const description = oneLine(what, MAX_DESCRIPTION);
  return {
    makers: [{ from: shown, make: () => ({ id, from: shown, description, body, references, leftOut: [] }) }],
    refused: [],
    prompt,
  };
}

/** Characters; the standard allows 1,024. */
const MAX_DESCRIPTION = 1_000;

/**
 * @param otherwise - As of `newLocation`.
 * @returns undefined when exactly these files are there: an import that was interrupted has written them.
 * @throws SKILL_EXISTS, SOURCE_NOT_WRITABLE, SKILL_INVALID, RESOURCE_TOO_LARGE; ORIGIN_INVALID without a description.
 */
async function preparedOf(context: ChangeContext, made: MadeSkill, origin: string, otherwise: string) {
  const { id, from, description, body, references } = made;
  if (description === '')
    throw originInvalid(
      from,
      'it has no sentence that could be its description. Write what it does in its first line.',
    );
  const { location, taken } = locationOf(context, id, otherwise);
  const text = `${composeSkillMd(id, description, '').trimEnd()}\n\n${body}`;
  const skillMd: IncomingFile = { path: 'SKILL.md', bytes: Buffer.from(text), executable: false };
  checkSize(location, location.skillFile, skillMd.bytes, context.limits);
  checkValid(location, location.skillFile, null, skillMd.bytes, true);
  const files = [skillMd];
  const notTaken = [...made.leftOut];
  for (const [path, content] of references) {
    try {
      checkNewName(filePath(path, location));
      files.push({ path, bytes: Buffer.from(content), executable: false });
    } catch (error) {
      if (!isCodedError(error)) throw error;
      notTaken.push({ path: showName(path), reason: error.message });
    }
  }
  // Not a link, a file, or the skill of another source that has the id.
  const isThere = context.snapshot().byId.get(id)?.dir === folderOf(location);
  if (taken && isThere && isSameFiles(filesAt(location), files)) return undefined;
  if (taken) throw taken;
  const { header } = parseSkill(text, 'SKILL.md', id);
  if (!header) throw originInvalid(from, 'the skill made of it cannot be read.');
  const looked = await inspectIncoming(files);
  const along = { ids: [id], isAlong: false, leftOut: notTaken.length, looked };
  return {
    view: await skillToAdd(context, location, header, files, along),
    write: { location, files, gone: [], conflicts: [], kind: 'created', looked, origin } satisfies SkillToWrite,
    notTaken,
  };
}

/** Where it is to lie; `taken`: why it cannot be written there. @throws as `newLocation`. */
function locationOf(
  context: ChangeContext,
  id: string,
  otherwise: string,
): { readonly location: SkillLocation; readonly taken?: CodedError } {
  try {
    return { location: newLocation(context, id, otherwise) };
  } catch (error) {
    if (!isCodedError(error, 'SKILL_EXISTS')) throw error;
    return { location: locationForNew(id, context.sources(), context.root), taken: error };
  }
}
