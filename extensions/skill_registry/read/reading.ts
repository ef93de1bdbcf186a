import { type CodedError, describeError, isCodedError, type TurnContext } from 'skill-registry/kernel';
import { digestOf } from '../../../lib/digest/index.ts';
import { countTokens, nearestIds, showName, withNote, withoutHidden } from '../../../lib/text/index.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { skillNamed } from '../catalog/snapshot.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import { findVisible, type Grants, heldOrDisabled, visibleSkills } from '../show/scope.ts';
import type { SkillTokenCounts } from '../show/token-counts.ts';
import { skillHeldOrDisabled, skillNotFound } from '../skill/errors.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import type { ResourceInfo, Skill } from '../skill/skill.ts';
import type { SkillSource } from '../sources/source.ts';
import type { Guard } from '../trust/types.ts';
import { type AdmittedFile, type Found, readAdmitted } from './read-admitted.ts';
import type { LoadDetails, Reading, ReadOptions, ResourceContent, SkillContent, SkillLoadedEvent } from './types.ts';

type Limits = SkillRegistryConfig['limits'];

export interface ReadingContext {
  readonly catalog: Catalog;
  readonly grants: Grants;
  readonly limits: Limits;
  readonly admit: Guard['admit'];
  readonly tokensOfBody: SkillTokenCounts['ofBody'];
  readonly onLoaded: (event: SkillLoadedEvent, details: LoadDetails) => void;
}

/** L2 and L3: looks up a skill, reads it or one of its files, and reports every load. */
export class SkillReading implements Reading {
  readonly #context: ReadingContext;

  constructor(context: ReadingContext) {
    this.#context = context;
  }

  async read(
    skillId: string,
    { view = 'body', audience = 'person' }: ReadOptions = {},
    turn?: TurnContext,
    /** Gets a function that counts what was read as a load. Default: it counts at once. */
    later?: (count: () => void) => void,
  ): Promise<SkillContent> {
    return this.#load(
      { skillId, audience, turn, ...(later ? { later } : {}) },
      (admitted, id) => {
        const { skill } = admitted;
        const isFound = (needed: string): boolean => {
          const { skill: other, refusal } = this.#find({ skillId: needed, audience, turn });
          return other !== undefined && other !== skill && refusal === undefined;
        };
        const shown = audience === 'model' ? showName : (name: string) => name;
        return readSkill(admitted, id, { view, shown, isFound, tokensOfBody: this.#context.tokensOfBody });
      },
      ({ digest, approxTokens: tokens }) => ({ digest, tokens }),
    );
  }

  async readBytes(
    skillId: string,
    { path, countsAsLoad = true, onHeld }: NonNullable<Parameters<Reading['readBytes']>[1]> = {},
    turn?: TurnContext,
  ): Promise<Uint8Array> {
    const request: LoadRequest = {
      skillId,
      audience: turn ? 'model' : 'person',
      turn,
      countsAsLoad: countsAsLoad !== false,
      // Without it, the reader has no place for the mark, as a search for hidden characters.
      isMarked: onHeld !== undefined,
    };
    return this.#load(
      path === undefined ? request : { ...request, path },
      async ({ bytes, heldBecause }) => {
        if (heldBecause !== undefined) onHeld?.(heldBecause);
        return bytes;
      },
      (bytes) => {
        if (typeof countsAsLoad === 'function' && !countsAsLoad(bytes)) return undefined;
        return path === undefined || path === 'SKILL.md' ? { digest: digestOf(bytes) } : {};
      },
    );
  }

