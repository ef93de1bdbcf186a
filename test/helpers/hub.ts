import type { SkillRegistry } from 'skill-registry';
import { onTestFinished } from 'vitest';
import type { HubEntrance, HubGrant, HubRole } from '../../extensions/skill_hub/api.ts';
import { serveHub } from '../../extensions/skill_hub/index.ts';
import { dataFile } from '../../extensions/skill_registry/features/hub/commands/open-store.ts';
import { addToken } from '../../extensions/skill_registry/features/hub/serve/principals.ts';
import { asCoded, createService } from '../../extensions/skill_registry/features/hub/serve/service.ts';
import type { HubStore } from '../../extensions/skill_registry/features/hub/store/hub-store.ts';
import { SqliteStore } from '../../extensions/skill_registry/features/hub/store/sqlite.ts';
import { openTeamPages } from '../../extensions/skill_review/index.ts';
import { tempFolder } from './temp-folder.ts';

export interface HubAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON, where it is. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at what it expects.
  readonly json: any;
  readonly text: string;
}

export interface Hub {
  readonly url: string;
  readonly store: HubStore;
  readonly folder: string;
  readonly errors: readonly Error[];
  /** `<method> <route> <status>` of every request, oldest first. */
  readonly requests: readonly string[];
  /** @param who - `ada` is `person:ada`. Default space: `team`. */
  token(role: HubRole, who: string, space?: string): Promise<string>;
  /** @param path - Below the space of `team`, unless it begins with `/v1/` or `//`. */
  ask(token: string | undefined, method: string, path: string, body?: unknown): Promise<HubAnswer>;
  /** As one file, by an admin. */
  publish(admin: string, id: string, text: string): Promise<HubAnswer>;
  /** Of the skill as it is now. */
  digest(token: string, id: string): Promise<string>;
  /** Of a space, as its review page has it. Default: `team`. */
  registry(space?: string): Promise<SkillRegistry>;
  close(): Promise<void>;
}

export interface HubOptions {
  /** Default: SQLite in `folder`. */
  readonly store?: HubStore;
  readonly fourEyes?: boolean;
  readonly folder?: string;
  readonly entrance?: HubEntrance;
  readonly unknown?: readonly HubGrant[];
  /** Default: any free one. */
  readonly port?: number;
}

export const DEPLOY: string = skillText('deploy', 'How to deploy the shop.', ['1. Build it.', '2. Push it.']);

export function skillText(id: string, description: string, lines: readonly string[]): string {
  return `---\nname: ${id}\ndescription: ${description}\n---\n\n# ${id}\n\n${lines.join('\n')}\n`;
}

/** A hub with real HTTP on loopback. It is closed when the test has finished. */
export async function openHub(given: HubOptions = {}): Promise<Hub> {
  const folder = given.folder ?? tempFolder();
  const store = given.store ?? new SqliteStore(dataFile(folder));
  const service = createService({
    store,
    fourEyes: given.fourEyes ?? false,
    root: folder,
    unknown: given.unknown ?? [],
  });
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const requests: string[] = [];
  const opened: { close(): void }[] = [];
  const pagesOf = async (space: string) => {
    const pages = await openTeamPages({ registry: await service.registryOf(space), name: space, onError });
    opened.push(pages);
    return pages;
  };
  const serving = await serveHub({
    service,
    entrance: given.entrance,
    pagesOf,
    port: given.port ?? 0,
    asCoded,
    onError,
    onRequest: ({ method, route, status }) => void requests.push(`${method} ${route} ${status}`),
  });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    await serving.close();
    for (const pages of opened) pages.close();
    await service.close();
  };
  onTestFinished(close);
  const url = `http://127.0.0.1:${serving.port}`;
  const ask: Hub['ask'] = async (token, method, path, body) => {
    const isBytes = body instanceof Uint8Array || typeof body === 'string';
    const address = path.startsWith('//') ? path.slice(1) : path.startsWith('/v1/') ? path : `/v1/spaces/team${path}`;
    const response = await fetch(`${url}${address}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(typeof body === 'string' ? { 'content-type': 'text/markdown' } : {}),
        ...(body instanceof Uint8Array ? { 'content-type': 'application/gzip' } : {}),
      },
      ...(body === undefined ? {} : { body: isBytes ? (body as string) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
  };
  return {
    ...{ url, store, folder, errors, requests, ask, close },
    async token(role, who, space = 'team') {
      return (await addToken(store, { space, role, person: `person:${who}`, by: 'person:root' })).secret;
    },
    registry: (space = 'team') => service.registryOf(space),
    publish: (admin, id, text) => ask(admin, 'PUT', `/skills/${id}`, text),
    async digest(token, id) {
      const { json } = await ask(token, 'GET', '/changes');
      return json.changes.find((one: { id: string }) => one.id === id).entry.digest;
    },
  };
}

let sent = 0;

/** An id as a machine chooses one. */
export function sentId(): string {
  sent += 1;
  return `test-machine-${String(sent).padStart(8, '0')}`;
}

/** A change of `DEPLOY` as a machine sends it. @param base - Digest of the artifact. */
export function sentChange(base: string): Readonly<Record<string, string>> {
  const change = { old_string: '1. Build it.', new_string: '1. Make it.', justification: 'Why.' };
  return { id: sentId(), skill_id: 'deploy', base, ...change };
}
