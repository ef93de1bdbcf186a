import type { Problem } from 'skill-registry/kernel';

/** What a PromptPack JSON says about skills (RFC 0008). Everything else in it is somebody else's. */
export interface PromptPack {
  readonly id: string;
  /** In order of declaration. */
  readonly skills: readonly PackEntry[];
  /** Names of the tools that it declares. */
  readonly tools: ReadonlySet<string>;
  readonly workflow?: PackWorkflow;
}

export type PackEntry =
  /** A path below the pack, or `@scope/package`. */
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
  /** The skills expression of each state; undefined: all skills of the pack. */
  readonly states: ReadonlyMap<string, string | undefined>;
}

/**
 * Reads a pack. An entry that is wrong is left out and named with its JSON pointer (PACK_INVALID), the others are used;
 * a duplicate inline name is a warning (PACK_NAME_REPEATED).
 *
 * @returns no pack only when the text is no JSON object, or its `skills` no list.
 */
export function parsePromptPack(
  text: string,
  file: string,
): { readonly pack?: PromptPack; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const wrong = (pointer: string, expected: string, got: unknown): void => {
    const message = `${pointer || '/'}: expected ${expected}, got ${typeName(got)}. Correct the pack.`;
    problems.push({ code: 'PACK_INVALID', severity: 'error', file, message, details: { pointer } });
  };
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    const message = `This is no JSON: ${error instanceof Error ? error.message : error}. Correct the pack.`;
    return { problems: [{ code: 'PACK_INVALID', severity: 'error', file, message, details: { pointer: '' } }] };
  }
  if (!isRecord(json)) {
    wrong('', 'an object', json);
    return { problems };
  }
  if (typeof json.id !== 'string' || json.id === '') wrong('/id', 'a text', json.id);
  if (json.skills !== undefined && !Array.isArray(json.skills)) {
    wrong('/skills', 'an array', json.skills);
    return { problems };
  }
  const skills = readEntries(json.skills, wrong);
  for (const pointer of repeatedNames(skills)) {
    const message = `${pointer}/name: this inline skill has the name of an earlier one, and the last one wins. Rename one.`;
    problems.push({ code: 'PACK_NAME_REPEATED', severity: 'warning', file, message, details: { pointer } });
  }
  const workflow = json.workflow === undefined ? undefined : readWorkflow(json.workflow, wrong);
  const id = typeof json.id === 'string' && json.id !== '' ? json.id : 'pack';
  const tools = new Set(isRecord(json.tools) ? Object.keys(json.tools) : []);
  return { pack: { id, skills, tools, ...(workflow ? { workflow } : {}) }, problems };
}

/** The name of a member in a JSON pointer. */
export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

// --- internal ---

type Wrong = (pointer: string, expected: string, got: unknown) => void;

function readEntries(entries: readonly unknown[] = [], wrong: Wrong): readonly PackEntry[] {
  return entries.flatMap((entry, index) => readEntry(entry, `/skills/${index}`, wrong));
}

function readEntry(value: unknown, pointer: string, wrong: Wrong): PackEntry[] {
  if (typeof value === 'string' && value !== '')
    return [{ kind: 'reference', reference: value, preload: false, pointer }];
  if (!isRecord(value)) {
    wrong(pointer, 'a path, a package, { path, preload } or { name, description, instructions }', value);
    return [];
  }
  const isPath = 'path' in value;
  const known = isPath ? ['path', 'preload'] : ['name', 'description', 'instructions'];
  let sound = true;
  const fail = (key: string, expected: string): void => {
    sound = false;
    wrong(`${pointer}/${escapePointer(key)}`, expected, value[key]);
  };
  for (const key of Object.keys(value)) if (!known.includes(key)) fail(key, `no such field (${known.join(', ')})`);
  for (const key of isPath ? ['path'] : known)
    if (typeof value[key] !== 'string' || value[key] === '') fail(key, 'a text');
  if (isPath && value.preload !== undefined && typeof value.preload !== 'boolean') fail('preload', 'true or false');
  if (!sound) return [];
  if (isPath) return [{ kind: 'reference', reference: String(value.path), preload: value.preload === true, pointer }];
  const [name, description, instructions] = [value.name, value.description, value.instructions].map(String) as [
    string,
    string,
    string,
  ];
  return [{ kind: 'inline', name, description, instructions, pointer }];
}

function readWorkflow(value: unknown, wrong: Wrong): PackWorkflow | undefined {
  if (!isRecord(value) || !isRecord(value.states)) {
    wrong('/workflow', 'an object with entry and states', value);
    return undefined;
  }
  const states = new Map<string, string | undefined>();
  for (const [name, state] of Object.entries(value.states)) {
    const pointer = `/workflow/states/${escapePointer(name)}`;
    const skills = isRecord(state) ? state.skills : undefined;
    if (!isRecord(state)) wrong(pointer, 'an object', state);
    if (skills !== undefined && typeof skills !== 'string') wrong(`${pointer}/skills`, 'a text', skills);
    // A scope that cannot be read must not open everything.
    states.set(name, skills === undefined || typeof skills === 'string' ? skills : 'none');
  }
  if (typeof value.entry !== 'string' || !states.has(value.entry))
    wrong('/workflow/entry', 'the name of a state', value.entry);
  return { entry: String(value.entry), states };
}

function repeatedNames(entries: readonly PackEntry[]): readonly string[] {
  const seen = new Set<string>();
  return entries.flatMap((entry) => {
    if (entry.kind !== 'inline') return [];
    const repeated = seen.has(entry.name);
    seen.add(entry.name);
    return repeated ? [entry.pointer] : [];
  });
}

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
