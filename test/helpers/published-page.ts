import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { vi } from 'vitest';
import { openRoot } from './open-registry.ts';
import { type PageServer, servePage } from './page-server.ts';
import { type Tree, tempFolder } from './temp-folder.ts';

/** What is published, and where. */
export interface PublishedPage {
  /** Its skills are in `skills/`, the page in `public/`. */
  readonly root: string;
  readonly page: PageServer;
  publish(): Promise<unknown>;
}

export async function publishedPage(tree: Tree): Promise<PublishedPage> {
  const root = tempFolder(tree);
  const registry = await openRoot(root);
  const publish = () => registry.origin.publish({ to: 'public' });
  await publish();
  return { root, publish, page: await servePage(join(root, 'public')) };
}

/** Another machine reads the page. @param cache - Its cache directory. */
export async function readPage(
  url: string,
  cache: string,
  flags: Readonly<Record<string, unknown>> = {},
): Promise<SkillRegistry> {
  vi.stubEnv('XDG_CACHE_HOME', cache);
  return openRoot(tempFolder(), { config: { sources: [{ wellKnown: url, ...flags }] } });
}

/** The folder of the one copy in a cache directory. */
export function copyIn(cache: string): string {
  const pages = join(cache, 'skill-registry/pages');
  return join(pages, readdirSync(pages)[0] ?? '');
}

/** Makes the page be asked again: its last answer was an hour ago. */
export function letAnHourPass(cache: string): Date {
  // Whole seconds, as every file system keeps them.
  const then = new Date((Math.floor(Date.now() / 1000) - 3_600) * 1000);
  utimesSync(join(copyIn(cache), 'copy.json'), then, then);
  return then;
}

export function idsOf(registry: SkillRegistry): readonly string[] {
  return registry.snapshot().skills.map(({ id }) => id);
}

export function problemsOf(registry: SkillRegistry): readonly string[] {
  return registry.problems().map(({ code, severity, message }) => `${severity} ${code}: ${message}`);
}
