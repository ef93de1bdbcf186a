import { mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import {
  CodedError,
  defineTool,
  type HeldExtension,
  holdExtensionFile,
  listHeldFiles,
  readHeldFile,
  type Tool,
  type TurnContext,
  toolError,
  z,
} from 'skill-registry/kernel';
import { assertWritable, isInside, relativeSegments, writeContained } from '../../lib/files/index.ts';
import type { SkillRegistry, Snapshot } from '../skill_registry/api.ts';
import { isThere, listWorkspaceFolder, readWorkspaceFile, type WorkspacePath } from './read-workspace.ts';

export interface WorkspaceOptions {
  /** Real path of the root. */
  readonly root: string;
  readonly maxBytes: number;
  readonly registry: Pick<
    SkillRegistry,
    | 'readPolicies'
    | 'readBytes'
    | 'resources'
    | 'leftOut'
    | 'snapshot'
    | 'writePolicy'
    | 'refresh'
    | 'proposals'
    | 'management'
  >;
  restart(): void;
  /** What waits for a person's yes. */
  held(): readonly HeldExtension[];
}

const FOLDERS = ['extensions', 'skills'] as const;
const PATH = 'Relative to the root, below extensions/ or skills/: extensions/my_tool/main.ts';

const PROPOSED = 'Not written: it is proposed, and a person decides. Tell the user.';
const HELD =
  'Kept, and without effect until a person has approved it. When the extension is complete, call request_restart: then the person is asked.';

/** `list_files`, `read_file`, `write_file` and `request_restart`. */
export function workspaceTools({ root, maxBytes, registry, restart, held }: WorkspaceOptions): readonly Tool[] {
  return [
    defineTool({
      name: 'list_files',
      description: 'Lists one folder of the workspace: the direct children with their kind and size.',
      input: z.strictObject({ path: z.string().describe('extensions, skills, or a folder below one of them.') }),
      execute: async ({ path }, { turn }) => {
        const waiting = listHeldFiles(root, belowExtensions(path), authorOf(turn));
        const listed = listWorkspaceFolder(locate(root, path), registry, turn);
        if (waiting.length === 0) return { success: true, path, ...(await listed) };
        const { entries, ...rest } = await listed.catch(() => ({ entries: [] }));
        const all = new Map([...entries, ...waiting].map((entry) => [entry.name, entry]));
        return { success: true, path, entries: [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), ...rest };
      },
    }),
    defineTool({
      name: 'read_file',
      description: 'Reads one text file of the workspace.',
      input: z.strictObject({ path: z.string().describe(PATH) }),
      execute: async ({ path }, { turn }) => {
        const waiting = readHeldFile(root, belowExtensions(path), authorOf(turn), maxBytes);
        const bytes = waiting ?? Buffer.from(await readWorkspaceFile(locate(root, path), maxBytes, registry, turn));
        const content = bytes.toString('utf8');
        if (!Buffer.from(content).equals(bytes)) return toolError('NOT_TEXT', `"${path}" is no UTF-8 text file.`);
        return { success: true, path, content, size: bytes.length };
      },
    }),
    defineTool({
      name: 'write_file',
      description:
        'Writes one text file of the workspace, whole; folders are made as needed. A skill is changed by proposal where its owner wants that.',
      input: z.strictObject({
        path: z.string().describe(PATH),
        content: z.string(),
        justification: z.string().optional().describe('Why; for whoever reviews a change to a skill.'),
      }),
      async execute({ path, content, justification }, { turn }) {
        const size = Buffer.byteLength(content);
        if (size > maxBytes)
          return toolError('RESOURCE_TOO_LARGE', `The content has ${size} bytes, more than ${maxBytes}.`);
        const { base, below } = locate(root, path);
        const segments = relativeSegments(below);
        assertWritable(base, segments);
        // In a list or a difference it would look like lines of somebody else.
        if (/\p{Cc}/u.test(path))
          return toolError('INVALID_ARGUMENT', `${JSON.stringify(path.slice(0, 200))} has a control character in it.`);
        const target = join(base, ...segments);
        // What a person has put there since the last look is theirs: an update, not a new file.
        await registry.refresh();
        const policy = registry.writePolicy(target);
        const extension = belowExtensions(path);
        if (extension !== undefined) {
          // Nothing but a person's yes lets code in, whatever else the owner allows agents to write.
          if (policy?.policy === 'deny') return refusal(path, policy);
          const { created } = holdExtensionFile(root, extension, content, authorOf(turn));
          return { success: true, path, created, size, held: true, message: HELD };
        }
        if (policy?.policy === 'propose' && policy.target) {
          const { kind, skillId, path: file } = policy.target;
          const why = justification ?? `Written with write_file, without a reason.`;
          const change = { skill_id: skillId, kind, path: file, content, justification: why };
          const { file: proposalFile, ...receipt } = await registry.proposals.propose(change, turn);
          const shown = relative(root, proposalFile).split(sep).join('/');
          return { success: true, path, written: false, ...receipt, file: shown, message: PROPOSED };
        }
        if (policy && policy.policy !== 'allow') return refusal(path, policy);
        if (policy && takesInSkills(target, registry.snapshot())) return toolError('WRITE_DENIED', takesIn(path));
        if (policy?.target) {
          const { kind, skillId, path: file } = policy.target;
          const created = kind === 'create' || !isThere(target);
          const actor = {
            by: turn.agentId ? `agent:${turn.agentId}` : 'unknown',
            ...(justification ? { reason: justification } : {}),
          };
          // What is overwritten, by whom and why, is in the history of the skill.
          const { number } =
            kind === 'create'
              ? await registry.management.create(skillId, content, actor)
              : await registry.management.write(skillId, file, content, actor, turn);
          return { success: true, path, created, size, revision: number };
        }
        const { created } = writeContained(base, below, content);
        if (policy) await registry.refresh();
        return { success: true, path, created, size };
      },
    }),
    defineTool({
      name: 'request_restart',
      description:
        'Reloads every extension when the current turn has ended. Call it after writing an extension: a person is asked whether it may run.',
      input: z.strictObject({}),
      async execute() {
        const waiting = held().map(({ name, files }) => ({ extension: name, files: files.length }));
        restart();
        return { success: true, message: restartMessage(waiting.map(({ extension }) => extension)), held: waiting };
      },
    }),
  ];
}

// --- internal ---

/** What follows `extensions/`; undefined for another path. */
function belowExtensions(path: string): string | undefined {
  const [first, ...rest] = path.replace(/^(\.\/)+/, '').split('/');
  return first === 'extensions' ? rest.join('/') : undefined;
}

/** As whoever decides about what an agent wrote is told. */
function authorOf({ agentId }: TurnContext): string {
  return agentId ? `agent:${agentId}` : 'unknown';
}

function restartMessage(waiting: readonly string[]): string {
  const reload = 'Extensions are reloaded when this turn has ended.';
  if (waiting.length === 0) return reload;
  const names = waiting.join(', ');
  return `${reload} Until a person has approved it, what you wrote for ${names} has no effect. At a terminal the person is asked now; elsewhere it waits for: skill-registry extensions approve ${waiting[0]}. Tell the user.`;
}

/** The folder a path starts with, as a base that nothing may leave, and the rest. */
function locate(root: string, path: string): WorkspacePath {
  const [first, ...rest] = path.replace(/^(\.\/)+/, '').split('/');
  const folder = FOLDERS.find((name) => name === first);
  if (!folder)
    throw new CodedError('PATH_OUTSIDE_WORKSPACE', `"${path}" must start with extensions/ or skills/.`, { path });
  try {
    const base = join(root, folder);
    mkdirSync(base, { recursive: true });
    return { shown: path, base: realpathSync(base), below: rest.join('/') };
  } catch (error) {
    throw folderUnusable(folder, error);
  }
}

function folderUnusable(folder: string, cause: unknown): CodedError {
  const reason = (cause as NodeJS.ErrnoException).code;
  return new CodedError('WRITE_FAILED', `${folder}/ is no folder and cannot be made (${reason}).`, { folder }, cause);
}

/** Whether a SKILL.md there would make files of its own of other skills, which their authors and gates then keep from nobody. */
function takesInSkills(target: string, { byQualifiedId }: Pick<Snapshot, 'byQualifiedId'>): boolean {
  if (basename(target).toLowerCase() !== 'skill.md') return false;
  const folder = dirname(target);
  return [...byQualifiedId.values()].some(({ dir }) => dir !== null && dir !== folder && isInside(dir, folder));
}

function takesIn(path: string): string {
  return `"${path}" would make one skill of all skills below its folder, so it is not written. Write it into a new folder.`;
}

function refusal(path: string, { action, policy, source }: { action: string; policy: string; source: string }) {
  if (policy === 'deny') {
    return toolError('WRITE_DENIED', `"${path}" lies in skill source "${source}", and writes.${action} is deny.`);
  }
  return toolError(
    'PROPOSAL_REQUIRED',
    `"${path}" lies in skill source "${source}", where writes.${action} is propose, and it is no file of a skill that could be ` +
      'proposed. Write below the folder of a skill, or a SKILL.md in a new folder of the source; else ask the user.',
  );
}
