import { basename } from 'node:path/posix';
import { originRefused } from '../../../../lib/fetch/index.ts';
import { listed, oneLine, plural } from '../../../../lib/text/index.ts';
import { parseSkill, type SkillHeader } from '../../core/skill/parse-skill.ts';
import { isUsableId, slugOf } from '../../core/skill/skill.ts';
import { noSuchSkill, originInvalid, severalSkills } from './errors.ts';
import { INDEX_PATH, MAX_SKILL_FILE, type OpenedOrigin, type OriginSkill, originSkills } from './opened-origin.ts';
import type { AddOptions } from './types.ts';

export interface ReadableSkill extends OriginSkill {
  /** The skill's name as an id; also its future folder name. */
  readonly id: string;
  readonly header: SkillHeader;
}

export interface ChosenSkills {
  readonly chosen: readonly ReadableSkill[];
  /** Ids that were not named, but are required by a chosen skill. */
  readonly alongWith: ReadonlySet<string>;
  readonly unreadable: readonly string[];
}

/** @throws ORIGIN_INVALID for no skill, an unknown name, or several without a choice; ORIGIN_REFUSED for equal ids. */
export async function chooseSkills(
  opened: OpenedOrigin,
  below: string,
  choice: Pick<AddOptions, 'skills' | 'all'>,
  shown: string,
): Promise<ChosenSkills> {
  const headers = (below === '' && kept.get(opened)) || readHeaders(opened, below);
  if (below === '') kept.set(opened, headers);
  const { readable, unreadable } = await headers;
  if (readable.length === 0) throw originInvalid(shown, whyNone(opened, below, unreadable));
  const named = [...new Set(namedSkills(readable, choice, shown))];
  const alongWith = new Map<string, ReadableSkill>();
  const visit = ({ header }: ReadableSkill): void => {
    for (const id of header.requires) {
      const found = readable.find((one) => one.id === id || basename(one.folder) === id);
      if (!found || named.includes(found) || alongWith.has(found.id)) continue;
      alongWith.set(found.id, found);
      visit(found);
    }
  };
  for (const skill of named) visit(skill);
  const chosen = [...named, ...alongWith.values()];
  for (const [at, { id, folder }] of chosen.entries()) {
    const other = chosen.findIndex((one) => one.id === id);
    if (other === at) continue;
    const folders = [chosen[other]?.folder ?? '', folder].map((one) => JSON.stringify(one)).join(' and ');
    throw originRefused(shown, `${folders} both are the skill "${id}". Choose one of them by its folder.`);
  }
  return { chosen, alongWith: new Set(alongWith.keys()), unreadable };
}

// --- internal ---

/** An update chooses each skill by itself: 300 of one origin would read 300 headers 300 times. */
const kept = new WeakMap<OpenedOrigin, ReturnType<typeof readHeaders>>();

function whyNone(opened: OpenedOrigin, below: string, unreadable: readonly string[]): string {
  const paths = opened.entries.map(({ path }) => path);
  const none = 'there is no folder with a SKILL.md in it';
  if (paths.includes(INDEX_PATH))
    return `${none}. It is a page with skills, as publish makes it: have a web server serve it, and add its address.`;
  if (unreadable.length > 0) {
    const advice = `To see why, take a copy and run skill-registry validate on ${some(unreadable)}.`;
    return `it has no SKILL.md that can be read as a skill. ${advice}`;
  }
  const folders = below === '' ? [] : originSkills(opened, '').map(({ folder }) => folder || '.');
  const others = folders.length > 0 ? ` Folders with a SKILL.md: ${some(folders)}.` : '';
  if (below !== '' && !paths.some((path) => path.startsWith(`${below}/`))) {
    const what = paths.includes(below) ? 'is a file, expected a folder with a SKILL.md in it' : 'is not there';
    return `the path ${JSON.stringify(below)} ${what}.${others}`;
  }
  const there = paths.filter((path) => below === '' || path.startsWith(`${below}/`));
  const what = there.length === 0 ? 'it is empty' : `it has ${plural(there.length, 'file')}: ${some(there)}`;
  return `${none}, and ${what}. A skill is a folder with a file of that name.${others}`;
}

function some(paths: readonly string[]): string {
  const shown = paths.map((path) => oneLine(path, 100));
  return listed(shown, 5);
}

async function readHeaders(opened: OpenedOrigin, below: string) {
  const offered = originSkills(opened, below);
  const sizes = new Map(opened.entries.map(({ path, size }) => [path, size]));
  const small = offered.filter(({ skillFile }) => (sizes.get(skillFile) ?? 0) <= MAX_SKILL_FILE);
  const texts = await opened.read(small.map(({ skillFile }) => skillFile));
  const readable = new Map<string, ReadableSkill>();
  const known = new Set<string>();
  for (const [at, skill] of small.entries()) {
    const folderName = basename(skill.folder) || opened.name;
    const text = texts[at]?.toString('utf8') ?? '';
    const { header } = parseSkill(text, skill.skillFile, folderName);
    if (!header) continue;
    // Its own name first: other tools install under it, and the standard wants the folder to have it.
    const id = [header.name, folderName].map(slugOf).find((one) => isUsableId(one) && one.length <= 64);
    if (!id) continue;
    known.add(skill.skillFile);
    // Repositories keep copies of one skill in the folders of several agents.
    const { folder } = skill;
    const inside = opened.entries.filter(({ path }) => folder === '' || path.startsWith(`${folder}/`));
    const same = JSON.stringify([id, text, inside.map(({ path, size }) => [path.slice(folder.length), size])]);
    if (!readable.has(same)) readable.set(same, { ...skill, header, id });
  }
  return {
    readable: withOwnIds([...readable.values()], opened.name),
    unreadable: offered.map(({ skillFile }) => skillFile).filter((path) => !known.has(path)),
  };
}

/** The first skill with a name keeps it; the others get their folder's name as id, if that is free. */
function withOwnIds(skills: readonly ReadableSkill[], offerName: string): readonly ReadableSkill[] {
  const ids = new Set(skills.map(({ id }) => id));
  const seen = new Set<string>();
  return skills.map((skill) => {
    const folderName = slugOf(basename(skill.folder) || offerName);
    const isFree = isUsableId(folderName) && !ids.has(folderName);
    const id = seen.has(skill.id) && isFree ? folderName : skill.id;
    ids.add(id);
    seen.add(id);
    return id === skill.id ? skill : { ...skill, id };
  });
}

function namedSkills(
  readable: readonly ReadableSkill[],
  { skills, all }: Pick<AddOptions, 'skills' | 'all'>,
  shown: string,
): ReadableSkill[] {
  const list = readable.map(({ id }) => id);
  if (skills && skills.length > 0) {
    return skills.map((wanted) => {
      const found = readable.filter(
        ({ id, header, folder }) =>
          folder === wanted || id === wanted || header.name === wanted || basename(folder) === wanted,
      );
      const [first] = found.length > 1 ? found.filter(({ folder }) => folder === wanted) : found;
      if (first) return first;
      if (found.length === 0) throw noSuchSkill(shown, wanted, list);
      const folders = found.map(({ folder }) => folder).join(', ');
      const why = `${found.length} skills are called ${JSON.stringify(wanted)}: ${folders}. Give the folder.`;
      throw originInvalid(shown, why);
    });
  }
  if (all || readable.length === 1) return [...readable];
  throw severalSkills(shown, list);
}
