import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { type PageServer, servePage } from './page-server.ts';
import { tempFolder, writeTree } from './temp-folder.ts';

export interface PolicyPage extends PageServer {
  /** Puts this policy.json beside the index. A text is written as it is. */
  say(policy: object | string): void;
}

const FILE = '.well-known/agent-skills/policy.json';

/** A page that gives a policy. Each has its own state directory of the user, as on a fresh machine. */
export async function policyPage(policy?: object | string): Promise<PolicyPage> {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('XDG_STATE_HOME', tempFolder());
  vi.stubEnv('XDG_CACHE_HOME', tempFolder());
  const folder = tempFolder();
  const say = (said: object | string): void =>
    writeTree(folder, { [FILE]: typeof said === 'string' ? said : JSON.stringify(said) });
  if (policy !== undefined) say(policy);
  return Object.assign(await servePage(folder), { say });
}

/** Makes every kept policy so much older: its page is asked again. */
export function letHoursPass(hours: number): void {
  const folder = join(process.env.XDG_STATE_HOME ?? '', 'skill-registry/policies');
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.json'))) {
    const file = join(folder, name);
    const kept = JSON.parse(readFileSync(file, 'utf8')) as { readonly at: number };
    writeFileSync(file, JSON.stringify({ ...kept, at: kept.at - hours * 3_600_000 }));
  }
}