  async readResource(skillId: string, path: string, turn?: TurnContext): Promise<ResourceContent> {
    return this.#load(
      { skillId, path, audience: turn ? 'model' : 'person', turn },
      async ({ bytes, heldBecause }, id): Promise<ResourceContent> => {
        const text = bytes.toString('utf8');
        const isText = Buffer.from(text).equals(bytes);
        const content = isText ? text : bytes.toString('base64');
        const encoding = isText ? 'utf-8' : 'base64';
        const approxTokens = await countTokens(content);
        const mark = heldBecause === undefined ? {} : { heldBecause };
        return { skillId: id, path, content, encoding, size: bytes.length, approxTokens, ...mark };
      },
      ({ approxTokens: tokens }) => ({ tokens }),
    );
  }

  /** The body for a system prompt; undefined when the file was removed, lies on another machine, or may not be given. */
  async bodyForPrompt(skill: Skill): Promise<string | undefined> {
    if (skill.remote) return undefined;
    try {
      const found = await readAdmitted(
        this.#around(() => ({ skill })),
        { audience: 'model', isMarked: false },
      );
      return 'bytes' in found ? withNote(withoutHidden(bodyOf(found.bytes.toString('utf8')))) : undefined;
    } catch (error) {
      if (isCodedError(error)) return undefined;
      throw error;
    }
  }

  resources(skillId: string, turn?: TurnContext): readonly ResourceInfo[] {
    const skill = this.#readableSkill({ skillId, audience: turn ? 'model' : 'person', turn });
    return this.#sourceOf(skill)?.listing(skill).files ?? [];
  }

  leftOutCount(skillId: string): number {
    const skill = this.#readableSkill({ skillId, audience: 'person', turn: undefined });
    const source = this.#sourceOf(skill);
    return source ? source.listing(skill).leftOut : 0;
  }

  /**
   * @param use - Makes the answer of what may leave.
   * @param detailsOf - What is recorded of it; undefined when it is not handed over, so that it is no load.
   */
  async #load<T>(
    request: LoadRequest,
    use: (admitted: AdmittedFile, id: string) => Promise<T>,
    detailsOf: (loaded: T) => Partial<Pick<LoadDetails, 'digest' | 'tokens'>> | undefined,
  ): Promise<T> {
    const startedAt = performance.now();
    const { skillId, path, audience, turn, isMarked = true } = request;
    const wanted = {
      ...(path === undefined ? {} : { path }),
      audience: audience === 'person' && turn ? 'model' : audience,
      isMarked,
    } as const;
    const secondsSince = (): number => (performance.now() - startedAt) / 1000;
    let found: AdmittedFile | Found = this.#find(request);
    try {
      found = await readAdmitted(
        this.#around(() => this.#find(request)),
        wanted,
      );
      if ('bytes' in found) {
        const { skill } = found;
        const loaded = await use(found, this.#idOf(skill, request));
        // The agent of a conversation may use what a person loads in it.
        if (audience === 'person' && turn) this.#context.grants.add(skill, turn);
        const details = detailsOf(loaded);
        const done = { outcome: 'success', durationSeconds: secondsSince(), error: null } as const;
        if (details) (request.later ?? ((count) => count()))(() => this.#report(request, skill, done, details));
        return loaded;
      }
    } catch (error) {
      const reason = isCodedError(error) ? error.code : describeError(error);
      this.#report(request, found.skill, { outcome: 'failure', durationSeconds: secondsSince(), error: reason });
      throw error;
    }
    const { skill, refusal } = found;
    const outcome = refusal ? 'refused' : 'failure';
    this.#report(request, skill, { outcome, durationSeconds: secondsSince(), error: refusal ?? 'SKILL_NOT_FOUND' });
    if (audience !== 'model' && (refusal === 'SKILL_HELD' || refusal === 'SKILL_DISABLED'))
      throw skillHeldOrDisabled(refusal, skill?.id ?? skillId);
    throw this.#notFound(request);
  }

  #around(find: () => Found): Parameters<typeof readAdmitted>[0] {
    const { admit, limits } = this.#context;
    return { admit, limits, find, sourceOf: (skill) => this.#sourceOf(skill) };
  }

  #report(
    { skillId, path, audience, turn, countsAsLoad }: LoadRequest,
    skill: Skill | undefined,
    { outcome, durationSeconds, error }: Pick<SkillLoadedEvent, 'outcome' | 'durationSeconds' | 'error'>,
    { digest, tokens }: Partial<LoadDetails> = {},
  ): void {
    if (countsAsLoad === false) return;
    const event: SkillLoadedEvent = {
      event: 'skill_loaded',
      skillId,
      ...(path === undefined ? {} : { path }),
      source: skill?.source ?? null,
      outcome,
      audience,
      agentId: turn?.agentId ?? null,
      durationSeconds,
      error,
    };
    this.#context.onLoaded(event, { skill, turn, digest, tokens });
  }

  /**
   * Looks the id up; an id is never joined into a path. The scope of a turn does not limit people and bindings. What a person loads
   * in a conversation is sent to its agent.
   */
  #find(request: LoadRequest): Found {
    const { skillId, audience, turn = {} } = request;
    const { catalog, grants } = this.#context;
    if (audience === 'model') return findVisible(catalog.snapshot(), skillId, turn, grants.of(turn));
    const skill = skillNamed(catalog.snapshot(), skillId);
    const refusal = skill && (audience === 'binding' || request.turn) ? heldOrDisabled(turn, skill) : undefined;
    return skill ? { skill, ...(refusal ? { refusal } : {}) } : {};
  }

  #readableSkill(request: LoadRequest): Skill {
    const { skill, refusal } = this.#find(request);
    if (skill && !refusal) return skill;
    throw this.#notFound(request);
  }

  #notFound({ skillId, audience, turn = {} }: LoadRequest): CodedError {
    const { catalog, grants } = this.#context;
    const snapshot = catalog.snapshot();
    const found = audience === 'model' ? visibleSkills(snapshot, turn, grants.of(turn)) : snapshot.skills;
    const ids = found.map(({ id }) => id);
    return skillNotFound(skillId, nearestIds(ids, skillId));
  }

  #sourceOf(skill: Skill | undefined): SkillSource | undefined {
    return skill && this.#context.catalog.sources().find(({ id }) => id === skill.source);
  }

  /** The id by which the caller gets this skill again: the short one, unless it is the id of another skill. */
  #idOf(skill: Skill, request: LoadRequest): string {
    if (request.skillId === skill.id) return skill.id;
    return this.#find({ ...request, skillId: skill.id }).skill === skill ? skill.id : skill.qualifiedId;
  }
}

