import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
// Loaded before a first scan, which waits ten seconds for it.
import '../../extensions/skill_registry/features/pages/fetch-copy.ts';
import { type PageServer, servePage } from './page-server.ts';
import { skillMd, type Tree, tempFolder, writeTree } from './temp-folder.ts';

/** More than are copied whole. Nothing of these can be fetched. */
export const OTHERS: readonly string[] = Array.from({ length: 201 }, (_, at) => `other-${String(at).padStart(3, '0')}`);

export interface LargePage extends PageServer {
  /** Publishes a skill, or another version of it. @param artifact - SKILL.md, or an archive. @param fields - Of its entry. */
  put(name: string, artifact: string | Buffer, fields?: Readonly<Record<string, unknown>>): void;
  drop(name: string): void;
  /** Names of the artifacts that were asked for since the last call. */
  asked(): readonly string[];
}

export const INDEX = '/.well-known/agent-skills/index.json';

/** SKILL.md of a page's skill. */
export function pageSkill(
  name: string,
  body = `MARKED ${name}.`,
  fields: Readonly<Record<string, string>> = {},
): string {
  return skillMd({ name, description: `Makes ${name}.`, ...fields }, body);
}

/** A page with these skills, each its SKILL.md, and with `OTHERS`. */
export async function largePage(
  skills: Readonly<Record<string, string | Buffer>>,
  others: readonly string[] = OTHERS,
): Promise<LargePage> {
  const folder = tempFolder();
  const page = await servePage(folder);
  const entries = new Map<string, object>();
  const write = (tree: Tree): void => {
    writeTree(folder, tree);
    const index = {
      $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
      skills: [...entries.values()],
    };
    writeFileSync(join(folder, INDEX), JSON.stringify(index));
  };
  const enter = (name: string, artifact: string | Buffer, fields: Readonly<Record<string, unknown>> = {}) => {
    const digest = `sha256:${createHash('sha256').update(artifact).digest('hex')}`;
    const type = typeof artifact === 'string' ? 'skill-md' : 'archive';
    const url = `artifacts/${name}.${digest.slice(7, 15)}`;
    entries.set(name, { name, type, description: `Makes ${name}.`, url, digest, ...fields });
    return { [`.well-known/agent-skills/${url}`]: artifact };
  };
  for (const name of others) enter(name, name);
  const trees = Object.entries(skills).map(([name, artifact]) => enter(name, artifact));
  writeTree(folder, { [INDEX.slice(1)]: '' });
  write(Object.assign({}, ...trees));
  return Object.assign(page, {
    put: (...given: Parameters<typeof enter>) => write(enter(...given)),
    drop(name: string) {
      entries.delete(name);
      write({});
    },
    asked: () => page.answers.splice(0).flatMap((answer) => /artifacts\/([a-z0-9-]+)\./.exec(answer)?.[1] ?? []),
  });
}
