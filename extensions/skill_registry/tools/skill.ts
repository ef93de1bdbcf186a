import { type CodedError, defineTool, type Tool, type TurnContext, z } from 'skill-registry/kernel';
import type { SkillRegistry } from '../api.ts';
import { invalidArgument } from '../errors.ts';
import { patchFrontmatter, skillText } from '../proposals/skill-text.ts';
import { changeSkill, type WantedChange } from './change-skill.ts';

const ACTIONS = ['view', 'list', 'create', 'edit', 'patch', 'delete', 'write_file', 'remove_file'] as const;
const BUCKETS = ['references/', 'templates/', 'scripts/', 'assets/', 'evals/'];
const text = (what: string) => z.string().optional().describe(what);

const inputOf = () =>
  z.strictObject({
    action: z.enum(ACTIONS),
    name: text('The skill. All but list need it.'),
    description: text('create: what it does and when to use it.'),
    body: text('create: the instructions.'),
    content: text('edit: the whole SKILL.md; create: instead of description and body; write_file: the file.'),
    fields: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('patch: fields of the frontmatter; null removes one.'),
    old_string: text('patch: a text that occurs once in the file.'),
    new_string: text('patch: what takes its place.'),
    replace_all: z.boolean().optional().describe('patch: every occurrence.'),
    file_path: text('patch, write_file, remove_file: references/guide.md'),
    filename: text('The same as file_path.'),
    file_content: text('The same as content, for write_file.'),
    justification: text('Why; shown to whoever reviews it.'),
  });
type Arguments = z.output<ReturnType<typeof inputOf>>;

/** Direct management, as the Operator design has it: one tool with an action. Both shapes of its arguments are taken. */
export function skillTool(registry: SkillRegistry): Tool {
  return defineTool({
    name: 'skill',
    description: 'Looks at, makes, changes and removes skills. Changes may have to be reviewed before they are made.',
    input: inputOf(),
    async execute(args, { turn }) {
      if (args.action === 'list') return { success: true, ...(await registry.list({ limit: 200 }, turn)) };
      const name = required(args, 'name');
      if (args.action === 'view') {
        return { success: true, ...(await registry.read(name, { audience: 'model', view: 'raw' }, turn)) };
      }
      const change = await wantedChange(registry, args, name, turn);
      const justification = args.justification ?? `${args.action} of "${name}", asked for without a reason.`;
      const result = await changeSkill(registry, { ...change, skillId: name, justification }, { turn });
      const { done, ...rest } = result;
      return { success: true, skill_id: name, message: messageOf(args, name, done), ...rest };
    },
  });
}

// --- internal ---

async function wantedChange(
  registry: SkillRegistry,
  args: Arguments,
  name: string,
  turn: TurnContext,
): Promise<Pick<WantedChange, 'kind' | 'path' | 'content'>> {
  if (args.action === 'create') return { kind: 'create', content: newText(args, name) };
  switch (args.action) {
    case 'edit':
      return { kind: 'update', content: required(args, 'content') };
    case 'patch':
      return { kind: 'update', ...(await patched(registry, args, name, turn)) };
    case 'delete':
      if (registry.config.catalog.pinned.includes(name))
        throw refused(`Skill '${name}' is pinned and cannot be deleted.`);
      return { kind: 'delete' };
    case 'write_file':
      return { kind: 'update', path: bucketPath(args), content: either(args, 'content', 'file_content') };
    default:
      return { kind: 'update', path: bucketPath(args), content: null };
  }
}

function newText(args: Arguments, name: string): string {
  const whole = args.content !== undefined;
  if (whole === (args.description !== undefined || args.body !== undefined)) {
    throw invalidArgument('create takes either content (the whole SKILL.md), or description and body.');
  }
  return whole ? required(args, 'content') : skillText(name, required(args, 'description'), required(args, 'body'));
}

async function patched(
  registry: SkillRegistry,
  args: Arguments,
  name: string,
  turn: TurnContext,
): Promise<{ readonly path?: string; readonly content: string }> {
  const { fields, old_string: old, new_string: next, replace_all: all = false } = args;
  if ((fields === undefined) === (old === undefined) || (fields && (args.file_path ?? args.filename))) {
    throw invalidArgument('patch takes either fields (of SKILL.md), or old_string and new_string.');
  }
  const path = args.file_path ?? args.filename;
  const { content } =
    path === undefined
      ? await registry.read(name, { audience: 'model', view: 'raw' }, turn)
      : await registry.readResource(name, path, turn);
  if (fields !== undefined) return { content: patchFrontmatter(content, fields) };
  const shown = path ?? 'SKILL.md';
  const count = old ? content.split(old).length - 1 : 0;
  if (old === undefined || next === undefined || count === 0) throw refused(`String not found in ${shown}.`);
  if (count > 1 && !all) {
    throw refused(`old_string occurs ${count} times in ${shown}; give more of the text, or replace_all.`);
  }
  return { ...(path === undefined ? {} : { path }), content: content.split(old).join(next) };
}

function bucketPath(args: Arguments): string {
  const path = either(args, 'file_path', 'filename');
  if (BUCKETS.some((bucket) => path.startsWith(bucket))) return path;
  throw invalidArgument(`file_path must start with one of: ${BUCKETS.join(', ')}`);
}

function either(args: Arguments, one: keyof Arguments, other: keyof Arguments): string {
  if (args[one] !== undefined && args[other] !== undefined) throw invalidArgument(`Give ${one} or ${other}, not both.`);
  return required(args, args[one] === undefined && args[other] !== undefined ? other : one);
}

function required(args: Arguments, field: keyof Arguments): string {
  const value = args[field];
  if (typeof value === 'string' && value !== '') return value;
  throw invalidArgument(`skill: ${args.action} needs ${field}.`);
}

function refused(message: string): CodedError {
  return invalidArgument(message);
}

const DONE: Readonly<Partial<Record<Arguments['action'], (name: string, file: string) => string>>> = {
  create: (name) => `Skill '${name}' created.`,
  edit: (name) => `Skill '${name}' updated.`,
  patch: (name) => `Skill '${name}' patched.`,
  delete: (name) => `Skill '${name}' archived (recoverable: skill-registry restore ${name}).`,
  write_file: (name, file) => `Wrote ${file} in skill '${name}'.`,
  remove_file: (name, file) => `Removed ${file} from skill '${name}'.`,
};

function messageOf(args: Arguments, name: string, done: boolean): string {
  if (!done) return 'Proposed, not done: somebody reviews it first.';
  return DONE[args.action]?.(name, args.file_path ?? args.filename ?? 'SKILL.md') ?? 'Done.';
}
