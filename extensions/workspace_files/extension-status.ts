import { relative, sep } from 'node:path';
import {
  defineTool,
  type ExtensionStatus,
  type KernelApi,
  type Problem,
  type Tool,
  toolError,
  z,
} from 'skill-registry/kernel';
import { heldExtensions, withoutPaths } from '../../kernel/host.ts';

/** `extension_status`: tells an agent after a restart whether the extension that it wrote runs. */
export function extensionStatusTool(root: string, kernel: KernelApi): Tool {
  return defineTool({
    name: 'extension_status',
    description:
      'Whether extensions run and what is wrong with them, as of the last restart; and whether a change waits for approval.',
    input: z.strictObject({
      extension: z.string().optional().describe('The id of one. Default: all in extensions/ of the root.'),
    }),
    async execute({ extension }) {
      const all = kernel.extensions();
      const waiting = new Map(heldExtensions(root).map(({ name, files }) => [name, files.length]));
      const folderOf = ({ dir }: ExtensionStatus): string => relative(root, dir).split(sep).join('/');
      const isWritten = (one: ExtensionStatus): boolean => folderOf(one).startsWith('extensions/');
      const known = new Set([...all.map(({ id }) => id), ...waiting.keys()]);
      if (extension !== undefined && !known.has(extension)) {
        const message = `There is no extension ${JSON.stringify(extension.slice(0, 80))}.`;
        return toolError('INVALID_ARGUMENT', `${message} Extensions: ${[...known].join(', ')}.`);
      }
      const written = new Set([...all.filter(isWritten).map(({ id }) => id), ...waiting.keys()]);
      const extensions = (extension === undefined ? [...written] : [extension]).map((id) => {
        const status = all.find((one) => one.id === id);
        const folder = status && isWritten(status) ? folderOf(status).slice('extensions/'.length) : id;
        const files = waiting.get(folder);
        return {
          extension: id,
          ...(status ? stateOf(status) : { state: null }),
          problems: status ? problemsOf(status, kernel.problems()) : [],
          ...(files === undefined ? {} : { waits_for_approval: { files } }),
        };
      });
      return { success: true, extensions };
    },
  });
}

// --- internal ---

function stateOf({ version, state, healthy, reason }: ExtensionStatus) {
  return { version, state, healthy, ...(reason ? { reason: shown(reason) } : {}) };
}

function problemsOf({ id, dir }: ExtensionStatus, problems: readonly Problem[]) {
  return problems
    .filter(({ file, details }) => details?.id === id || file.startsWith(`${dir}${sep}`) || file === dir)
    .map(({ code, severity, message }) => ({ code, severity, message: shown(message) }));
}

/** The message goes to a model, which must not see paths of this machine. */
function shown(message: string): string {
  return withoutPaths(new Error(message));
}
