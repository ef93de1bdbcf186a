import type { Problem } from 'skill-registry/kernel';
import { shorten, withoutHidden } from '../../../../lib/text/index.ts';
import type { InlineSkillConfig } from '../../core/config/config.ts';
import { isRecord } from '../../core/config/readers.ts';
import { shown } from '../../core/skill/field-values.ts';
import type { PackScopes } from '../../core/sources/types.ts';
import { normalizePackPath } from './pack-expression.ts';

/** The fields of a PromptPack JSON that concern skills (RFC 0008). */
export interface PromptPack {
  readonly id: string;
  readonly skills: readonly PackEntry[];
  readonly tools: ReadonlySet<string>;
  readonly workflow?: PackWorkflow;
}

export type PackEntry = { readonly pointer: string } & (
  | { readonly reference: string; readonly preload: boolean }
  | { readonly inline: InlineSkillConfig }
);

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
  const note = (code: string, severity: Problem['severity'], pointer: string, text: string): void =>
    void problems.push(packProblem(code, severity, file, pointer, text));
  const report: Report = (pointer, expected, got) =>
    note('PACK_INVALID', 'error', pointer, `: expected ${expected}, got ${typeName(got)}. Correct the pack.`);
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
  const seen = new Map<string, string>();
  for (const entry of skills) {
    const isInline = 'inline' in entry;
    // No normal path begins with two slashes.
    const key = isInline ? `//${entry.inline.name}` : normalizePackPath(entry.reference);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, entry.pointer);
    else if (isInline) note('PACK_NAME_REPEATED', 'warning', entry.pointer, RENAME);
    else {
      const text = `: this is what ${first} names already. Remove one of the two entries.`;
      note('PACK_PATH_REPEATED', 'warning', entry.pointer, text);
    }
  }
  const unknown: Report = (pointer, known, name) => {
    const what = `${known} ${JSON.stringify(shorten(String(name), 80))}`;
    note('PACK_NAME_UNKNOWN', 'error', pointer, `: the pack has no ${what}. Correct the name, or declare it.`);
  };
  const workflow = json.workflow === undefined ? undefined : readWorkflow(json, report, unknown);
  const id = typeof json.id === 'string' && json.id !== '' ? json.id : 'pack';
  const tools = new Set(isRecord(json.tools) ? Object.keys(json.tools) : []);
  return { pack: { id, skills, tools, ...(workflow ? { workflow } : {}) }, problems };
}

export function packProblem(
  code: string,
  severity: Problem['severity'],
  file: string,
  pointer: string,
  text: string,
): Problem {
  return { code, severity, file, message: `${pointer || '/'}${text}`, details: { pointer } };
}

export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

// --- internal ---

type PackWorkflow = Required<Omit<PackScopes, 'pack'>>;
type Report = (pointer: string, expected: string, got: unknown) => void;

const RENAME = '/name: this inline skill has the name of an earlier one, and the last one wins. Rename one.';

function readEntry(value: unknown, pointer: string, report: Report): PackEntry[] {
  if (typeof value === 'string' && value !== '') return [{ reference: value, preload: false, pointer }];
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
  if (isPath) return [{ reference: String(value.path), preload: value.preload === true, pointer }];
  return [{ inline: value as unknown as InlineSkillConfig, pointer }];
}

/** @param unknown - Reports the name of a prompt or state that the pack does not have. */
function readWorkflow({ workflow, prompts }: Fields, report: Report, unknown: Report): PackWorkflow | undefined {
  if (!isRecord(workflow) || !isRecord(workflow.states)) {
    report('/workflow', 'an object with entry and states', workflow);
    return undefined;
  }
  const { entry, states: given } = workflow;
  const states = new Map<string, string | undefined>();
  const events = new Map<string, ReadonlyMap<string, string>>();
  for (const [name, state] of Object.entries(workflow.states)) {
    const pointer = `/workflow/states/${escapePointer(name)}`;
    if (!isRecord(state)) report(pointer, 'an object', state);
    const { skills, prompt_task: prompt, on_event: onEvent } = isRecord(state) ? state : {};
    const isScope = skills === undefined || typeof skills === 'string';
    if (!isScope) report(`${pointer}/skills`, 'a text', skills);
    // An invalid scope must not show all skills.
    states.set(name, isScope ? skills : 'none');
    if (prompt !== undefined && typeof prompt !== 'string') report(`${pointer}/prompt_task`, 'a text', prompt);
    else if (prompt !== undefined && isRecord(prompts) && !Object.hasOwn(prompts, prompt))
      unknown(`${pointer}/prompt_task`, 'prompt', prompt);
    if (onEvent !== undefined && !isRecord(onEvent)) report(`${pointer}/on_event`, 'an object', onEvent);
    const shown = new Map<string, string>();
    for (const [event, next] of Object.entries(isRecord(onEvent) ? onEvent : {})) {
      const at = `${pointer}/on_event/${escapePointer(event)}`;
      if (typeof next !== 'string') report(at, 'the name of a state', next);
      else if (!Object.hasOwn(given, next)) unknown(at, 'state', next);
      // A model repeats these names, so it gets them as a person sees them, without hidden characters.
      else shown.set(withoutHidden(event).text, next);
    }
    events.set(name, shown);
  }
  if (typeof entry !== 'string' || !states.has(entry)) report('/workflow/entry', 'the name of a state', entry);
  return { entry: String(entry), states, events };
}

type Fields = Readonly<Record<string, unknown>>;

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (isRecord(value)) return 'an object';
  return value === undefined ? 'nothing' : shown(value);
}
