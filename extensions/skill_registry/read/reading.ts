import { CodedError, describeError, isCodedError, type TurnContext } from 'skill-registry/kernel';
import { digestOf } from '../../../lib/files/index.ts';
import { countTokens, nameShownAs, nearestIds, showName, withoutHidden } from '../../../lib/text/index.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { skillNamed } from '../catalog/snapshot.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import { findVisible, type Grants, keptFrom, visibleSkills } from '../show/scope.ts';
import { skillKept, skillNotFound } from '../skill/errors.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import type { Skill } from '../skill/skill.ts';
import type { SkillSource } from '../sources/source.ts';
import { listingOf } from '../sources/walk/list-files.ts';
import type { LoadDetails, Reading, ReadOptions, ReadResource, ReadSkill, SkillLoadedEvent } from './types.ts';

type Audience = NonNullable<ReadOptions['audience']>;

/** Looks at the present files of a skill before an agent is given one of them. @returns whether the skill is held. */
export type Admit = (skill: Skill) => Promise<boolean>;

/** L2 and L3: looks up a skill, reads it or one of its files, and reports every load. */
export function createReading(
  catalog: Catalog,
  grants: Grants,
  limits: SkillRegistryConfig['limits'],
  onLoaded: (event: SkillLoadedEvent, details: LoadDetails) => void,
  admit: Admit,
): Reading {
  const sourceOf = (skill: Skill | undefined): SkillSource | undefined =>
    skill && catalog.sources().find(({ id }) => id === skill.source);
  const knownSkill = (skillId: string): Skill => {
    const skill = skillNamed(catalog.snapshot(), skillId);
    if (skill) return skill;
    throw skillNotFound(skillId, nearestIds(catalog.snapshot().byId.keys(), skillId));
  };
  const readableSkill = (request: LoadRequest): Skill => {
    const { skill, refusal } = find(catalog, grants, request);
    if (skill && !refusal) return skill;
    throw skillNotFound(request.skillId, nearestIds(knownIds(catalog, grants, request), request.skillId));
  };
  const findAdmitted = async (request: LoadRequest): Promise<ReturnType<typeof findVisible>> => {
    const found = find(catalog, grants, request);
    const { skill, refusal } = found;
    const isForAgent = request.audience !== 'person' || request.turn !== undefined;
    if (!skill || !isForAgent || (refusal && refusal !== 'SKILL_HELD')) return found;
    const isHeld = await admit(skill);
    // Its state may have changed with what was found.
    const now = find(catalog, grants, request);
    return isHeld && now.skill ? { ...now, refusal: now.refusal ?? 'SKILL_HELD' } : now;
  };
  const load = async <T>(
    request: LoadRequest,
    use: (skill: Skill, source: SkillSource, id: string) => Promise<T>,
    /** What is recorded of it; undefined when it is not handed over, so that it is no load. */
    detailsOf: (loaded: T) => Partial<Pick<LoadDetails, 'digest' | 'tokens'>> | undefined,
  ): Promise<T> => {
    const startedAt = performance.now();
    const { skill, refusal } = await findAdmitted(request);
    const report = (
      outcome: SkillLoadedEvent['outcome'],
      error: string | null,
      { digest, tokens }: Partial<LoadDetails> = {},
    ): void => {
      if (request.told === false) return;
      const event: SkillLoadedEvent = {
        event: 'skill_loaded',
        skillId: request.skillId,
        ...(request.path === undefined ? {} : { path: request.path }),
        source: skill?.source ?? null,
        outcome,
        audience: request.audience,
        agentId: request.turn?.agentId ?? null,
        durationSeconds: (performance.now() - startedAt) / 1000,
        error,
      };
      onLoaded(event, { skill, turn: request.turn, digest, tokens });
    };
    const source = sourceOf(skill);
    // Without a source: it was removed after this snapshot.
    if (!skill || !source || refusal) {
      report(refusal ? 'refused' : 'failure', refusal ?? 'SKILL_NOT_FOUND');
      if (request.audience !== 'model' && (refusal === 'SKILL_HELD' || refusal === 'SKILL_DISABLED'))
        throw skillKept(refusal, skill?.id ?? request.skillId);
      throw skillNotFound(request.skillId, nearestIds(knownIds(catalog, grants, request), request.skillId));
    }
    try {
      const loaded = await use(skill, source, idOf(skill, catalog, grants, request));
      // The agent of a conversation may use what a person loads in it.
      if (request.audience === 'person' && request.turn) grants.add(skill, request.turn);
      const details = detailsOf(loaded);
      if (details) report('success', null, details);
      return loaded;
    } catch (error) {
      report('failure', isCodedError(error) ? error.code : describeError(error));
      throw error;
    }
  };

  return {
    resources(skillId, turn) {
      const skill = turn ? readableSkill({ skillId, audience: 'model', turn }) : knownSkill(skillId);
      return sourceOf(skill)?.resources(skill) ?? [];
    },
    leftOut(skillId) {
      const skill = knownSkill(skillId);
      const source = sourceOf(skill);
      return source ? listingOf(skill, source).leftOut : 0;
    },
    read: (skillId, { view = 'body', audience = 'person' } = {}, turn) =>
      load(
        { skillId, audience, turn },
        (skill, source, id) =>
          readSkill(skill, id, source, view, {
            ...limits,
            shown: audience === 'model' ? showName : (name) => name,
            isFound: (needed) => isOther(skill, find(catalog, grants, { skillId: needed, audience, turn })),
          }),
        ({ digest, approxTokens: tokens }) => ({ digest, tokens }),
      ),

    readBytes(skillId, { path, told = true } = {}, turn) {
      const request: LoadRequest = { skillId, audience: turn ? 'model' : 'person', turn, told: told !== false };
      return load(
        path === undefined ? request : { ...request, path },
        async (skill, source) =>
          path === undefined
            ? bytesOf(skill, source, limits)
            : fileOf(skill, ownPath(path, skill, source), source, limits),
        (bytes) => {
          if (typeof told === 'function' && !told(bytes)) return undefined;
          return path === undefined || path === 'SKILL.md' ? { digest: digestOf(bytes) } : {};
        },
      );
    },

    readResource: (skillId, path, turn) =>
      load(
        { skillId, path, audience: turn ? 'model' : 'person', turn },
        async (skill, source, id): Promise<ReadResource> => {
          const bytes = await fileOf(skill, ownPath(path, skill, source), source, limits);
          const text = bytes.toString('utf8');
          const isText = Buffer.from(text).equals(bytes);
          const content = isText ? text : bytes.toString('base64');
          const approxTokens = await countTokens(content);
          const encoding = isText ? 'utf-8' : 'base64';
          return { skillId: id, path, content, encoding, size: bytes.length, approxTokens };
        },
        ({ approxTokens: tokens }) => ({ tokens }),
      ),
  };
}

