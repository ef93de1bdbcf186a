import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { onTestFinished, vi } from 'vitest';
import { HUB_TOKEN, type ScriptedHub } from './scripted-hub.ts';
import { tempFolder } from './temp-folder.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: what a config has
export const TOKEN = '${HUB_TOKEN}';

export interface HubMachine {
  readonly root: string;
  readonly cache: string;
  readonly registry: SkillRegistry;
}

/** A machine that has this hub as its source; closed when the test has finished. */
export async function hubMachine(
  { url }: Pick<ScriptedHub, 'url'>,
  given: {
    readonly entry?: Readonly<Record<string, unknown>>;
    readonly config?: Readonly<Record<string, unknown>>;
    readonly root?: string;
    readonly cache?: string;
    readonly watches?: boolean;
    /** Whether somebody has approved its root. Default: true. */
    readonly trust?: boolean;
    /** The machine's token. */
    readonly secret?: string;
  } = {},
): Promise<HubMachine> {
  const {
    root = tempFolder(),
    cache = tempFolder(),
    entry = {},
    config = {},
    watches = false,
    trust = true,
    secret = HUB_TOKEN,
  } = given;
  vi.stubEnv('XDG_CACHE_HOME', cache);
  onTestFinished(() => void vi.unstubAllEnvs());
  const source = { hub: url, token: TOKEN, ...entry };
  const registry = await createSkillRegistry({
    root,
    trust,
    getSecret: (name) => (name === 'HUB_TOKEN' ? secret : undefined),
    config: { sources: [source], ...config } as object,
  });
  const ended = new AbortController();
  const watching = watches ? registry.watch(ended.signal) : Promise.resolve();
  onTestFinished(async () => {
    ended.abort();
    await watching;
    await registry.close();
  });
  return { root, cache, registry };
}
