import type { Problem } from 'skill-registry/kernel';
import { shorten, withoutHidden } from '../../../../lib/text/index.ts';
import { normalizePackPath } from './pack-expression.ts';

/** The fields of a PromptPack JSON that concern skills (RFC 0008). */
export interface PromptPack {
  readonly id: string;
  readonly skills: readonly PackEntry[];
  readonly tools: ReadonlySet<string>;
  readonly workflow?: PackWorkflow;
}

export type PackEntry =
  | { readonly kind: 'reference'; readonly reference: string; readonly preload: boolean; readonly pointer: string }
  | {
      readonly kind: 'inline';
      readonly name: string;
      readonly description: string;
      readonly instructions: string;
      readonly pointer: string;
    };

export interface PackWorkflow {
  readonly entry: string;
  /** The `skills` expression of each state; undefined: all skills of the pack. */
  readonly states: ReadonlyMap<string, string | undefined>;
  readonly events: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/**
 * Leaves invalid entries out and reports them with a JSON pointer. Checks names of prompts only if the pack declares
 * some, because the host may have them elsewhere.
 * @returns no pack when the text is no JSON object, or `skills` is no list.
 */
export function parsePromptPack(
  text: string,
  file: string,
): { readonly pack?: PromptPack; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const report = (pointer: string, expected: string, got: unknown): void => {
    const message = `${pointer || '/'}: expected ${expected}, got ${typeName(got)}. Correct the pack.`;
    problems.push({ code: 'PACK_INVALID', severity: 'error', file, message, details: { pointer } });
  };
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    const message = `This is not JSON: ${error instanceof Error ? error.message : error}. Correct the pack.`;
    return { problems: [{ code: 'PACK_INVALID', severity: 'error', file, message, details: { pointer: '' } }] };
  }
  if (!isRecord(json)) {
    report('', 'an object', json);
    return { problems };
  }
  if (typeof json.id !== 'string' || json.id === '') report('/id', 'a text', json.id);
  if (json.skills !== undefined && !Array.isArray(json.skills)) {
    report('/skills', 'an array', json.skills);
    return { problems };
  }
  const skills = (json.skills ?? []).flatMap((entry, index) => readEntry(entry, `/skills/${index}`, report));
  const warn = (code: string, pointer: string, message: string): void =>
    void problems.push({ code, severity: 'warning', file, message: `${pointer}${message}`, details: { pointer } });
  const RENAME = '/name: this inline skill has the name of an earlier one, and the last one wins. Rename one.';
  for (const { pointer } of repeated(skills, (entry) => (entry.kind === 'inline' ? entry.name : undefined)))
    warn('PACK_NAME_REPEATED', pointer, RENAME);
  for (const { pointer, first } of repeated(skills, pathOf))
    warn('PACK_PATH_REPEATED', pointer, `: this is what ${first} names already. Remove one of the two entries.`);
  for (const { pointer, name, known } of unknownNames(json)) {
    const message = `${pointer}: the pack has no ${known} ${JSON.stringify(shorten(name, 80))}. Correct the name, or declare it.`;
    problems.push({ code: 'PACK_NAME_UNKNOWN', severity: 'error', file, message, details: { pointer } });
  }
  const workflow = json.workflow === undefined ? undefined : readWorkflow(json.workflow, report);
  const id = typeof json.id === 'string' && json.id !== '' ? json.id : 'pack';
  const tools = new Set(isRecord(json.tools) ? Object.keys(json.tools) : []);
  return { pack: { id, skills, tools, ...(workflow ? { workflow } : {}) }, problems };
}

export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

// --- internal ---

type Report = (pointer: string, expected: string, got: unknown) => void;

function readEntry(value: unknown, pointer: string, report: Report): PackEntry[] {
  if (typeof value === 'string' && value !== '')
    return [{ kind: 'reference', reference: value, preload: false, pointer }];
  if (!isRecord(value)) {
    report(pointer, 'a path, a package, { path, preload } or { name, description, instructions }', value);
    return [];
  }
  const isPath = 'path' in value;
  const allowedKeys = isPath ? ['path', 'preload'] : ['name', 'description', 'instructions'];
  let isValid = true;
  const fail = (key: string, expected: string): void => {
    isValid = false;
    report(`${pointer}/${escapePointer(key)}`, expected, value[key]);
  };
  for (const key of Object.keys(value))
    if (!allowedKeys.includes(key))
      fail(key, `only ${isPath ? 'path and preload' : 'name, description and instructions, or a path'}`);
  for (const key of isPath ? ['path'] : allowedKeys)
    if (typeof value[key] !== 'string' || value[key] === '') fail(key, 'a text');
  if (isPath && value.preload !== undefined && typeof value.preload !== 'boolean') fail('preload', 'true or false');
  if (!isValid) return [];
  if (isPath) return [{ kind: 'reference', reference: String(value.path), preload: value.preload === true, pointer }];
  const { name, description, instructions } = value as Readonly<Record<string, string>>;
  return [
    { kind: 'inline', name: name ?? '', description: description ?? '', instructions: instructions ?? '', pointer },
  ];
}

