import { type CodedError, describeError, isCodedError, type TurnContext } from 'skill-registry/kernel';
import { digestOf } from '../../../lib/digest/index.ts';
import { countTokens, nearestIds, showName, withNote, withoutHidden } from '../../../lib/text/index.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { type Snapshot, skillNamed } from '../catalog/snapshot.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import { findVisible, type Grants, heldOrDisabled, visibleSkills } from '../show/scope.ts';
import type { SkillTokenCounts } from '../show/token-counts.ts';
import { skillHeldOrDisabled, skillNotFound } from '../skill/errors.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import type { ResourceInfo, Skill } from '../skill/skill.ts';
import type { SkillSource } from '../sources/source.ts';
import type { Guard } from '../trust/types.ts';
import { type AdmittedFile, type Found, readAdmitted, type Surroundings } from './read-admitted.ts';
import type { LoadDetails, Reading, ReadOptions, ResourceContent, SkillContent, SkillLoadedEvent } from './types.ts';

export interface ReadingContext {
  readonly catalog: Catalog;
  readonly grants: Grants;
  readonly limits: SkillRegistryConfig['limits'];
  readonly admit: Guard['admit'];
  readonly tokensOfBody: SkillTokenCounts['ofBody'];
  readonly onLoaded: (event: SkillLoadedEvent, details: LoadDetails) => void;
}

export class SkillReading implements Reading {
  readonly #context: ReadingContext;

  constructor(context: ReadingContext) {
    this.#context = context;
  }

