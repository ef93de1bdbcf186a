import { mkdirSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import {
  assertWritable,
  CodedError,
  defineTool,
  relativeSegments,
  type Tool,
  toolError,
  writeContained,
  z,
} from 'skill-registry/kernel';
import type { SkillRegistry } from '../skill_registry/api.ts';
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
}

const FOLDERS = ['extensions', 'skills'] as const;
const PATH = 'Relative to the root, below extensions/ or skills/: extensions/my_tool/main.ts';

const PROPOSED = 'Not written: it is proposed, and a person decides. Tell the user.';

/** `list_files`, `read_file`, `write_file` and `request_restart`. */
export function workspaceTools({ root, maxBytes, registry, restart }: WorkspaceOptions): readonly Tool[] {
  return [
    defineTool({
      name: 'list_files',
      description: 'Lists one folder of the workspace: the direct children with their kind and size.',
      input: z.strictObject({ path: z.string().describe('extensions, skills, or a folder below one of them.') }),
      execute: async ({ path }, { turn }) => ({
        success: true,
        path,
        ...(await listWorkspaceFolder(locate(root, path), registry, turn)),
      }),
    }),
    defineTool({
      name: 'read_file',
      description: 'Reads one text file of the workspace.',
      input: z.strictObject({ path: z.string().describe(PATH) }),
      execute: async ({ path }, { turn }) => {
        const bytes = Buffer.from(await readWorkspaceFile(locate(root, path), maxBytes, registry, turn));
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
        const { base, below } = locate(root, path);
        const size = Buffer.byteLength(content);
        if (size > maxBytes)
          return toolError('RESOURCE_TOO_LARGE', `The content has ${size} bytes, more than ${maxBytes}.`);
        const segments = relativeSegments(below);
        assertWritable(base, segments);
        const target = join(base, ...segments);
        // What a person has put there since the last look is theirs: an update, not a new file.
        await registry.refresh();
        const policy = registry.writePolicy(target);
        if (policy?.policy === 'propose' && policy.target) {
          const { kind, skillId, path: file } = policy.target;
          const why = justification ?? `Written with write_file, without a reason.`;
          const change = { skill_id: skillId, kind, path: file, content, justification: why };
          const { file: proposalFile, ...receipt } = await registry.proposals.propose(change, turn);
          const shown = relative(root, proposalFile).split(sep).join('/');
          return { success: true, path, written: false, ...receipt, file: shown, message: PROPOSED };
        }
        if (policy && policy.policy !== 'allow') return refusal(path, policy);
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
      description: 'Reloads every extension when the current turn has ended. Call it after writing an extension.',
      input: z.strictObject({}),
      async execute() {
        restart();
        return { success: true, message: 'Extensions are reloaded when this turn has ended.' };
      },
    }),
  ];
}

// --- internal ---

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
