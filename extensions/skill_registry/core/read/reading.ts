import { type CodedError, describeError, isCodedError, type TurnContext } from 'skill-registry/kernel';
import { digestOf } from '../../../../lib/digest/index.ts';
import { onceFor } from '../../../../lib/recent-map/index.ts';
import { showName, withNote, withoutHidden } from '../../../../lib/text/index.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { type Snapshot, skillNamed } from '../catalog/snapshot.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Conversations } from '../show/loaded-by-person.ts';
import type { SkillTokenCounts } from '../show/token-counts.ts';
import { type Found, heldOrDisabled, type Scopes } from '../show/visible.ts';
import { applyMessage } from '../skill/apply-message.ts';
import { assertInspected, skillHeldOrDisabled, skillNotInspected } from '../skill/errors.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import type { Admission, Guard, JudgedFile } from '../skill/guard.ts';
import type { ResourceInfo, Skill, SkillListing } from '../skill/skill.ts';
import { NO_FILES, type SkillSource } from '../sources/source.ts';
import { MAX_CHANGES, readFile, repeated, wasBrought, withAdvice } from './read-file.ts';
import type {
  LoadDetails,
  Meter,
  PreparedMessage,
  Reading,
  ReadOptions,
  ResourceContent,
  SkillContent,
  SkillLoadedEvent,
} from './types.ts';

export interface ReadingContext {
  readonly catalog: Catalog;
  readonly conversations: Conversations;
  readonly scopes: Scopes;
  readonly limits: SkillRegistryConfig['limits'];
  readonly admit: Guard['admit'];
  readonly guard: () => Pick<Guard, 'namesOf'>;
  readonly tokens: Pick<SkillTokenCounts, 'ofBody' | 'ofText'>;
  /** Undefined: nothing is counted. */
  readonly meter: () => Meter | undefined;
  readonly onLoaded: (event: SkillLoadedEvent, details: LoadDetails) => void;
}

export class SkillReading implements Reading {
  readonly #context: ReadingContext;

  constructor(context: ReadingContext) {
    this.#context = context;
  }

  readonly read = async (skillId: string, options: ReadOptions = {}, turn?: TurnContext): Promise<SkillContent> => {
    const { audience = turn ? 'model' : 'person', ...others } = options;
    return this.#loadContent({ skillId, audience, turn, ...others });
  };

  /** As for a model. Undefined, and no load, when the body has more tokens. */
  async readWithin(mostTokens: number, skillId: string, turn: TurnContext): Promise<SkillContent | undefined> {
    const read = await this.#loadContent({ skillId, audience: 'model', turn }, mostTokens);
    return read.approxTokens > mostTokens ? undefined : read;
  }

  /** The message of `apply`. @param options.dir - Default: the folder of the skill. */
  readonly prepareMessage = async (
    skillId: string,
    args: string | Readonly<Record<string, string>>,
    turn?: TurnContext,
    { dir }: { readonly dir?: string } = {},
  ): Promise<PreparedMessage> => {
    const { catalog, conversations } = this.#context;
    let count = (): void => {};
    const later = (counted: () => void): void => {
      count = counted;
    };
    // With a turn, a held or disabled skill is refused: the text goes to an agent.
    const read = await this.#loadContent({ skillId, audience: 'person', turn: turn ?? {}, later });
    const skill = skillNamed(catalog.snapshot(), read.skillId);
    const known = { names: skill?.arguments ?? [], dir: dir ?? (skill?.dir ? showName(skill.dir) : null) };
    const sent = turn && skill ? conversations.apply(skill, turn) : { isInPrompt: false, undo: () => {} };
    const text = applyMessage(read.skillId, read.content, args, known, sent.isInPrompt);
    return {
      message: withNote({ text, leftOut: sent.isInPrompt ? 0 : (read.hiddenLeftOut ?? 0) }),
      settled: (wasReceived) => (wasReceived ? count : sent.undo)(),
    };
  };