  /** @param later - Gets a function that counts the load. Default: it is counted at once. */
  async read(
    skillId: string,
    { view = 'body', audience = 'person' }: ReadOptions = {},
    turn?: TurnContext,
    later?: (count: () => void) => void,
  ): Promise<SkillContent> {
    return this.#load(
      { skillId, audience, turn, later },
      (admitted, id) => this.#contentOf(admitted, id, view, { skillId, audience, turn }),
      ({ digest, approxTokens: tokens }) => ({ digest, tokens }),
    );
  }

  async readBytes(
    skillId: string,
    { path, countsAsLoad = true, onHeld }: NonNullable<Parameters<Reading['readBytes']>[1]> = {},
    turn?: TurnContext,
  ): Promise<Uint8Array> {
    return this.#load(
      {
        skillId,
        path,
        audience: turn ? 'model' : 'person',
        turn,
        countsAsLoad: countsAsLoad !== false,
        // A caller without `onHeld`, such as a search for hidden characters, cannot show that a skill is held.
        isMarked: onHeld !== undefined,
      },
      ({ bytes, heldBecause }) => {
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
        return {
          skillId: id,
          path,
          content,
          encoding: isText ? 'utf-8' : 'base64',
          size: bytes.length,
          approxTokens: await countTokens(content),
          ...(heldBecause === undefined ? {} : { heldBecause }),
        };
      },
      ({ approxTokens: tokens }) => ({ tokens }),
    );
  }

  /** Undefined when the file was removed, is on another machine, or may not be given. */
  async bodyForPrompt(skill: Skill): Promise<string | undefined> {
    if (skill.remote) return undefined;
    try {
      const around = this.#around(() => ({ skill }));
      const found = await readAdmitted(around, { audience: 'model', isMarked: false });
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
    return this.#sourceOf(skill)?.listing(skill).leftOut ?? 0;
  }

  /** @param detailsOf - What is recorded; undefined when the answer is not handed over: then it is no load. */
  async #load<T>(
    request: LoadRequest,
    use: (admitted: AdmittedFile, id: string) => T | Promise<T>,
    detailsOf: (loaded: T) => Partial<Pick<LoadDetails, 'digest' | 'tokens'>> | undefined,
  ): Promise<T> {
    const startedAt = performance.now();
    const { skillId, path, audience, turn, isMarked = true } = request;
    const find = this.#finder(request);
    const report = (outcome: Outcome, error: string | null, skill?: Skill, details?: Partial<LoadDetails>): void =>
      this.#report(
        request,
        { outcome, error, durationSeconds: (performance.now() - startedAt) / 1000 },
        skill,
        details,
      );
    let found: AdmittedFile | Found = find();
    try {
      const reader = audience === 'person' && turn ? 'model' : audience;
      found = await readAdmitted(this.#around(find), { path, audience: reader, isMarked });
      if ('bytes' in found) {
        const { skill } = found;
        const loaded = await use(found, this.#idOf(skill, request));
        // The agent of a conversation may use what a person loads in it.
        if (audience === 'person' && turn) this.#context.grants.add(skill, turn);
        const details = detailsOf(loaded);
        const count = (): void => report('success', null, skill, details);
        if (details) (request.later ?? callNow)(count);
        return loaded;
      }
    } catch (error) {
      report('failure', isCodedError(error) ? error.code : describeError(error), found.skill);
      throw error;
    }
    const { skill, refusal } = found;
    report(refusal ? 'refused' : 'failure', refusal ?? 'SKILL_NOT_FOUND', skill);
    if (audience !== 'model' && (refusal === 'SKILL_HELD' || refusal === 'SKILL_DISABLED'))
      throw skillHeldOrDisabled(refusal, skill?.id ?? skillId);
    throw this.#notFound(request);
  }

  #around(find: () => Found): Surroundings {
    const { admit, limits } = this.#context;
    return { admit, limits, find, sourceOf: (skill) => this.#sourceOf(skill) };
  }

  #report(
    { skillId, path, audience, turn, countsAsLoad }: LoadRequest,
    done: Pick<SkillLoadedEvent, 'outcome' | 'durationSeconds' | 'error'>,
    skill: Skill | undefined,
    { digest, tokens }: Partial<LoadDetails> = {},
  ): void {
    if (countsAsLoad === false) return;
    const event: SkillLoadedEvent = {
      event: 'skill_loaded',
      skillId,
      ...(path === undefined ? {} : { path }),
      source: skill?.source ?? null,
      outcome: done.outcome,
      audience,
      agentId: turn?.agentId ?? null,
      durationSeconds: done.durationSeconds,
      error: done.error,
    };
    this.#context.onLoaded(event, { skill, turn, digest, tokens });
  }

  /** Looks up once for each snapshot. */
  #finder(request: SkillRequest): () => Found {
    let of: Snapshot | undefined;
    let found: Found = {};
    return () => {
      const now = this.#context.catalog.snapshot();
      if (now !== of) found = this.#find(now, request);
      of = now;
      return found;
    };
  }

  /** Never joins an id into a path. Scopes do not limit people and bindings, but no agent gets a held skill by them. */
  #find(snapshot: Snapshot, { skillId, audience, turn }: SkillRequest): Found {
    if (audience === 'model') return findVisible(snapshot, skillId, turn ?? {}, this.#context.grants.of(turn ?? {}));
    const skill = skillNamed(snapshot, skillId);
    if (!skill) return {};
    const refusal = audience === 'binding' || turn ? heldOrDisabled(turn ?? {}, skill) : undefined;
    return { skill, ...(refusal ? { refusal } : {}) };
  }

  #readableSkill(request: SkillRequest): Skill {
    const { skill, refusal } = this.#find(this.#context.catalog.snapshot(), request);
    if (skill && !refusal) return skill;
    throw this.#notFound(request);
  }

  #notFound({ skillId, audience, turn = {} }: SkillRequest): CodedError {
    const { catalog, grants } = this.#context;
    const snapshot = catalog.snapshot();
    const found = audience === 'model' ? visibleSkills(snapshot, turn, grants.of(turn)) : snapshot.skills;
    const ids = found.map(({ id }) => id);
    return skillNotFound(skillId, nearestIds(ids, skillId));
  }

  #sourceOf(skill: Skill): SkillSource | undefined {
    return this.#context.catalog.sources().find(({ id }) => id === skill.source);
  }

  /** The short id, unless it means another skill to the caller. */
  #idOf(skill: Skill, request: SkillRequest): string {
    if (request.skillId === skill.id) return skill.id;
    const short = this.#find(this.#context.catalog.snapshot(), { ...request, skillId: skill.id });
    return short.skill === skill ? skill.id : skill.qualifiedId;
  }

  async #contentOf(
    { skill, source, bytes, digest, heldBecause, listing }: AdmittedFile,
    id: string,
    view: 'body' | 'raw',
    request: SkillRequest,
  ): Promise<SkillContent> {
    const text = bytes.toString('utf8');
    const { text: content, leftOut: hidden } = view === 'raw' ? { text, leftOut: 0 } : withoutHidden(bodyOf(text));
    const isBody = view === 'body' && hidden === 0;
    const approxTokens = await this.#context.tokensOfBody(skill, isBody ? digest : undefined, content);
    const snapshot = this.#context.catalog.snapshot();
    const isFound = (needed: string): boolean => {
      const { skill: other, refusal } = this.#find(snapshot, { ...request, skillId: needed });
      return other !== undefined && other !== skill && refusal === undefined;
    };
    const needed = skill.requires.filter(isFound).join(', ');
    const { files, leftOut } = source.listing(skill, listing);
    const shown = request.audience === 'model' ? showName : (name: string) => name;
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
      // Of the bytes that were read: the file may have changed since the snapshot.
      digest,
      source: skill.source,
      ...(heldBecause === undefined ? {} : { heldBecause }),
    };
  }
}

export function loadedMessage(skillId: string, tokens: number): string {
  return `Skill loaded: ${skillId} (approx. ${tokens} tokens)`;
}

// --- internal ---

const callNow = (count: () => void): void => count();

type Outcome = SkillLoadedEvent['outcome'];

interface SkillRequest {
  readonly skillId: string;
  readonly audience: NonNullable<ReadOptions['audience']>;
  readonly turn: TurnContext | undefined;
}

interface LoadRequest extends SkillRequest {
  readonly path?: string | undefined;
  /** False: no event. */
  readonly countsAsLoad?: boolean;
  readonly isMarked?: boolean;
  readonly later?: ((count: () => void) => void) | undefined;
}
