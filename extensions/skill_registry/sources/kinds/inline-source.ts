import { createHash } from 'node:crypto';
import type { Problem } from 'skill-registry/kernel';
import { yamlPackage } from '../../../../kernel/host.ts';
import { assertReadable, relativeSegments, resourceNotFound, resourceTooLarge } from '../../../../lib/files/index.ts';
import { foldLine } from '../../../../lib/text/index.ts';
import { parseSkill } from '../../skill/parse-skill.ts';
import type { ResourceInfo, Skill } from '../../skill/skill.ts';
import { isUsableId, quotedName, slugOf } from '../make-skill.ts';
import type { SkillSource } from '../source.ts';
import { createOwnSkills } from '../source.ts';
import { withoutPrivate } from '../walk/list-files.ts';

/** A skill written into a config or a pack instead of a folder. */
export interface InlineSkill {
  /** For people; the id is made of it: `Escalation Protocol` becomes `escalation-protocol`. */
  readonly name: string;
  readonly description: string;
  /** The body. */
  readonly instructions: string;
  /** Text by relative path: what the folder of another skill would hold. Default: none. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

export interface InlineSourceOptions {
  readonly id: string;
  readonly skills: readonly InlineSkill[];
  /** The file they are written in, for problems and for people. */
  readonly file: string;
}

/**
 * Skills held in memory. Of several with one id the first wins; the others are losers with a number in their qualified id.
 * Problems: SKILL_ID_INVALID for a name nothing can be made of, SKILL_EMPTY, and those of a description.
 */
export function createInlineSource({ id, skills, file }: InlineSourceOptions): SkillSource {
  const problems: Problem[] = [];
  const found = new Map<string, Skill>();
  const losers: Skill[] = [];
  const texts = new Map<string, InlineSkill>();
  for (const inline of skills) {
    const skillId = slugOf(inline.name);
    if (!isUsableId(skillId)) {
      problems.push(unusableName(inline.name, file));
      continue;
    }
    const { skill, problems: wrong } = toSkill(id, skillId, inline, file);
    problems.push(...wrong);
    if (!skill) continue;
    let qualifiedId = skill.qualifiedId;
    for (let number = 2; texts.has(qualifiedId); number++) qualifiedId = `${skill.qualifiedId}~${number}`;
    texts.set(qualifiedId, inline);
    if (found.has(skillId)) losers.push({ ...skill, qualifiedId });
    else found.set(skillId, skill);
  }
  const own = createOwnSkills<InlineSkill>();
  own.replace(texts);
  return {
    id,
    kind: 'inline',
    location: file,
    async scan() {
      return { skills: [...found.values()], losers, problems };
    },
    readSkill(skill, maxBytes) {
      const inline = own.get(skill);
      return atMost(maxBytes, Buffer.from(textOf(slugOf(inline.name), inline)), skill.id);
    },
    resources: (skill) => withoutPrivate(listFiles(own.find(skill))).files,
    listing: (skill) => withoutPrivate(listFiles(own.find(skill))),
    readResource(skill, path, maxBytes) {
      const wanted = relativeSegments(path).join('/');
      assertReadable(wanted.split('/'), path);
      const text = Object.entries(own.get(skill).files ?? {}).find(([name]) => name === wanted)?.[1];
      if (text === undefined) throw resourceNotFound(path);
      return atMost(maxBytes, Buffer.from(text), path);
    },
    watchFolders: () => [],
    contains: () => false,
  };
}

// --- internal ---

function toSkill(
  source: string,
  id: string,
  inline: InlineSkill,
  file: string,
): { readonly skill?: Skill; readonly problems: readonly Problem[] } {
  const text = textOf(id, inline);
  const { header, problems } = parseSkill(text, file, id);
  // The name that is judged here was made of the author's.
  const wrong = problems.filter(({ code }) => !code.startsWith('NAME_')).map((problem) => named(problem, inline.name));
  if (!header) return { problems: wrong };
  const skill: Skill = {
    ...header,
    name: foldLine(inline.name),
    id,
    qualifiedId: `${source}:${id}`,
    source,
    file,
    dir: null,
    realFile: null,
    digest: `sha256:${createHash('sha256').update(text).digest('hex')}`,
    bytes: Buffer.byteLength(text),
  };
  return { skill, problems: wrong };
}

/** The SKILL.md it would be. */
function textOf(id: string, { description, instructions }: InlineSkill): string {
  const fields = yamlPackage().stringify({ name: id, description }, { lineWidth: 0 });
  return `---\n${fields}---\n\n${instructions.trim()}\n`;
}

function listFiles({ files = {} }: Pick<InlineSkill, 'files'> = {}): readonly ResourceInfo[] {
  return Object.entries(files)
    .map(([path, text]) => ({ path, size: Buffer.byteLength(text) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function atMost(maxBytes: number, bytes: Buffer, shown: string): Buffer {
  if (bytes.length > maxBytes) throw resourceTooLarge(shown, bytes.length, maxBytes);
  return bytes;
}

/** Which line of which text it is would mean nothing: there is no such file. */
function named({ line: _line, ...problem }: Problem, name: string): Problem {
  return { ...problem, message: `The inline skill ${quotedName(name)}: ${problem.message}` };
}

function unusableName(name: string, file: string): Problem {
  const message = `The inline skill ${quotedName(name)} has no letter or digit in its name to make an id of. Rename it.`;
  return { code: 'SKILL_ID_INVALID', severity: 'error', file, message };
}
