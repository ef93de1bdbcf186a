import { describeError, type Problem } from 'skill-registry/kernel';
import { withDeadline } from '../../../../../kernel/host.ts';
import { relativeSegments } from '../../../../../lib/files/index.ts';
import { kindOf } from '../../skill/field-values.ts';
import { isUsableId, quotedName } from '../../skill/skill.ts';
import type { SkillSource } from '../source.ts';
import type { CustomSkill, CustomSource } from '../types.ts';
import { createMemorySource, type MemorySkill, type MemorySkills } from './memory-source.ts';

/**
 * Leaves out and reports wrong values (FIELD_INVALID, SKILL_ID_INVALID). A failing function keeps the last skills.
 * @param named.id - Replaces the id of the source, which may be in use.
 */
export function createCustomSource(
  source: CustomSource,
  { id, location }: { readonly id: string; readonly location: string },
): SkillSource {
  const load = async (): Promise<MemorySkills> => {
    const { skills } = source;
    const given: unknown = await withDeadline(typeof skills === 'function' ? skills.call(source) : skills, MAX_MS);
    if (!Array.isArray(given)) throw new TypeError('its skills are not a list');
    const problems: Problem[] = failure === undefined ? [] : [subscribeFailed(id, failure, location)];
    return { skills: given.flatMap((one: unknown) => readSkill(one, id, problems)), problems };
  };
  let failure: string | undefined;
  const subscribe = (changed: () => void): (() => void) => {
    // A promise is the program's mistake; its rejection must not end the process.
    const subscribed = (async (): Promise<unknown> => source.onChange?.(() => changed()))();
    subscribed.catch((error) => {
      failure = describeError(error).replace(/\.$/, '');
    });
    return () => void subscribed.then((end) => typeof end === 'function' && end()).catch(() => undefined);
  };
  return { ...createMemorySource({ id, kind: 'own', location, load }), subscribe };
}

// --- internal ---

const MAX_ID = 255;
/** For the function that gives the skills. */
const MAX_MS = 10_000;

function readSkill(given: unknown, source: string, problems: Problem[]): readonly MemorySkill[] {
  try {
    const { id, name, description, body, frontmatter, files, ...others } = given as Fields<keyof CustomSkill>;
    if (!isOwnId(id)) {
      problems.push(unusableId(id, source));
      return [];
    }
    const [file, label] = [`${source}:${id}`, `The skill ${quotedName(id)}: `];
    const report = (message: string): void => {
      problems.push({ code: 'FIELD_INVALID', severity: 'warning', file, message: `${label}${message}` });
    };
    if (body === undefined) {
      const instead = Object.keys(others).map(quotedName).join(', ');
      report(`it has no body, the text that an agent reads${instead && `; what it has is not read: ${instead}`}.`);
    }
    const text = (field: string, value: unknown): string => {
      if (typeof value === 'string') return value;
      if (value !== undefined) report(`its ${field} is ${kindOf(value)}, expected text; it is left out.`);
      return '';
    };
    return [
      {
        id,
        name: text('name', name),
        description: text('description', description),
        body: text('body', body),
        frontmatter: readFrontmatter(frontmatter, report),
        files: readFiles(files, report),
        file,
        label,
      },
    ];
  } catch (error) {
    problems.push(unusableId(describeError(error), source));
    return [];
  }
}

type Fields<Key extends string> = Readonly<Record<Key, unknown>>;

/** An id appears in prompts and addresses, and can become a folder name. */
function isOwnId(id: unknown): id is string {
  return typeof id === 'string' && id.length <= MAX_ID && isUsableId(id) && !/^\.{1,2}$|[/\\]/.test(id);
}

function readFrontmatter(given: unknown, report: (message: string) => void): Fields<string> {
  try {
    if (isObject(given)) return JSON.parse(JSON.stringify(given)) as Fields<string>;
    if (given !== undefined) report(`its frontmatter is ${kindOf(given)}, expected an object; it is left out.`);
  } catch (error) {
    report(`its frontmatter is not JSON (${describeError(error)}); it is left out.`);
  }
  return {};
}

function readFiles(given: unknown, report: (message: string) => void): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  if (given !== undefined && !isObject(given))
    report(`its files are ${kindOf(given)}, expected an object; they are left out.`);
  for (const [path, content] of isObject(given) ? Object.entries(given) : []) {
    const shown = quotedName(path);
    try {
      const normalPath = relativeSegments(path).join('/');
      const isBytes = content instanceof Uint8Array;
      if (!isBytes && typeof content !== 'string')
        report(`its file ${shown} is ${kindOf(content)}, expected text or bytes; it is left out.`);
      else if (normalPath.toLowerCase() === 'skill.md' || files.has(normalPath))
        report(`its file ${shown} is given twice; this one is left out.`);
      else files.set(normalPath, isBytes ? content : Buffer.from(content));
    } catch (error) {
      report(`its file ${shown} is left out: ${describeError(error)}`);
    }
  }
  return files;
}

/** Also of a class, unlike `isRecord`. */
function isObject(value: unknown): value is Fields<string> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function subscribeFailed(id: string, reason: string, file: string): Problem {
  const message = `onChange of the source "${id}" failed: ${reason}. Its changes are only seen at a refresh. Correct onChange.`;
  return { code: 'SOURCE_FAILED', severity: 'warning', file, message };
}

function unusableId(given: unknown, source: string): Problem {
  const which = typeof given === 'string' ? quotedName(given) : kindOf(given);
  const message = `The source "${source}" gave a skill without a usable id (${which}): a text without / \\ : and \`, other than "." and "..". It is left out.`;
  return { code: 'SKILL_ID_INVALID', severity: 'error', file: source, message };
}
