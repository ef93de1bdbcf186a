import { basename, dirname } from 'node:path';
import { CodedError, describeError, isCodedError } from 'skill-registry/kernel';
import { listContained, readContained, readNamedFile } from '../../../../../lib/files/index.ts';
import { oneLine, showName } from '../../../../../lib/text/index.ts';
import { slugOf } from '../../../core/skill/skill.ts';
import { isSkillFileName } from '../../../core/sources/walk/names.ts';
import type { ChangeContext } from '../../history/change-context.ts';
import { decodeText } from '../../history/skill-location.ts';
import { originInvalid } from '../errors.ts';
import type { NotImported } from '../types.ts';
import { splitPrompt } from './split-prompt.ts';

export interface MadeSkill {
  readonly id: string;
  readonly from: string;
  readonly description: string;
  readonly body: string;
  /** By path, below `references/`. */
  readonly references: ReadonlyMap<string, Buffer | string>;
  readonly leftOut: readonly NotImported[];
}

/** Follows no links. '' in the result is `base` itself. @param base - Absolute, real. */
export function roleFolders(base: string): readonly string[] {
  const isRole = (folder: string): boolean => listContained(base, folder).some(({ name }) => name === TEMPLATE);
  if (isRole('')) return [''];
  return listContained(base, '').flatMap(({ name, kind }) => (kind === 'directory' && isRole(name) ? name : []));
}

/** @throws PATH_TRAVERSAL, RESOURCE_TOO_LARGE, RESOURCE_NOT_FOUND, NOT_TEXT for the template only. */
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
  const links = [...references.keys()].map((path) =>
    /^[\w./-]+$/.test(path) ? `- [${path}](${path})` : `- \`${path}\``,
  );
  const more = links.length > 0 ? `\n## Files of this role\n\n${links.join('\n')}\n` : '';
  const body = `${text.replaceAll('\r\n', '\n').replace(/\n?$/, '\n')}${more}`;
  return { id: slugOf(role), from: showName(role), description: descriptionIn(text), body, references, leftOut };
}

/** @param name - Id of the skill. Default: the file name; for a file named `prompt`, its folder's name. */
export function readPrompt(
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
export function jinjaIn(text: string): readonly { readonly line: number; readonly text: string }[] {
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

// --- internal ---

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
