import { defineTool, type Tool } from 'skill-registry/kernel';
import type { z } from 'zod';
import { yamlPackage } from '../../../../kernel/host.ts';
import type { Z } from '../../../../lib/arguments/index.ts';
import { toWire } from '../../../../lib/text/index.ts';
import { skillNamed } from '../../core/catalog/snapshot.ts';
import type { ToolRegistry } from '../../core/seams.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import { splitFrontmatter } from '../../core/skill/frontmatter.ts';
import { newFrontmatter } from '../../core/skill/yaml-fields.ts';
import { listForModels, withoutHiddenText } from '../../core/tools/index.ts';
import { replaceText } from '../proposals/propose/replace-text.ts';
import { changeSkill, type RequestedChange } from '../proposals/tools.ts';

const BUCKETS = ['references/', 'templates/', 'scripts/', 'assets/', 'evals/'];

function inputOf(z: Z) {
  const text = (what: string) => z.string().optional().describe(what);
  return z.strictObject({
    action: z.enum(ACTIONS),
    name: text('The skill. All but list need it.'),
    description: text('create, patch: what it does and when to use it.'),
    body: text('create: the instructions.'),
    content: text('edit: the whole SKILL.md; create: instead of description and body; write_file: the file.'),
    fields: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('patch: fields of the frontmatter; null removes one.'),
    disable_model_invocation: z.boolean().optional().describe('patch: whether models are kept from it.'),
    old_string: text('patch: a text that occurs once in the file.'),
    new_string: text('patch: what takes its place.'),
    replace_all: z.boolean().optional().describe('patch: every occurrence.'),
    file_path: text('view, patch, write_file, remove_file: references/guide.md'),
    filename: text('The same as file_path.'),
    file_content: text('The same as content, for write_file.'),
    justification: text('Why; shown to the reviewer.'),
  });
}

/** The management tool of the Operator design, with its argument names and plain ones. */
export function skillTool(registry: ToolRegistry, z: Z): Tool {
  return defineTool({
    name: 'skill',
    description: 'Shows, creates, changes and removes skills. A change may need a review before it is made.',
    input: inputOf(z),
    async execute(args, { turn }) {
      assertTaken(args);
      if (args.action === 'list') return { success: true, ...listForModels(registry.list({ limit: 200 }, turn)) };
      const name = required(args, 'name');
      if (args.action === 'view') {
        const path = filePathOf(args);
        const found =
          path === undefined
            ? registry.read(name, { audience: 'model', view: 'raw' }, turn)
            : registry.readResource(name, path, turn);
        return { success: true, ...toWire(await withoutHiddenText(await found)) };
      }
      const { message, ...change } = requestedChange(registry, args, name);
      const justification = args.justification ?? `${args.action} of "${name}", requested without a reason.`;
      const { done, ...rest } = await changeSkill(registry, { ...change, skillId: name, justification }, { turn });
      const proposed = 'Proposed, not done: a reviewer decides first.';
      return { success: true, skill_id: name, message: done ? message : proposed, ...rest };
    },
  });
}

// --- internal ---

interface Change extends Pick<RequestedChange, 'kind' | 'path' | 'content'> {
  /** When it is made. */
  readonly message: string;
}

function requestedChange(registry: ToolRegistry, args: SkillArguments, name: string): Change {
  switch (args.action) {
    case 'create':
      return { kind: 'create', content: newText(args, name), message: `Skill '${name}' created.` };
    case 'edit':
      return { kind: 'update', content: required(args, 'content'), message: `Skill '${name}' updated.` };
    case 'patch':
      return { kind: 'update', ...patchOf(args), message: `Skill '${name}' patched.` };
    case 'delete':
      if (isPinned(registry, name)) throw invalidArgument(`Skill '${name}' is pinned and cannot be deleted.`);
      return { kind: 'delete', message: `Skill '${name}' archived (recoverable: skill-registry rollback ${name}).` };
  }
  const path = bucketPath(args);
  return args.action === 'write_file'
    ? { kind: 'update', path, content: fileTextOf(args), message: `Wrote ${path} in skill '${name}'.` }
    : { kind: 'update', path, content: null, message: `Removed ${path} from skill '${name}'.` };
}

/** By the plain or the qualified id. */
function isPinned({ config, snapshot }: ToolRegistry, name: string): boolean {
  const current = snapshot();
  const skill = skillNamed(current, name);
  return config.catalog.pinned.some((id) => id === name || (skill && skillNamed(current, id) === skill));
}

function newText(args: SkillArguments, name: string): string {
  const whole = args.content !== undefined;
  if (whole === (args.description !== undefined || args.body !== undefined)) {
    throw invalidArgument('create takes either content (the whole SKILL.md), or description and body.');
  }
  return whole
    ? required(args, 'content')
    : `${newFrontmatter(name, required(args, 'description'))}${required(args, 'body').trim()}\n`;
}

