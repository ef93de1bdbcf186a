import { invalidArgument } from '../skill/errors.ts';

export type SkillAction = 'view' | 'list' | 'create' | 'edit' | 'patch' | 'delete' | 'write_file' | 'remove_file';

/** What each action takes beside `action`, `name` and `justification`. */
const TAKEN: Readonly<Record<SkillAction, readonly string[]>> = {
  view: ['file_path', 'filename'],
  list: [],
  create: ['description', 'body', 'content'],
  edit: ['content'],
  patch: ['fields', 'old_string', 'new_string', 'replace_all', 'file_path', 'filename'],
  delete: [],
  write_file: ['file_path', 'filename', 'content', 'file_content'],
  remove_file: ['file_path', 'filename'],
};

export const ACTIONS: readonly SkillAction[] = Object.keys(TAKEN) as SkillAction[];

/** Both shapes: that of the Operator design, and plain names. */
export interface SkillArguments {
  readonly action: SkillAction;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly body?: string | undefined;
  readonly content?: string | undefined;
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  readonly old_string?: string | undefined;
  readonly new_string?: string | undefined;
  readonly replace_all?: boolean | undefined;
  readonly file_path?: string | undefined;
  readonly filename?: string | undefined;
  readonly file_content?: string | undefined;
  readonly justification?: string | undefined;
}

const COMMON = ['action', 'name', 'justification'];

/**
 * What an action does not take may not be passed over: an edit with a `file_path` means that file, not SKILL.md. Empty texts
 * are no arguments, because some models fill in every field.
 *
 * @throws INVALID_ARGUMENT.
 */
export function assertTaken(args: SkillArguments): void {
  const taken = [...COMMON, ...TAKEN[args.action]];
  const other = Object.entries(args).find(
    ([name, value]) => !taken.includes(name) && value !== undefined && value !== '' && value !== false,
  );
  if (!other) return;
  const takes = TAKEN[args.action].join(', ') || 'nothing but name';
  throw invalidArgument(`skill: ${args.action} takes no ${other[0]}; it takes ${takes}.`);
}

/** @throws INVALID_ARGUMENT when it is missing or empty. */
export function required(args: SkillArguments, field: keyof SkillArguments): string {
  const value = args[field];
  if (typeof value === 'string' && value !== '') return value;
  throw invalidArgument(`skill: ${args.action} needs ${field}.`);
}

/** `file_path`, by either of its names. @throws INVALID_ARGUMENT when both are given. */
export function filePathOf({ file_path: path, filename }: SkillArguments): string | undefined {
  if (path && filename) throw invalidArgument('Give file_path or filename, not both.');
  return path || filename || undefined;
}

/** The text of a file, which may be empty. @throws INVALID_ARGUMENT when there is none, or two. */
export function fileTextOf({ action, content, file_content: fileContent }: SkillArguments): string {
  if (content && fileContent) throw invalidArgument('Give content or file_content, not both.');
  const given = content || fileContent || (content ?? fileContent);
  if (given === undefined) throw invalidArgument(`skill: ${action} needs content.`);
  return given;
}
