import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Extension } from '../contract.ts';
import { describeError } from '../errors.ts';
import { approvalsStamp } from '../held/half-approved.ts';
import { whileNobodyApproves } from '../held/held-lock.ts';
import type { FoundExtension } from './discover.ts';
import { CODE_ENDINGS } from './extension-folders.ts';
import { provides } from './extension-record.ts';

const MAX_NAMES = 5;

/**
 * Imports nothing of a root during or after an approval that the read manifests do not include: two versions would mix.
 * @param stamp - `approvalsStamp` before the manifests were read. @param maxMs - As of `whileNobodyApproves`.
 * @throws Error with a message for a person; WRITE_FAILED.
 */
export async function loadApproved(
  found: FoundExtension,
  rootDir: string,
  stamp: string,
  maxMs: number,
): Promise<Extension> {
  if (found.origin === 'package') return loadEntrypoint(found);
  const assertSame = (): void => {
    if (approvalsStamp(rootDir) === stamp) return;
    const why = 'code of this root was approved while it started, so it may be of two versions. Start again';
    throw new Error(why);
  };
  return whileNobodyApproves(rootDir, maxMs, async () => {
    assertSame();
    const loaded = await loadEntrypoint(found);
    // Without the lock, another process may have approved in the meantime.
    assertSame();
    return loaded;
  });
}

/**
 * jiti compiles code of a root: TypeScript needs no build, each load reads the files again, and `skill-registry/kernel`
 * is this kernel even when not installed there. @throws Error with a message for a person.
 */
async function loadEntrypoint({ manifest, dir, origin }: FoundExtension): Promise<Extension> {
  const { file, fileName, className } = entrypointFile({ manifest, dir });
  const module = await importModule(file, origin).catch((error: unknown) => {
    throw new Error(`${fileName} could not be imported: ${importFailure(describeError(error))}`, {
      cause: error,
    });
  });
  const exported = module[className];
  if (typeof exported !== 'function') {
    const names = Object.keys(module).join(', ') || 'nothing';
    throw new Error(
      `${fileName} exports no class "${className}" (it exports ${names}). Write "export class ${className}", or name another class in entrypoint`,
    );
  }
  if (!('prototype' in exported)) throw new Error(`${className} is a function, and a class is expected`);
  let object: unknown;
  try {
    object = new (exported as new () => unknown)();
  } catch (error) {
    throw new Error(`new ${className}() failed: ${describeError(error)}`, { cause: error });
  }
  const missing = LIFECYCLE.filter((member) => !provides<Extension>(object, member));
  if (missing.length > 0) throw new Error(`${className} lacks methods: ${missing.join(', ')}`);
  return object as Extension;
}

/** Runs no code of it. Undefined: no reason found. */
export async function whyNotLoadable(found: FoundExtension): Promise<string | undefined> {
  if (found.manifest.entrypoint === undefined || found.origin === 'package') return undefined;
  try {
    const { file, fileName, className } = entrypointFile(found);
    const source = readFileSync(file, 'utf8');
    const { createJiti } = await import('jiti');
    const compiled = createJiti(file, { fsCache: false }).transform({ source, filename: file, ts: true, async: true });
    const [, error] = /^exports\.__JITI_ERROR__ = (.*)$/s.exec(compiled) ?? [];
    if (error !== undefined) {
      const { line, message } = JSON.parse(error) as { readonly line: number; readonly message: string };
      return `${fileName} could not be imported: line ${line}: ${message.trim()}`;
    }
    if (source.includes(className) || /export\s*\*/.test(source)) return undefined;
    return `${fileName} exports no class "${className}". Write "export class ${className}", or name another class in entrypoint`;
  } catch (error) {
    return describeError(error);
  }
}

// --- internal ---

const LIFECYCLE = ['initialize', 'start', 'stop', 'destroy', 'healthCheck'] as const;

function entrypointFile({ manifest: { entrypoint = '' }, dir }: Pick<FoundExtension, 'manifest' | 'dir'>): {
  readonly file: string;
  readonly fileName: string;
  readonly className: string;
} {
  const [fileName, className] = entrypoint.split(':') as [string, string];
  const file = CODE_ENDINGS.map((ending) => join(dir, fileName + ending)).find(existsSync);
  if (file) return { file, fileName, className };
  const others = readdirSync(dir).filter((name) => CODE_ENDINGS.some((ending) => name.endsWith(ending)));
  const there = others.length === 0 ? '' : `; there is ${others.slice(0, MAX_NAMES).join(', ')}`;
  throw new Error(`entrypoint ${entrypoint}: there is no ${fileName}.ts or ${fileName}.js${there}`);
}

/** On one line, without the stack of a missing module. */
function importFailure(text: string): string {
  const line = text
    .replace(/\s*Require stack:.*$/s, '')
    .trim()
    .replace(/\s*\n\s*/g, ' ');
  const [, missing] = /^Cannot find (?:module|package) '([^'./][^']*)'/.exec(line) ?? [];
  return missing === undefined || missing.startsWith('node:')
    ? line
    : `${line}. Install it in the root: npm install ${missing}`;
}

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
    // Not `jiti.import`: it lets Node import JavaScript, and Node reads a file only once.
    return jiti(file);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('await is only valid')) return jiti.import(file);
    throw error;
  }
}
