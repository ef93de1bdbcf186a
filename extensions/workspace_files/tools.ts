import { mkdirSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import {
  CodedError,
  defineTool,
  type Tool,
  type ToolResult,
  type TurnContext,
  toolError,
  z,
} from 'skill-registry/kernel';
import {
  assertDataInRoot,
  codeProtected,
  heldExtensions,
  holdExtensionFile,
  isCode,
  listHeldFiles,
  readHeldFile,
} from '../../kernel/host.ts';
import { assertWritable, futureRealPath, isInside, relativeSegments, writeContained } from '../../lib/files/index.ts';
import { withoutHidden } from '../../lib/text/index.ts';
import type { SkillRegistry } from '../skill_registry/api.ts';
import { decodeText, isThere, listWorkspaceFolder, readWorkspaceFile, type WorkspacePath } from './read-workspace.ts';

export interface WorkspaceOptions {
  readonly root: string;
  /** When nobody has approved the root, links that lead out of it are refused. */
  readonly trusted: boolean;
  readonly maxBytes: number;
  readonly registry: SkillRegistry;
  restart(): void;
  /** An agent has read or written this file, or proposed to. */
  touched(path: string, turn: TurnContext): void;
}

const FOLDERS = ['extensions', 'skills'] as const;
const PATH = 'Relative to the root, below extensions/ or skills/: extensions/my_tool/main.ts';

const PROPOSED = 'Not written: it is proposed, and a person decides. Tell the user.';
const NO_SOURCE =
  'so no history would keep its texts. Write below a folder that is a source, or ask the user to add this one to sources.';
const HELD =
  'Kept, and without effect until a person has approved it. When the extension is complete, call request_restart: then the person is asked.';

export function workspaceTools(options: WorkspaceOptions): readonly Tool[] {
  return [listFilesTool(options), readFileTool(options), writeFileTool(options), requestRestartTool(options)];
}

// --- internal ---

type WritePolicy = NonNullable<ReturnType<SkillRegistry['admin']['writePolicy']>>;

function listFilesTool(options: WorkspaceOptions): Tool {
  const { root, registry } = options;
  return defineTool({
    name: 'list_files',
    description: 'Lists one folder of the workspace: the direct children with their kind and size.',
    input: z.strictObject({ path: z.string().describe('extensions, skills, or a folder below one of them.') }),
    execute: async ({ path }, { turn }) => {
      const location = locate(options, path);
      const waiting = listHeldFiles(root, location.belowExtensions, authorOf(turn));
      const listed = listWorkspaceFolder(location, registry, turn);
      if (waiting.length === 0) return { success: true, path, ...(await listed) };
      const { entries, ...rest } = await listed.catch(() => ({ entries: [] }));
      const all = new Map([...entries, ...waiting].map((entry) => [entry.name, entry]));
      return { success: true, path, entries: [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), ...rest };
    },
  });
}

function readFileTool(options: WorkspaceOptions): Tool {
  const { root, maxBytes, registry, touched } = options;
  return defineTool({
    name: 'read_file',
    description: 'Reads one text file of the workspace.',
    input: z.strictObject({ path: z.string().describe(PATH) }),
    execute: async ({ path }, { turn }) => {
      const location = locate(options, path);
      const waiting = readHeldFile(root, location.belowExtensions, authorOf(turn), maxBytes);
      const bytes = waiting ?? (await readWorkspaceFile(location, maxBytes, registry, turn));
      const { text, leftOut } = withoutHidden(decodeText(bytes, path));
      touched(path, turn);
      const hidden = leftOut > 0 ? { hidden_left_out: leftOut } : {};
      return { success: true, path, content: text, ...hidden, size: bytes.length };
    },
  });
}

function writeFileTool(options: WorkspaceOptions): Tool {
  return defineTool({
    name: 'write_file',
    description:
      'Writes one text file of the workspace, whole; folders are made as needed. A skill is changed by proposal where its owner wants that.',
    input: z.strictObject({
      path: z.string().describe(PATH),
      content: z.string(),
      justification: z.string().optional().describe('Why; for the person who reviews a change to a skill.'),
    }),
    async execute(wanted, { turn }) {
      const result = await writeFile(wanted, turn, options);
      if (result.success) options.touched(wanted.path, turn);
      return result;
    },
  });
}

function requestRestartTool({ root, restart }: WorkspaceOptions): Tool {
  return defineTool({
    name: 'request_restart',
    description:
      'Reloads every extension when the current turn has ended. Call it after writing an extension: a person is asked whether it may run.',
    input: z.strictObject({}),
    async execute() {
      const held = heldExtensions(root).map(({ name, files }) => ({ extension: name, files: files.length }));
      restart();
      return { success: true, message: restartMessage(held.map(({ extension }) => extension)), held };
    },
  });
}

interface WantedFile {
  readonly path: string;
  readonly content: string;
  readonly justification?: string | undefined;
}

async function writeFile(wanted: WantedFile, turn: TurnContext, options: WorkspaceOptions): Promise<ToolResult> {
  const { root, maxBytes, registry } = options;
  const { path, content } = wanted;
  const size = Buffer.byteLength(content);
  if (size > maxBytes) {
    const advice = 'Write less, or several files; a person can raise max_bytes in data/workspace_files/config.yaml.';
    return toolError('RESOURCE_TOO_LARGE', `The content has ${size} bytes, more than ${maxBytes}. ${advice}`);
  }
  const { base, below, belowExtensions } = locate(options, path);
  const segments = relativeSegments(below);
  assertWritable(base, segments);
  // In a list or a difference it could look like lines of another file.
  if (/\p{Cc}/u.test(path))
    return toolError('INVALID_ARGUMENT', `${JSON.stringify(path.slice(0, 200))} has a control character in it.`);
  const target = join(base, ...segments);
  // A file that a person has added since the last refresh must be treated as an update, not as a new file.
  await registry.refresh();
  const policy = registry.admin.writePolicy(target);
  if (belowExtensions !== undefined) {
    // Code always needs the approval of a person, even where `writes` is allow.
    if (policy?.policy === 'deny' && policy.reason === undefined) return refusal(path, policy);
    const { created } = holdExtensionFile(root, belowExtensions, content, authorOf(turn));
    return { success: true, path, created, size, held: true, message: HELD };
  }
  if (isCode(root, target)) throw codeProtected(path, nameBelowExtensions(root, target));
  if (!policy) return toolError('WRITE_DENIED', `"${path}" lies in no skill source, ${NO_SOURCE}`);
  if (policy.policy === 'propose' && policy.target) return proposeFile(wanted, policy.target, turn, options);
  if (policy.policy !== 'allow') return refusal(path, policy);
  if (policy.target) return changeSkill(wanted, policy.target, target, turn, options);
  if (policy.skillId !== undefined) {
    const revision = await registry.admin.management.add(target, content, actorOf(wanted, turn));
    return { success: true, path, created: true, size, ...(revision ? { revision: revision.number } : {}) };
  }
  const { created } = writeContained(base, below, content);
  await registry.refresh();
  return { success: true, path, created, size };
}

type Target = NonNullable<WritePolicy['target']>;

async function proposeFile(
  { path, content, justification = 'Written with write_file, without a reason.' }: WantedFile,
  { kind, skillId, path: file }: Target,
  turn: TurnContext,
  { registry, root }: WorkspaceOptions,
): Promise<ToolResult> {
  const change = { skillId, kind, path: file, content, justification };
  const { proposalId, file: report, state } = await registry.proposals.propose(change, turn);
  const shown = /^https?:/.test(report) ? report : relative(root, report).split(sep).join('/');
  return { success: true, path, written: false, proposal_id: proposalId, state, file: shown, message: PROPOSED };
}

async function changeSkill(
  wanted: WantedFile,
  { kind, skillId, path: file }: Target,
  target: string,
  turn: TurnContext,
  { registry }: WorkspaceOptions,
): Promise<ToolResult> {
  const created = kind === 'create' || !isThere(target);
  const { path, content } = wanted;
  const actor = actorOf(wanted, turn);
  const { management } = registry.admin;
  const { number } =
    kind === 'create'
      ? await management.create(skillId, content, actor)
      : await management.write(skillId, file, content, actor, turn);
  return { success: true, path, created, size: Buffer.byteLength(content), revision: number };
}

function actorOf({ justification }: WantedFile, turn: TurnContext) {
  return { by: authorOf(turn), ...(justification ? { reason: justification } : {}) };
}

/** Undefined for the target of a link in `extensions/`: the tools follow no link. */
function nameBelowExtensions(root: string, target: string): string | undefined {
  const extensions = futureRealPath(join(root, 'extensions'));
  return isInside(target, extensions) ? `extensions/${relative(extensions, target).split(sep).join('/')}` : undefined;
}

function authorOf({ agentId }: TurnContext): string {
  return agentId ? `agent:${agentId}` : 'unknown';
}

function restartMessage(waiting: readonly string[]): string {
  const reload = 'Extensions are reloaded when this turn has ended.';
  if (waiting.length === 0) return reload;
  const held = `Until a person has approved it, what you wrote for ${waiting.join(', ')} has no effect.`;
  const command = `skill-registry approvals allow extensions/${waiting[0]}`;
  return `${reload} ${held} At a terminal the person is asked now; elsewhere it waits for: ${command}. Tell the user.`;
}

/** @throws PATH_OUTSIDE_WORKSPACE, PATH_TRAVERSAL, WRITE_FAILED. */
function locate({ root, trusted }: WorkspaceOptions, path: string): WorkspacePath {
  const [first, ...rest] = path.replace(/^(\.\/)+/, '').split('/');
  const folder = FOLDERS.find((name) => name === first);
  if (!folder)
    throw new CodedError('PATH_OUTSIDE_WORKSPACE', `"${path}" must start with extensions/ or skills/.`, { path });
  const base = folderOf(root, folder);
  if (!trusted) assertDataInRoot(root);
  if (!trusted && !isInside(base, root)) {
    const message = `${folder}/ is a link that leads out of this root, which nobody has approved. Tell the user.`;
    throw new CodedError('PATH_TRAVERSAL', message, { path });
  }
  const below = rest.join('/');
  return { shown: path, base, below, belowExtensions: folder === 'extensions' ? below : undefined };
}

function folderOf(root: string, folder: string): string {
  try {
    mkdirSync(join(root, folder), { recursive: true });
    return realpathSync(join(root, folder));
  } catch (error) {
    throw folderUnusable(folder, error);
  }
}

function folderUnusable(folder: string, cause: unknown): CodedError {
  const reason = (cause as NodeJS.ErrnoException).code;
  const message = `${folder}/ is not a folder and cannot be made (${reason}). Tell the user.`;
  return new CodedError('WRITE_FAILED', message, { folder }, cause);
}

function refusal(path: string, { action, policy, source, reason }: WritePolicy): ToolResult {
  if (policy === 'deny') {
    const why = reason ?? `writes.${action} is deny`;
    const message = `"${path}" lies in skill source "${source}", and ${why}. Tell the user what you wanted to write.`;
    return toolError('WRITE_DENIED', message);
  }
  const why = `where writes.${action} is propose, and it is no file of a skill that could be proposed.`;
  const advice = 'Write below the folder of a skill, or a SKILL.md in a new folder of the source; else ask the user.';
  return toolError('PROPOSAL_REQUIRED', `"${path}" lies in skill source "${source}", ${why} ${advice}`);
}
