import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { CodedError, describeError, isCodedError } from 'skill-registry/kernel';
import { originUnavailable } from '../../../../../lib/fetch/index.ts';
import { listContained, readContained, readNamedFile } from '../../../../../lib/files/index.ts';
import { oneLine, showName } from '../../../../../lib/text/index.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { parseSkill } from '../../../core/skill/parse-skill.ts';
import { slugOf } from '../../../core/skill/skill.ts';
import { newFrontmatter } from '../../../core/skill/yaml-fields.ts';
import { isSkillFileName } from '../../../core/sources/walk/names.ts';
import { type ChangeContext, newLocation } from '../../history/change-context.ts';
import {
  checkNewName,
  checkSize,
  checkValid,
  decodeText,
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
import { splitPrompt } from './split-prompt.ts';

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

interface MadeSkill {
  readonly id: string;
  readonly from: string;
  readonly description: string;
  readonly body: string;
  /** By path, below `references/`. */
  readonly references: ReadonlyMap<string, Buffer | string>;
  readonly leftOut: readonly NotImported[];
}

/** Follows no links. '' in the result is `base` itself. @param base - Absolute, real. */
function roleFolders(base: string): readonly string[] {
  const isRole = (folder: string): boolean => listContained(base, folder).some(({ name }) => name === TEMPLATE);
  if (isRole('')) return [''];
  return listContained(base, '').flatMap(({ name, kind }) => (kind === 'directory' && isRole(name) ? name : []));
}

/** @throws PATH_TRAVERSAL, RESOURCE_TOO_LARGE, RESOURCE_NOT_FOUND, NOT_TEXT for the template only. */
function readRole(base: string, folder: string, { limits }: Pick<ChangeContext, 'limits'>): MadeSkill {
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
  const links = [...references.keys()].map((path) =>
    /^[\w./-]+$/.test(path) ? `- [${path}](${path})` : `- \`${path}\``,
  );
  const more = links.length > 0 ? `\n## Files of this role\n\n${links.join('\n')}\n` : '';
  const body = `${text.replaceAll('\r\n', '\n').replace(/\n?$/, '\n')}${more}`;
  return { id: slugOf(role), from: showName(role), description: descriptionIn(text), body, references, leftOut };
}

/** @param name - Id of the skill. Default: the file name; for a file named `prompt`, its folder's name. */
function readPrompt(
  file: string,
  name: string | undefined,
  { limits }: Pick<ChangeContext, 'limits'>,
): { readonly made: MadeSkill; readonly prompt: string } {
  const from = showName(basename(file));
  if (isSkillFileName(basename(file)))
    throw originInvalid(file, 'it is a skill already. To install it: skill-registry add <its folder>.');
  const split = splitPrompt(plainText(readNamedFile(file, limits.file_bytes), from));
  if (!split) {
    const advice = 'Put a heading (## Name) before each part that other agents can use, too.';
    throw originInvalid(file, `it has no section that a skill could be made of. ${advice}`);
  }
  const { body, references, titles, prompt } = split;
  const [stem = ''] = basename(file).split('.');
  const id = name ?? slugOf(/^(system[-_]?)?prompt$/i.test(stem) ? basename(dirname(file)) : stem);
  const covers = titles.filter((title) => title !== '' && !/\{[{%#]/.test(title)).map((title) => oneLine(title, 60));
  const sentences = [descriptionIn(body), covers.length > 0 ? `Covers: ${covers.join(', ')}.` : ''];
  const description = oneLine(sentences.filter(Boolean).join(' '), MAX_DESCRIPTION);
  return { made: { id, from, description, body, references, leftOut: [] }, prompt };
}

/** At most 1,000 places, with 1-based lines. */
function jinjaIn(text: string): readonly { readonly line: number; readonly text: string }[] {
  const found: { line: number; text: string }[] = [];
  let [line, counted] = [1, 0];
  const last = new Map(['}}', '%}', '#}'].map((end) => [end, text.lastIndexOf(end)]));
  for (let at = text.indexOf('{'); at !== -1 && found.length < 1_000; at = text.indexOf('{', at)) {
    const end = ENDS.get(text.slice(at, at + 2)) ?? '';
    if ((last.get(end) ?? -1) < at + 2) {
      at += 1;
      continue;
    }
    const after = text.indexOf(end, at + 2) + 2;
    for (; counted < at; counted += 1) if (text[counted] === '\n') line += 1;
    found.push({ line, text: oneLine(text.slice(at, after), 80) });
    at = after;
  }
  return found;
}

const TEMPLATE = 'system_prompt.md';
const REASONS = {
  directory: 'it is a folder; copy what is meant into references/ of the skill',
  other: 'it is a link or a device, which is not followed',
  private: 'its name is that of a secret, which no agent is handed',
} as const;
const ENDS: ReadonlyMap<string, string> = new Map([
  ['{{', '}}'],
  ['{%', '%}'],
  ['{#', '#}'],
]);
/** Characters of a description; the standard allows 1,024. */
const MAX_DESCRIPTION = 1_000;
const MAX_READ = 20_000;
/** Characters of a sentence. Two of `MAX` fit into one description. */
const [MIN, MAX] = [20, 400];

function plainText(bytes: Buffer, path: string): string {
  const text = decodeText(bytes, path);
  if (text.includes('\0'))
    throw new CodedError('NOT_TEXT', `${JSON.stringify(path.slice(0, 200))} has a NUL character, so it is no text.`);
  return text.replace(/^\ufeff/, '');
}

/** The first sentence of at least `MIN` characters, else the longest; and the one that says when to use the skill. */
function descriptionIn(text: string): string {
  const sentences = proseOf(text.slice(0, MAX_READ)).flatMap((paragraph) => paragraph.split(/(?<=[.!?])\s+/));
  const usable = sentences.filter((one) => /\p{L}/u.test(one) && !/\{[{%#]/.test(one));
  const what = usable.find(({ length }) => length >= MIN) ?? [...usable].sort((a, b) => b.length - a.length)[0] ?? '';
  const when = usable.find((one) => /^(use (this|it|when|for)\b|when to use\b)/i.test(one) && one !== what);
  return [what, ...(when === undefined ? [] : [when])].map((one) => oneLine(one, MAX)).join(' ');
}

function proseOf(text: string): readonly string[] {
  const plain = text.replace(/^(?: {0,3})(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1[`~]*[ \t]*$|$(?![\s\S]))/gm, '\n\n');
  return plain
    .split(/\r?\n[ \t]*\r?\n/)
    .map((paragraph) =>
      paragraph
        .split(/\r?\n/)
        .filter((line) => !/^\s*(#{1,6}(\s|$)|[-*+|>]|\d+[.)]\s|<|\{[%#]|---)|^( {4}|\t)/.test(line))
        .join(' ')
        .replace(/[*`]+/g, '')
        .trim(),
    )
    .filter((paragraph) => paragraph !== '');
}
