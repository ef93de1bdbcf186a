import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { boot, type Kernel, type Problem } from 'skill-registry/kernel';
import { onTestFinished } from 'vitest';
import type { InternalBootOptions } from '../../../kernel/boot/kernel-state.ts';
import { packageRoot } from '../../../kernel/host.ts';
import { type Tree, tempFolder } from '../../helpers/temp-folder.ts';

/** A kernel that runs the extensions of a temporary root and none of the package's own. */
export interface BootedKernel extends Kernel {
  readonly root: string;
  /** `<extension> <message>` of every line that was logged, oldest first. */
  readonly logged: readonly string[];
}

export interface BootTreeOptions extends Partial<InternalBootOptions> {
  /** Ids of the package's own extensions that run all the same. Default: none. */
  readonly keep?: readonly string[];
}

/**
 * Boots `tree`, whose paths are relative to the root, and shuts the kernel down when the test has finished.
 *
 * Waiting is short: 200 ms for `stop` as a whole, 20 ms before a dead service starts again.
 */
export async function bootTree(tree: Tree, { keep = [], ...options }: BootTreeOptions = {}): Promise<BootedKernel> {
  const off = keep.length > 0 ? BUILT_IN.filter((id) => !keep.includes(id)) : ROOTS;
  const files = off.map((id) => [manifestFile(id), manifest(id, 'entrypoint: main:Main\nenabled: false')]);
  const root = tempFolder({ ...Object.fromEntries(files), ...tree });
  const logged: string[] = [];
  const given: InternalBootOptions = {
    root,
    onLog: ({ extensionId, message }) => logged.push(`${extensionId} ${message}`),
    ...options,
    budgets: { stop: 200, serviceRestart: 20, ...options.budgets },
  };
  const kernel = await boot(given);
  onTestFinished(() => kernel.shutdown());
  return { ...kernel, root, logged };
}

/**
 * The two files of an extension.
 *
 * @param fields - Further lines of the manifest.
 * @param members - Members of the class; they replace those of the same name, which do nothing. `this.context` is there
 *   from `initialize` on, and `z`, `CodedError`, `defineTool` are imported.
 */
export function extension(id: string, fields = '', members = ''): Tree {
  return {
    [`extensions/${id}/manifest.yaml`]: manifest(id, `entrypoint: main:Main\n${fields}`),
    [`extensions/${id}/main.js`]: entrypoint(members),
  };
}

/** An extension that is only a manifest with an `agent` block, whose lines are `agent`, indented by two spaces. */
export function agentExtension(id: string, agent = '', fields = ''): Tree {
  const block = ['integration_mode: tool', ...agent.split('\n')].map((line) => `  ${line}`);
  const lines = agent.includes('integration_mode') ? block.slice(1) : block;
  return { [`extensions/${id}/manifest.yaml`]: manifest(id, `${fields}\nagent:\n${lines.join('\n')}`) };
}

export function manifest(id: string, fields = ''): string {
  return `id: ${id}\nname: The ${id}\nversion: 1.0.0\n${fields}\n`;
}

export function entrypoint(members = ''): string {
  return `
    import { CodedError, defineTool, z } from 'skill-registry/kernel';
    export class Main {
      async initialize(context) { this.context = context; }
      async start() {}
      async stop() {}
      async destroy() {}
      healthCheck() { return true; }
      ${members}
    }`;
}

/** `id STATE` of every extension, in order of start; those of the package are left out. */
export function states(kernel: Kernel): readonly string[] {
  return kernel
    .extensions()
    .filter(({ id }) => !BUILT_IN.includes(id))
    .map(({ id, state }) => `${id} ${state}`);
}

export function reasonOf(kernel: Kernel, id: string): string | undefined {
  return kernel.extensions().find((status) => status.id === id)?.reason;
}

/** The problems of the tree: that it replaces the package's extensions is left out. */
export function problemsOf(kernel: Kernel): readonly Problem[] {
  return kernel.problems().filter(({ details }) => !BUILT_IN.includes(String(details?.id)));
}

export function codesOf(kernel: Kernel): readonly string[] {
  return problemsOf(kernel).map(({ code }) => code);
}

// --- internal ---

const manifestFile = (id: string): string => `extensions/${id}/manifest.yaml`;

/** The door of a hub is loaded by its command, and has no manifest. */
const BUILT_IN: readonly string[] = readdirSync(join(packageRoot(), 'extensions')).filter((id) =>
  existsSync(join(packageRoot(), manifestFile(id))),
);

/** The root's extension wins over the package's: with these switched off there, what depends on them is skipped. */
const ROOTS = BUILT_IN.filter((id) => {
  const text = readFileSync(join(packageRoot(), manifestFile(id)), 'utf8');
  return !text.includes('\ndepends_on:');
});