export function loadedMessage(skillId: string, tokens: number): string {
  return `Skill loaded: ${skillId} (approx. ${tokens} tokens)`;
}

// --- internal ---

interface LoadRequest {
  readonly skillId: string;
  readonly path?: string;
  readonly audience: Audience;
  readonly turn: TurnContext | undefined;
  /** False: no event is sent. */
  readonly told?: boolean;
}

/**
 * Looks the id up; an id is never joined into a path. The scope of a turn does not limit people and bindings. What a person loads
 * in a conversation is sent to its agent.
 */
function find(catalog: Catalog, grants: Grants, request: LoadRequest): ReturnType<typeof findVisible> {
  const { skillId, audience, turn = {} } = request;
  const snapshot = catalog.snapshot();
  if (audience === 'model') return findVisible(snapshot, skillId, turn, grants.of(turn));
  const skill = skillNamed(snapshot, skillId);
  const refusal = skill && (audience === 'binding' || request.turn) ? keptFrom(turn, skill) : undefined;
  return skill ? { skill, ...(refusal ? { refusal } : {}) } : {};
}

/** The id by which the caller gets this skill again: the short one, unless it is the id of another skill. */
function idOf(skill: Skill, catalog: Catalog, grants: Grants, request: LoadRequest): string {
  if (request.skillId === skill.id) return skill.id;
  return find(catalog, grants, { ...request, skillId: skill.id }).skill === skill ? skill.id : skill.qualifiedId;
}

