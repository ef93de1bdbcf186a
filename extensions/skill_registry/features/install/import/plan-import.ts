import { lstatSync, realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { originUnavailable } from '../../../../../lib/fetch/index.ts';
import { listContained } from '../../../../../lib/files/index.ts';
import { showName } from '../../../../../lib/text/index.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { parseSkill } from '../../../core/skill/parse-skill.ts';
import { newFrontmatter } from '../../../core/skill/yaml-fields.ts';
import { type ChangeContext, newLocation } from '../../history/change-context.ts';
import {
  checkNewName,
  checkSize,
  checkValid,
  filePath,
  folderOf,
  locationForNew,
} from '../../history/skill-location.ts';
import { originInvalid } from '../errors.ts';
import { filesAt } from '../find-installed.ts';
import { applyOf, type PlannedSkill, planSkill } from '../let-in.ts';
import type { InstallContext } from '../open-origin.ts';
import type { ImportOptions, ImportPlan, NotImported } from '../types.ts';
import { isSameFiles } from '../write-skill.ts';
import { jinjaIn, type MadeSkill, readPrompt, readRole, roleFolders } from './made-skill.ts';

export async function planImport(context: InstallContext, path: string, options: ImportOptions): Promise<ImportPlan> {
  const origin = realOf(resolve(options.cwd ?? context.root, path));
  const isFolder = lstatSync(origin).isDirectory();
  const { makers, refused, prompt } = isFolder ? rolesIn(origin, options, context) : partsOf(origin, options, context);
  const otherwise = isFolder ? 'rename the folder of the role' : 'give it another id with --name';
  const isAlone = makers.length === 1 && refused.length === 0;
  const prepared: Prepared[] = [];
  const installed: string[] = [];
  for (const { from, make } of makers) {
    try {
      const made = make();
      const { id } = made;
      if (installed.includes(id) || prepared.some(({ planned }) => planned.view.id === id))
        throw originInvalid(from, `another role of this folder is called "${id}" as well. Rename one of them.`);
      const one = await preparedOf(context, made, origin, otherwise);
      if (one) prepared.push(one);
      else installed.push(id);
    } catch (error) {
      if (!isCodedError(error) || isAlone) throw error;
      refused.push({ path: from, reason: error.message });
    }
  }
  const skills = prepared.map(({ planned }) => planned.view);
  const writes = prepared.map(({ planned }) => planned.write);
  const unrendered = writes.flatMap(({ location: { skillId }, files }) =>
    files.flatMap(({ path, bytes }) => jinjaIn(bytes.toString('utf8')).map((jinja) => ({ skillId, path, ...jinja }))),
  );
  const leftOut = prepared.flatMap(({ notTaken }) => notTaken);
  const asked = prompt === undefined ? {} : { prompt };
  const apply = applyOf(context, writes);
  return { origin, skills, installed, unreadable: [], refused, leftOut, unrendered, ...asked, apply };
}

// --- internal ---

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw originUnavailable(path, 'there is no such file or folder', error);
  }
}

function rolesIn(base: string, { name }: ImportOptions, context: ChangeContext) {
  if (name !== undefined) throw invalidArgument('A role is called as its folder is; --name is for a file.');
  const folders = roleFolders(base);
  if (folders.length === 0) {
    const why = 'it has no system_prompt.md, and no <role>/system_prompt.md. Name the folder of the roles.';
    throw originInvalid(base, why);
  }
  const links = folders[0] === '' ? [] : listContained(base, '').filter(({ kind }) => kind === 'other');
  return {
    makers: folders.map((folder) => ({ from: folder || basename(base), make: () => readRole(base, folder, context) })),
    refused: links.map(({ name: path }) => ({ path: showName(path), reason: 'it is a link or a device.' })),
    prompt: undefined,
  };
}

function partsOf(file: string, { name }: ImportOptions, context: ChangeContext) {
  const { made, prompt } = readPrompt(file, name, context);
  return { makers: [{ from: made.from, make: () => made }], refused: [] as NotImported[], prompt };
}

interface Prepared {
  readonly planned: PlannedSkill;
  readonly notTaken: readonly NotImported[];
}

/** @returns undefined when exactly these files exist: an interrupted import has written them. */
async function preparedOf(
  context: ChangeContext,
  { id, from, description, body, references, leftOut }: MadeSkill,
  origin: string,
  otherwise: string,
): Promise<Prepared | undefined> {
  if (description === '') {
    const why = 'it has no sentence that could be its description. Write what it does in its first line.';
    throw originInvalid(from, why);
  }
  const { location, taken } = locationOf(context, id, otherwise);
  const text = newFrontmatter(id, description) + body;
  const bytes = Buffer.from(text);
  checkSize(location, location.skillFile, bytes, context.limits);
  checkValid(location, location.skillFile, null, bytes, true);
  const files = [{ path: 'SKILL.md', bytes, executable: false }];
  const notTaken = [...leftOut];
  for (const [path, content] of references) {
    try {
      checkNewName(filePath(path, location));
      files.push({ path, bytes: Buffer.from(content), executable: false });
    } catch (error) {
      if (!isCodedError(error)) throw error;
      notTaken.push({ path: showName(path), reason: error.message });
    }
  }
  // Not a link, a file, or a skill of another source with this id.
  const isThere = context.snapshot().byId.get(id)?.dir === folderOf(location);
  if (taken && isThere && isSameFiles(filesAt(location), files)) return undefined;
  if (taken) throw taken;
  const { header } = parseSkill(text, 'SKILL.md', id);
  if (!header) throw originInvalid(from, 'the skill made of it cannot be read.');
  const incoming = { header, files, leftOut: notTaken.length };
  const write = { location, kind: 'created', origin } as const;
  return { planned: await planSkill(context, incoming, write, { ids: [id], isAlong: false }), notTaken };
}

function locationOf(context: ChangeContext, id: string, otherwise: string) {
  try {
    return { location: newLocation(context, id, otherwise), taken: undefined };
  } catch (error) {
    if (!isCodedError(error, 'SKILL_EXISTS')) throw error;
    return { location: locationForNew(id, context.sources(), context.root), taken: error };
  }
}
