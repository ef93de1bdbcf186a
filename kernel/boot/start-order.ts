import { join } from 'node:path';
import { didYouMean } from '../../lib/text/index.ts';
import type { Problem } from '../contract.ts';
import type { FoundExtension } from './discover.ts';

export interface StartOrder {
  /** Dependencies first; otherwise in the order given. */
  readonly order: readonly FoundExtension[];
  readonly refused: ReadonlyMap<string, string>;
  /** EXTENSION_DEPENDENCY_MISSING, EXTENSION_DEPENDENCY_CYCLE. */
  readonly problems: readonly Problem[];
}

/** Refuses members of a cycle and extensions with a missing dependency; the rest runs. */
export function startOrder(extensions: readonly FoundExtension[]): StartOrder {
  const byId = new Map(extensions.map((extension) => [extension.manifest.id, extension]));
  const refused = new Map<string, string>();
  const problems: Problem[] = [];
  const order: FoundExtension[] = [];
  const done = new Set<string>();

  const refuse = (extension: FoundExtension, code: string, message: string, details: Record<string, unknown>): void => {
    const { id } = extension.manifest;
    if (refused.has(id)) return;
    refused.set(id, message);
    const file = join(extension.dir, 'manifest.yaml');
    problems.push({ code, severity: 'error', file, message, details: { id, ...details } });
  };
  const visit = (extension: FoundExtension, path: readonly string[]): void => {
    const { id } = extension.manifest;
    if (done.has(id)) return;
    if (path.includes(id)) {
      const cycle = [...path.slice(path.indexOf(id)), id];
      const message = `Extensions depend on each other in a circle: ${cycle.join(' -> ')}. Remove one of these from depends_on.`;
      for (const member of cycle)
        refuse(byId.get(member) as FoundExtension, 'EXTENSION_DEPENDENCY_CYCLE', message, { cycle });
      return;
    }
    for (const dependency of extension.manifest.depends_on) {
      const found = byId.get(dependency);
      if (found) visit(found, [...path, id]);
      else {
        const message = `Extension "${id}" lists "${dependency}" in depends_on, and there is no such extension. Add it or remove the line.`;
        refuse(extension, 'EXTENSION_DEPENDENCY_MISSING', message, { field: 'depends_on', dependency });
      }
    }
    if (done.has(id)) return;
    done.add(id);
    order.push(extension);
  };
  for (const extension of extensions) visit(extension, []);
  return { order, refused, problems };
}

/** EXTENSION_UNKNOWN for each id that no extension has. */
export function unknownIds(
  enable: readonly string[],
  extensions: readonly FoundExtension[],
  rootDir: string,
): readonly Problem[] {
  const known = extensions.map(({ manifest }) => manifest.id);
  return enable
    .filter((id) => !known.includes(id))
    .map((id) => {
      const message = `"${id}" was to be enabled, and no extension with a usable manifest has this id.${didYouMean(id, known)} Extensions: ${known.join(', ')}.`;
      return { code: 'EXTENSION_UNKNOWN', severity: 'error', file: rootDir, message, details: { id } };
    });
}