/** Whether a look-up found a skill that the caller may read, and another one than `skill`. */
function isOther(skill: Skill, found: ReturnType<typeof findVisible>): boolean {
  return found.skill !== undefined && found.skill !== skill && found.refusal === undefined;
}

/** The path of a file for which a list has shown this one, with hidden characters as `⟦U+202E⟧`. */
function ownPath(path: string, skill: Skill, source: SkillSource): string {
  if (!path.includes('⟦')) return path;
  const paths = source.resources(skill).map((one) => one.path);
  return nameShownAs(path, paths);
}

function knownIds(catalog: Catalog, grants: Grants, { audience, turn = {} }: LoadRequest): readonly string[] {
  const snapshot = catalog.snapshot();
  const skills = audience === 'model' ? visibleSkills(snapshot, turn, grants.of(turn)) : snapshot.skills;
  return skills.map((skill) => skill.id);
}

type Limits = SkillRegistryConfig['limits'];

/** Of SKILL.md. */
async function bytesOf(skill: Skill, source: SkillSource, { file_bytes: most }: Limits): Promise<Buffer> {
  return source.fetch ? source.fetch(skill, undefined, most) : source.readSkill(skill, most);
}

async function fileOf(
  skill: Skill,
  path: string,
  source: SkillSource,
  { resource_bytes: most }: Limits,
): Promise<Buffer> {
  try {
    return await (source.fetch ? source.fetch(skill, path, most) : source.readResource(skill, path, most));
  } catch (error) {
    throw withAdvice(error, path, skill, source);
  }
}

/** What to read instead, or what a person can change. */
function withAdvice(error: unknown, path: string, skill: Skill, source: SkillSource): unknown {
  if (isCodedError(error, 'RESOURCE_TOO_LARGE')) {
    const advice = 'A person can raise limits.resource_bytes in the config of the registry.';
    return new CodedError(error.code, `${error.message} ${advice}`, error.details, error);
  }
  if (!isCodedError(error, 'RESOURCE_NOT_FOUND')) return error;
  const paths = source.resources(skill).map((file) => file.path);
  const near = nearestIds(paths, path);
  const shown = (near.length > 0 ? near : paths.slice(0, 5)).map((one) => JSON.stringify(showName(one))).join(', ');
  const has =
    paths.length === 0 ? 'The skill has only SKILL.md.' : `Beside SKILL.md it has ${paths.length} file(s): ${shown}.`;
  const known = near.length > 0 ? `Nearest: ${shown}.` : has;
  return new CodedError(error.code, `${error.message} ${known}`, error.details, error);
}

async function readSkill(
  skill: Skill,
  id: string,
  source: SkillSource,
  view: 'body' | 'raw',
  {
    isFound,
    shown,
    ...limits
  }: Limits & {
    /** How the caller gets a path. */
    readonly shown: (path: string) => string;
    /** Whether the caller can read another skill with this id. */
    readonly isFound: (skillId: string) => boolean;
  },
): Promise<ReadSkill> {
  const bytes = await bytesOf(skill, source, limits);
  const text = bytes.toString('utf8');
  const handed = view === 'raw' ? { text, leftOut: 0 } : withoutHidden(bodyOf(text));
  const { text: content } = handed;
  const approxTokens = await countTokens(content);
  const needed = skill.requires.filter(isFound).join(', ');
  const { files, leftOut } = listingOf(skill, source);
  return {
    skillId: id,
    name: skill.name,
    content,
    ...(handed.leftOut > 0 ? { hiddenLeftOut: handed.leftOut } : {}),
    approxTokens,
    message: loadedMessage(id, approxTokens),
    requires: skill.requires,
    ...(needed ? { hint: `This skill requires: ${needed}. Load it first if you haven't already.` } : {}),
    allowedTools: skill.allowedTools.map((tool) => withoutHidden(tool).text),
    ...(skill.dir === null ? {} : { directory: shown(skill.dir) }),
    resources: files.map(({ path, size }) => ({ path: shown(path), size })),
    ...(leftOut > 0 ? { resourcesLeftOut: leftOut } : {}),
    // Of the bytes read: the file may have changed since the snapshot.
    digest: digestOf(bytes),
    source: skill.source,
  };
}
