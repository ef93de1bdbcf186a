import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { boot, type Kernel } from 'skill-registry/kernel';
import { onTestFinished } from 'vitest';
import { approveExtension, heldExtension, holdExtensionFile } from '../../kernel/host.ts';
import { type RunResult, spawnCommand } from './run-command.ts';
import { type Tree, tempFolder, writeTree } from './temp-folder.ts';

const DIE = pathToFileURL(join(import.meta.dirname, 'die-at-call.mjs')).href;

export interface WaitingCode {
  readonly root: string;
  /** Of the difference that waits. */
  readonly digest: string;
}

const file = (word: string): string => `export const word = '${word}';\n`;
const main = (word: string, imports: readonly string[]): string =>
  `${imports.map((name) => `import { word as ${name} } from './${name}.ts';`).join('\n')}
   export class Box {
     words = ['${word}', ${imports.join(', ')}];
     async initialize() {}
     async start() {}
     async stop() {}
     async destroy() {}
     healthCheck() { return true; }
   }\n`;

/**
 * An extension of which an agent has changed two files and written a third. Each file says its version when it is loaded.
 *
 * @param atLoad - Code of a file that is imported first. Default: there is none.
 */
export function waitingCode(atLoad = ''): WaitingCode {
  const root = tempFolder({
    'extensions/box/manifest.yaml': 'id: box\nname: Box\nversion: 1.0.0\ndescription: A box.\nentrypoint: main:Box\n',
    'extensions/box/main.ts': main('old', ['a']),
    'extensions/box/a.ts': file('old'),
  });
  if (atLoad !== '')
    writeTree(root, {
      'extensions/box/first.ts': atLoad,
      'extensions/box/main.ts': `import './first.ts';\n${main('old', ['a'])}`,
    });
  const written = { 'main.ts': main('new', ['a', 'c']), 'a.ts': file('new'), 'c.ts': file('new') };
  for (const [path, content] of Object.entries(written))
    holdExtensionFile(root, `box/${path}`, content, 'agent:builder');
  return { root, digest: heldExtension(root, 'box')?.digest ?? '' };
}

/** Approves it in a process that ends before one of its changes of files, by number or by the name of the file. */
export function approveAndDie({ root, digest }: WaitingCode, at: number, name?: string): Promise<RunResult> {
  const where = name === undefined ? { DIE_BELOW: root } : { DIE_NAME: name };
  return spawnCommand(['extensions', 'approve', 'box', '--digest', digest, '--root', root], {
    environment: { NODE_OPTIONS: `--import ${DIE}`, DIE_AT: String(at), ...where },
  });
}

/** The versions of the files that a start loads, each once; none when it loads nothing of the extension. */
export async function versionsLoaded(root: string, trust = true): Promise<readonly string[]> {
  const kernel: Kernel = await boot({ root, trust });
  try {
    const isRunning = kernel.extensions().some(({ id, state }) => id === 'box' && state === 'RUNNING');
    return isRunning ? [...new Set(kernel.getExtension<{ words: readonly string[] }>('box').words)] : [];
  } finally {
    await kernel.shutdown();
  }
}

/** Approves what waits when code of the root calls it. @returns What came of it. */
export function approvedByCode({ root, digest }: WaitingCode): { error?: unknown } {
  const outcome: { error?: unknown } = {};
  const approveNow = (): void => {
    try {
      approveExtension({ dir: root, trusted: true }, 'box', digest);
    } catch (error) {
      outcome.error = error;
    }
  };
  Object.assign(globalThis, { approveNow });
  onTestFinished(() => void Reflect.deleteProperty(globalThis, 'approveNow'));
  return outcome;
}

/** An extension that does something when it is loaded, and when it is initialized. */
export function extension(id: string, loaded: string, initialized = ''): Tree {
  const manifest = `id: ${id}\nname: X\nversion: 1.0.0\ndescription: An extension.\nentrypoint: main:X\n`;
  const members = ['start', 'stop', 'destroy', 'healthCheck'].map((name) => `async ${name}() {}`).join(' ');
  return {
    [`extensions/${id}/manifest.yaml`]: manifest,
    [`extensions/${id}/main.ts`]: `${loaded}\nexport class X { async initialize() { ${initialized} } ${members} }\n`,
  };
}