export function loadedMessage(skillId: string, tokens: number): string {
  return `Skill loaded: ${skillId} (approx. ${tokens} tokens)`;
}

// --- internal ---

interface LoadRequest {
  readonly skillId: string;
  readonly path?: string;
  readonly audience: NonNullable<ReadOptions['audience']>;
  readonly turn: TurnContext | undefined;
  /** False: no event is sent. */
  readonly countsAsLoad?: boolean;
  /** As of `ReadRequest`. Default: true. */
  readonly isMarked?: boolean;
  readonly later?: (count: () => void) => void;
}

interface SkillView extends Pick<ReadingContext, 'tokensOfBody'> {
  readonly view: 'body' | 'raw';
  /** How the caller gets a path. */
  readonly shown: (path: string) => string;
  /** Whether the caller can read another skill with this id. */
  readonly isFound: (skillId: string) => boolean;
}

async function readSkill(
  { skill, source, bytes, digest, heldBecause }: AdmittedFile,
  id: string,
  { view, shown, isFound, tokensOfBody }: SkillView,
): Promise<SkillContent> {
  const text = bytes.toString('utf8');
  const { text: content, leftOut: hidden } = view === 'raw' ? { text, leftOut: 0 } : withoutHidden(bodyOf(text));
  const isBody = view === 'body' && hidden === 0;
  const approxTokens = await tokensOfBody(skill, isBody ? digest : undefined, content);
  const needed = skill.requires.filter(isFound).join(', ');
  const { files, leftOut } = source.listing(skill);
  return {
    skillId: id,
    name: skill.name,
    content,
    ...(hidden > 0 ? { hiddenLeftOut: hidden } : {}),
    approxTokens,
    message: loadedMessage(id, approxTokens),
    requires: skill.requires,
    ...(needed ? { hint: `This skill requires: ${needed}. Load it first if you haven't already.` } : {}),
    allowedTools: skill.allowedTools.map((tool) => withoutHidden(tool).text),
    ...(skill.dir === null ? {} : { directory: shown(skill.dir) }),
    resources: files.map(({ path, size }) => ({ path: shown(path), size })),
    ...(leftOut > 0 ? { resourcesLeftOut: leftOut } : {}),
    // Of the bytes read: the file may have changed since the snapshot.
    digest,
    source: skill.source,
    ...(heldBecause === undefined ? {} : { heldBecause }),
  };
}