  readonly readBytes = async (
    skillId: string,
    { path, countsAsLoad = true, onHeld, wait }: NonNullable<Parameters<Reading['readBytes']>[1]> = {},
    turn?: TurnContext,
  ): Promise<Uint8Array> => {
    return this.#load(
      {
        skillId,
        path,
        audience: turn ? 'model' : 'person',
        turn,
        wait,
        countsAsLoad: countsAsLoad !== false,
        // A caller without `onHeld`, such as a search for hidden characters, cannot show that a skill is held.
        isMarked: onHeld !== undefined,
      },
      ({ bytes, heldBecause }) => {
        if (heldBecause !== undefined) onHeld?.(heldBecause);
        return bytes;
      },
      async (bytes) => {
        if (typeof countsAsLoad === 'function' && !countsAsLoad(bytes)) return undefined;
        const tokens = turn && countsAsLoad !== false ? await this.#context.tokens.ofText(`${bytes}`) : undefined;
        return { tokens, ...(path === undefined || path === 'SKILL.md' ? { digest: digestOf(bytes) } : {}) };
      },
    );
  };

  readonly readResource = async (
    skillId: string,
    path: string,
    turn?: TurnContext,
    options: Pick<ReadOptions, 'wait'> = {},
  ): Promise<ResourceContent> => {
    return this.#load(
      { skillId, path, audience: turn ? 'model' : 'person', turn, ...options },
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
          approxTokens: await this.#context.tokens.ofText(content),
          ...(heldBecause === undefined ? {} : { heldBecause }),
        };
      },
      ({ approxTokens: tokens }) => ({ tokens }),
    );
  };

  /** Undefined when the file was removed, is on another machine, or may not be given. */
  async bodyForPrompt(skill: Skill): Promise<string | undefined> {
    if (skill.remote) return undefined;
    try {
      const found = await this.#admitted(() => ({ skill }), { audience: 'model' });
      return 'bytes' in found ? withNote(withoutHidden(bodyOf(found.bytes.toString('utf8')))) : undefined;
    } catch (error) {
      if (isCodedError(error)) return undefined;
      throw error;
    }
  }

  readonly resources = (skillId: string, turn?: TurnContext): readonly ResourceInfo[] =>
    this.#listing({ skillId, audience: turn ? 'model' : 'person', turn }).files;

  readonly leftOutCount = (skillId: string): number =>
    this.#listing({ skillId, audience: 'person', turn: undefined }).leftOut;

  /** @param detailsOf - What is recorded; undefined when the answer is not handed over: then it is no load. */
  async #load<T extends object>(
    request: LoadRequest,
    use: (admitted: AdmittedFile, id: string) => T | Promise<T>,
    detailsOf: (loaded: T) => Details | undefined | Promise<Details | undefined>,
  ): Promise<T> {
    const { skillId, audience, turn, wait = audience !== 'model', later = (count: () => void) => count() } = request;
    const report = this.#reporter(request);
    // Looks up once for each snapshot.
    const foundIn = onceFor((_: Snapshot) => this.#find(request));
    const find = (): Found => foundIn(this.#context.catalog.snapshot());
    let found: AdmittedFile | Found = find();
    try {
      // What a person loads in a conversation, its model reads.
      const reader = audience === 'person' && turn ? 'model' : audience;
      found = await this.#admitted(find, { ...request, audience: reader, wait });
      if ('bytes' in found) {
        const { skill, path } = found;
        const loaded = await use(found, this.#idOf(skill, request));
        const details = await detailsOf(loaded);
        const handed = { digest: undefined, tokens: undefined, ...details, path };
        const isCounted = details && turn && audience !== 'binding' && request.countsAsLoad !== false;
        const counted =
          isCounted && !('repeated' in loaded) ? this.#context.meter()?.charge({ skill, ...handed }, turn) : undefined;
        // The agent of a conversation may use what a person loads in it.
        if (audience === 'person' && turn) this.#context.conversations.grant(skill, turn);
        if (details) later(() => report('success', null, skill, handed));
        return counted && !Buffer.isBuffer(loaded) ? { ...loaded, ...counted } : loaded;
      }
    } catch (error) {
      const files =
        request.path && found.skill
          ? this.#context.catalog.sourceOf(found.skill)?.listing(found.skill).files
          : undefined;
      const path = files?.find((one) => one.path === request.path)?.path;
      report('failure', isCodedError(error) ? error.code : describeError(error), found.skill, { path });
      throw error;
    }
    const { skill, refusal } = found;
    report(refusal ? 'refused' : 'failure', refusal ?? 'SKILL_NOT_FOUND', skill);
    if (audience !== 'model' && (refusal === 'SKILL_HELD' || refusal === 'SKILL_DISABLED'))
      throw skillHeldOrDisabled(refusal, skill?.id ?? skillId);
    throw this.#notFound(request);
  }

  /**
   * @param request.audience - Who gets the bytes in the end.
   * @returns without bytes when these may not leave: `refusal` says why; without it there is no such skill.
   * @throws as `readContained`; RESOURCE_TOO_LARGE and RESOURCE_NOT_FOUND also say what to do.
   */
  async #admitted(
    find: () => Found,
    request: Pick<LoadRequest, 'audience' | 'path' | 'isMarked' | 'wait'>,
    changes = 0,
  ): Promise<AdmittedFile | Found> {
    const { admit, limits } = this.#context;
    const { path, audience, isMarked = true, wait = true } = request;
    const { skill, refusal } = find();
    const source = skill && this.#context.catalog.sourceOf(skill);
    // The source was removed after this snapshot.
    if (!source) return {};
    if (refusal && refusal !== 'SKILL_HELD') return { skill, refusal };
    // Files of a held skill are not fetched.
    if (skill.remote && !admit({ skill, kind: 'line', audience }).given) return { skill, refusal: 'SKILL_HELD' };
    const again = () => (changes < MAX_CHANGES ? this.#admitted(find, request, changes + 1) : {});
    if (await wasBrought(this.#context.catalog, skill, audience)) return again();
    const read = await readFile(skill, source, path, limits);
    if ('error' in read) {
      // No agent learns from an error which files a held skill has.
      const admission: Admission = skill.remote
        ? { given: true }
        : await admit({ skill, kind: 'derived', audience, wait });
      assertInspected(admission, skill);
      const now = find();
      if (!admission.given || now.refusal) return refusedAs(now);
      const paths = () => this.#listed(skill, source, audience, admission.listing).files.map((file) => file.path);
      throw path === undefined ? read.error : withAdvice(read.error, path, paths);
    }
    if (audience === 'person' && !isMarked) return { ...read, skill, source };
    const kind = path === undefined ? 'body' : 'file';
    const admission = await admit({ ...read, skill, kind, audience, wait });
    assertInspected(admission, skill);
    const { given, heldBecause, listing } = admission;
    // The inspection may have changed the state of the skill.
    const now = find();
    if (!given || !now.skill || now.refusal) return refusedAs(now);
    if (now.skill.qualifiedId !== skill.qualifiedId || now.skill.realFile !== skill.realFile) return again();
    return { ...read, skill: now.skill, source, heldBecause, listing };
  }

  #reporter({ skillId, path, audience, turn, countsAsLoad = true }: LoadRequest) {
    const startedAt = performance.now();
    return (outcome: SkillLoadedEvent['outcome'], error: string | null, skill?: Skill, details: Details = {}): void => {
      if (!countsAsLoad) return;
      const event: SkillLoadedEvent = {
        event: 'skill_loaded',
        skillId,
        ...(path === undefined ? {} : { path }),
        source: skill?.source ?? null,
        outcome,
        audience,
        agentId: turn?.agentId ?? null,
        durationSeconds: (performance.now() - startedAt) / 1000,
        error,
      };
      this.#context.onLoaded(event, { digest: undefined, tokens: undefined, ...details, skill, turn });
    };
  }

  /** Never joins an id into a path. Scopes do not limit people and bindings, but no agent gets a held skill by them. */
  #find({ skillId, audience, turn }: SkillRequest): Found {
    const { catalog, scopes } = this.#context;
    if (audience === 'model') return scopes.find(skillId, turn ?? {});
    const skill = skillNamed(catalog.snapshot(), skillId);
    if (!skill) return {};
    const refusal = audience === 'binding' || turn ? heldOrDisabled(turn ?? {}, skill) : undefined;
    return { skill, ...(refusal ? { refusal } : {}) };
  }

  #listing(request: SkillRequest): SkillListing {
    const { skill, refusal } = this.#find(request);
    if (!skill || refusal) throw this.#notFound(request);
    if (request.audience === 'model' && !this.#context.guard().namesOf(skill)) throw skillNotInspected(skill.id);
    const source = this.#context.catalog.sourceOf(skill);
    return source ? this.#listed(skill, source, request.audience) : NO_FILES;
  }

  /** A model gets only names that were inspected, also when there are new files. */
  #listed(skill: Skill, source: SkillSource, audience: SkillRequest['audience'], present?: SkillListing): SkillListing {
    const { files, leftOut } = source.listing(skill, present);
    const mayName = audience === 'model' ? this.#context.guard().namesOf(skill) : () => true;
    return { files: files.filter(({ path }) => mayName?.(path)), leftOut };
  }

  #notFound({ skillId, audience, turn = {} }: SkillRequest): CodedError {
    // What a binding answers is read by an agent, so it names no held skill either.
    return this.#context.scopes.notFound(skillId, { model: turn, binding: {}, person: undefined }[audience]);
  }

  /** The short id, unless it means another skill to the caller. */
  #idOf(skill: Skill, request: SkillRequest): string {
    if (request.skillId === skill.id) return skill.id;
    const short = this.#find({ ...request, skillId: skill.id });
    return short.skill === skill ? skill.id : skill.qualifiedId;
  }

  /** @param most - Tokens of what is handed over. */
  #loadContent(request: LoadRequest, most: number = Number.POSITIVE_INFINITY): Promise<SkillContent> {
    return this.#load(
      request,
      (admitted, id) => this.#contentOf(admitted, id, request),
      ({ digest, approxTokens: tokens }) => (tokens > most ? undefined : { digest, tokens }),
    );
  }

  async #contentOf(admitted: AdmittedFile, id: string, request: LoadRequest): Promise<SkillContent> {
    const { skill, source, bytes, digest, heldBecause, listing } = admitted;
    const { view = 'body', audience, turn, again = true } = request;
    const since = view === 'body' && !again && turn ? this.#context.meter()?.givenAt(skill, digest, turn) : undefined;
    if (since !== undefined) return repeated(skill, id, digest, since);
    const text = bytes.toString('utf8');
    const { text: content, leftOut: hidden } = view === 'raw' ? { text, leftOut: 0 } : withoutHidden(bodyOf(text));
    const isBody = view === 'body' && hidden === 0;
    const approxTokens = await this.#context.tokens.ofBody(skill, isBody ? digest : undefined, content);
    const isFound = (needed: string): boolean => {
      const { skill: other, refusal } = this.#find({ ...request, skillId: needed });
      return other !== undefined && other !== skill && refusal === undefined;
    };
    const needed = skill.requires.filter(isFound).join(', ');
    const { files, leftOut } = this.#listed(skill, source, audience, listing);
    const shown = audience === 'model' ? showName : (name: string) => name;
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