function readWorkflow(value: unknown, report: Report): PackWorkflow | undefined {
  if (!isRecord(value) || !isRecord(value.states)) {
    report('/workflow', 'an object with entry and states', value);
    return undefined;
  }
  const states = new Map<string, string | undefined>();
  const events = new Map<string, ReadonlyMap<string, string>>();
  const isState = (name: unknown): name is string =>
    typeof name === 'string' && Object.hasOwn(value.states as Fields, name);
  for (const [name, state] of Object.entries(value.states)) {
    const pointer = `/workflow/states/${escapePointer(name)}`;
    const skills = isRecord(state) ? state.skills : undefined;
    if (!isRecord(state)) report(pointer, 'an object', state);
    if (skills !== undefined && typeof skills !== 'string') report(`${pointer}/skills`, 'a text', skills);
    if (isRecord(state)) checkTexts(state, pointer, report);
    // An invalid scope must not show all skills.
    states.set(name, skills === undefined || typeof skills === 'string' ? skills : 'none');
    const onEvent = isRecord(state) && isRecord(state.on_event) ? Object.entries(state.on_event) : [];
    // A model repeats these names, so it gets them as a person sees them, without hidden characters.
    const shown = onEvent.flatMap(([event, next]) =>
      isState(next) ? [[withoutHidden(event).text, next] as const] : [],
    );
    events.set(name, new Map(shown));
  }
  if (typeof value.entry !== 'string' || !states.has(value.entry))
    report('/workflow/entry', 'the name of a state', value.entry);
  return { entry: String(value.entry), states, events };
}

function checkTexts({ prompt_task: prompt, on_event: events }: Fields, pointer: string, report: Report): void {
  if (prompt !== undefined && typeof prompt !== 'string') report(`${pointer}/prompt_task`, 'a text', prompt);
  if (events !== undefined && !isRecord(events)) report(`${pointer}/on_event`, 'an object', events);
  for (const [event, next] of Object.entries(isRecord(events) ? events : {}))
    if (typeof next !== 'string') report(`${pointer}/on_event/${escapePointer(event)}`, 'the name of a state', next);
}

function unknownNames({ prompts, workflow }: Fields) {
  const states = isRecord(workflow) && isRecord(workflow.states) ? workflow.states : {};
  const found: { readonly pointer: string; readonly name: string; readonly known: 'prompt' | 'state' }[] = [];
  const look = (pointer: string, name: unknown, known: 'prompt' | 'state', names: Fields): void => {
    if (typeof name === 'string' && !Object.hasOwn(names, name)) found.push({ pointer, name, known });
  };
  for (const [id, state] of Object.entries(states)) {
    if (!isRecord(state)) continue;
    const pointer = `/workflow/states/${escapePointer(id)}`;
    if (isRecord(prompts)) look(`${pointer}/prompt_task`, state.prompt_task, 'prompt', prompts);
    for (const [event, next] of Object.entries(isRecord(state.on_event) ? state.on_event : {}))
      look(`${pointer}/on_event/${escapePointer(event)}`, next, 'state', states);
  }
  return found;
}

function repeated(
  entries: readonly PackEntry[],
  keyOf: (entry: PackEntry) => string | undefined,
): readonly { readonly pointer: string; readonly first: string }[] {
  const seen = new Map<string, string>();
  return entries.flatMap((entry) => {
    const key = keyOf(entry);
    const first = key === undefined ? undefined : seen.get(key);
    if (key !== undefined && first === undefined) seen.set(key, entry.pointer);
    return first === undefined ? [] : [{ pointer: entry.pointer, first }];
  });
}

function pathOf(entry: PackEntry): string | undefined {
  return entry.kind === 'reference' ? normalizePackPath(entry.reference) : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function typeName(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `a ${typeof value} of ${text.length} characters`;
}
