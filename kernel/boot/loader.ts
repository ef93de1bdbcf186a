import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Extension } from '../contract.ts';
import { describeError } from '../errors.ts';
import type { FoundExtension } from './discover.ts';
import { missingMembers } from './extension-record.ts';

/** Why an entrypoint could not be made into an object; `message` is for the person. */
export class EntrypointError extends Error {
  override readonly name = 'EntrypointError';
}

const ENDINGS = ['.ts', '.mts', '.js', '.mjs'];

/**
 * Imports the class named by `entrypoint` and makes one object of it.
 *
 * The package's own extensions are imported by Node. Those of a root are compiled by jiti: TypeScript needs no build, each
 * load reads the files anew, and `skill-registry/kernel` is this very kernel even where the package is not installed.
 *
 * @throws EntrypointError, always: no file, an import that throws, no such export, no class, a constructor that throws, an
 *   object that lacks a member of the contract.
 */
export async function loadEntrypoint({ manifest, dir, origin }: FoundExtension): Promise<Extension> {
  const [fileName, className] = (manifest.entrypoint ?? '').split(':') as [string, string];
  const file = ENDINGS.map((ending) => join(dir, fileName + ending)).find(existsSync);
  if (!file)
    throw new EntrypointError(`entrypoint ${manifest.entrypoint}: there is no ${fileName}.ts or ${fileName}.js`);
  const module = await importModule(file, origin).catch((error: unknown) => {
    throw new EntrypointError(`${fileName} could not be imported: ${describeError(error)}`, { cause: error });
  });
  const exported = module[className];
  if (typeof exported !== 'function') {
    const names = Object.keys(module).join(', ') || 'nothing';
    throw new EntrypointError(`${fileName} exports no class "${className}" (it exports ${names})`);
  }
  let object: unknown;
  try {
    object = new (exported as new () => unknown)();
  } catch (error) {
    throw new EntrypointError(`new ${className}() failed: ${describeError(error)}`, { cause: error });
  }
  const missing = missingMembers(object);
  if (missing.length > 0) throw new EntrypointError(`${className} lacks the method(s) ${missing.join(', ')}`);
  return object as Extension;
}

// --- internal ---

async function importModule(file: string, origin: FoundExtension['origin']): Promise<Record<string, unknown>> {
  if (origin === 'package') return import(pathToFileURL(file).href);
  const [{ createJiti }, kernel] = await Promise.all([import('jiti'), import('skill-registry/kernel')]);
  const jiti = createJiti(pathToFileURL(file).href, {
    moduleCache: false,
    fsCache: false,
    virtualModules: { 'skill-registry/kernel': kernel },
  });
  if (!file.endsWith('js')) return jiti.import(file);
  try {
    // Not `import`: that leaves JavaScript modules to Node, which reads a file once and never again.
    return jiti(file);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('await is only valid')) return jiti.import(file);
    throw error;
  }
}