/** For results with fixed keys: the number of left-out characters is a line at the end of the text. */
export function contentWithNote(read: Pick<SkillContent, 'content' | 'hiddenLeftOut'>): string {
  return withNote({ text: read.content, leftOut: read.hiddenLeftOut ?? 0 });
}

export function loadedMessage(skillId: string, tokens: number): string {
  return `Skill loaded: ${skillId} (approx. ${tokens} tokens)`;
}

// --- internal ---

type Details = Partial<Omit<LoadDetails, 'skill' | 'turn'>>;

interface SkillRequest {
  readonly skillId: string;
  readonly audience: NonNullable<ReadOptions['audience']>;
  readonly turn: TurnContext | undefined;
}

interface LoadRequest extends SkillRequest {
  /** Default: SKILL.md. */
  readonly path?: string | undefined;
  /** False: no event. */
  readonly countsAsLoad?: boolean;
  /** Whether a person is told that the skill is held; only then the bytes are judged. Default: true. */
  readonly isMarked?: boolean;
  /** Gets a function that counts the load. Default: it is counted at once. */
  readonly later?: (count: () => void) => void;
  readonly view?: ReadOptions['view'] | undefined;
  readonly again?: boolean | undefined;
  /** Default: not for a model. */
  readonly wait?: boolean | undefined;
}

interface AdmittedFile extends JudgedFile {
  readonly skill: Skill;
  readonly source: SkillSource;
  readonly bytes: Buffer;
  readonly heldBecause?: string | undefined;
  readonly listing?: SkillListing | undefined;
}

function refusedAs({ skill, refusal = 'SKILL_HELD' }: Found): Found {
  return skill ? { skill, refusal } : {};
}