/** A function of the present text: it runs while nobody else can change the file. */
function patchOf(args: SkillArguments): Pick<RequestedChange, 'path' | 'content'> {
  const { old_string: old, new_string: next, replace_all: all = false } = args;
  const fields = fieldsOf(args);
  const path = filePathOf(args);
  if ((fields === undefined) === !old || (fields && path !== undefined)) {
    throw invalidArgument('patch takes either fields (of SKILL.md), or old_string and new_string.');
  }
  if (fields !== undefined) return { content: (present) => patchFrontmatter(present, fields) };
  if (!old || next === undefined) throw invalidArgument('patch needs new_string; an empty one removes old_string.');
  const shown = path ?? 'SKILL.md';
  return { path: shown, content: (present) => replaceText(present, old, next, shown, all) };
}

/** null removes a field. Keeps everything else, comments too. @throws INVALID_ARGUMENT if it is no mapping. */
function patchFrontmatter(text: string, fields: Readonly<Record<string, unknown>>): string {
  const { yaml, bodyOffset } = splitFrontmatter(text);
  const { isMap, parseDocument } = yamlPackage();
  const document = parseDocument(yaml ?? '', { keepSourceTokens: true });
  if (document.errors.length > 0 || (document.contents !== null && !isMap(document.contents))) {
    throw invalidArgument('The frontmatter of this skill is not a mapping of fields. Write the whole file instead.');
  }
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) document.delete(name);
    else document.set(name, value);
  }
  const start = text.startsWith('\ufeff') ? '\ufeff' : '';
  return `${start}---\n${document.toString({ lineWidth: 0 }).replace(/\n?$/, '\n')}---\n${text.slice(bodyOffset)}`;
}

/** `fields` wins over the names of the Operator design. */
function fieldsOf({ fields, description, disable_model_invocation: hides }: SkillArguments) {
  const named = {
    ...(description ? { description } : {}),
    ...(hides === undefined ? {} : { 'disable-model-invocation': hides }),
  };
  return fields || Object.keys(named).length > 0 ? { ...named, ...fields } : undefined;
}

function bucketPath(args: SkillArguments): string {
  const path = filePathOf(args);
  if (path === undefined) throw invalidArgument(`skill: ${args.action} needs file_path.`);
  if (BUCKETS.some((bucket) => path.startsWith(bucket))) return path;
  throw invalidArgument(`file_path must start with one of: ${BUCKETS.join(', ')}`);
}

type SkillAction = 'view' | 'list' | 'create' | 'edit' | 'patch' | 'delete' | 'write_file' | 'remove_file';

const COMMON = ['action', 'name', 'justification'];
const FILE = ['file_path', 'filename'];

/** In addition to `COMMON`. */
const TAKEN: Readonly<Record<SkillAction, readonly string[]>> = {
  view: FILE,
  list: [],
  create: ['description', 'body', 'content'],
  edit: ['content'],
  patch: ['fields', 'description', 'disable_model_invocation', 'old_string', 'new_string', 'replace_all', ...FILE],
  delete: [],
  write_file: [...FILE, 'content', 'file_content'],
  remove_file: FILE,
};

const ACTIONS: readonly SkillAction[] = Object.keys(TAKEN) as SkillAction[];

type SkillArguments = z.infer<ReturnType<typeof inputOf>>;

/**
 * Refuses arguments that the action does not take: ignoring them could change the wrong file, such as SKILL.md by an
 * `edit` with `file_path`. Empty texts count as absent, because some models fill in every field.
 *
 * @throws INVALID_ARGUMENT.
 */
function assertTaken(args: SkillArguments): void {
  const taken = [...COMMON, ...TAKEN[args.action]];
  const other = Object.entries(args).find(
    ([name, value]) => !taken.includes(name) && value !== undefined && value !== '' && value !== false,
  );
  if (!other) return;
  const takes = TAKEN[args.action].join(', ') || 'only name';
  throw invalidArgument(`skill: ${args.action} takes no ${other[0]}; it takes ${takes}.`);
}

/** @throws INVALID_ARGUMENT when it is missing or empty. */
function required(args: SkillArguments, field: keyof SkillArguments): string {
  const value = args[field];
  if (typeof value === 'string' && value !== '') return value;
  throw invalidArgument(`skill: ${args.action} needs ${field}.`);
}

/** @throws INVALID_ARGUMENT when both names are used. */
function filePathOf({ file_path: path, filename }: SkillArguments): string | undefined {
  if (path && filename) throw invalidArgument('Give file_path or filename, not both.');
  return path || filename || undefined;
}

/** May be empty. @throws INVALID_ARGUMENT when no text is given, or two are. */
function fileTextOf({ action, content, file_content: fileContent }: SkillArguments): string {
  if (content && fileContent) throw invalidArgument('Give content or file_content, not both.');
  const given = content || fileContent || (content ?? fileContent);
  if (given === undefined) throw invalidArgument(`skill: ${action} needs content.`);
  return given;
}
